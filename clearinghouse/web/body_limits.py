"""Owns: how large a request may be, for whoever reads one: the front, the web processes, the pages.

Nothing but Python's own library is loaded.
"""

import re

MOST_BYTES = 8_000_000  # of a request: a file of 2 MB and its form; nobody else sends that much
# A CSV of 100,000 crawl points; who is not signed in is sent away before any of it is stored.
MOST_OF_AN_IMPORT = 21_000_000
_IMPORTS = re.compile(r"(/api/v1)?/documents/[0-9]+/crawl-points/import/")


def most_bytes(path: str) -> int:
    return MOST_OF_AN_IMPORT if _IMPORTS.fullmatch(path) else MOST_BYTES


def sentence(most: int) -> str:
    return f"This is more than {most // 1_000_000} MB. Send less at once."
