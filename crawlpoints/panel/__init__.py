"""Owns: the crawl point panel of a document: the table, its commands, exclude URLs and what they keep out."""
