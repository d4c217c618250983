"""Owns: the screens of propagation: targets, preview, step board, roll back."""
