"""Owns: the Document Navigator, the crawl point panel and dialog, exclude URLs, the tester: forms, tables, views.

Does not: change a row itself (services), decide who may (policies). Called by: the URL configuration only.
"""
