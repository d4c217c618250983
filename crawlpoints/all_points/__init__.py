"""Owns: the crawl points of many documents as one list to filter, change together and export."""
