"""Owns: the run page, its live numbers, commands and downloads. Called by: the URL configuration."""
