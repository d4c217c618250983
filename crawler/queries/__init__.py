"""Owns: what is read from the WebCrawl database for screens and commands. Does not: change a row, or know a request.

Called by: crawler/screens, the commands. Every count comes from counters kept on the excursion, every list from
an index; `docs` is the set of documents a person may see, None meaning all.
"""
