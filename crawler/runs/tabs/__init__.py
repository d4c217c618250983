"""Owns: the tabs of a run, one module each. Called by: the URL configuration."""
