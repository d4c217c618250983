"""Owns: in which charset a page is written: declared, marked or guessed. Pure."""
