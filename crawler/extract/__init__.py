"""Owns: how to read bytes: what type a page is, its title, meta tags, headings, text and links (see page).

Does not: fetch, decide what is crawled, or store. Called by: the parser process, the preview; who needs only stored
links loads no parser.
"""

from .packed_links import pack_links, packed_addresses, unpack_links

__all__ = ["EXTRACTOR", "pack_links", "packed_addresses", "unpack_links"]

EXTRACTOR = 3  # raised when reading the same bytes would give something else: older pages are then read again
