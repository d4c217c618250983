"""Owns: XML: feeds and sitemaps with their links, other XML with its text; also when it is broken. Pure."""
