"""Owns: what all pages share: middleware, the frame of every page, formats, errors, downloads as CSV, Django's admin.

Does not: know a screen but by its name. Called by: every package that has screens.
"""
