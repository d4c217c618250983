"""Owns: the crawl point dialog: its form, repairs, what the start page says after a save, two people at one point.

Called by: the URL configuration.
"""
