"""Owns: the pages about one address: what was stored, why it was crawled or not, why it is not in search."""
