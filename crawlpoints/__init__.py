"""Owns: crawl points and exclude URLs: what they are, whether they may be saved, every change to them, their screens.

Does not: crawl, or know runs (only its screens look at those). Called by: the crawler, the admin, commands, the demo.
"""
