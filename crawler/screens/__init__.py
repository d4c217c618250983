"""Owns: the pages about runs: In Tray, Crawls, launch form, run page with its tabs and live numbers, help.

Does not: decide who may (policies), read tables directly (crawler/queries), or change a run (intake, control).
Called by: the URL configuration only.
"""
