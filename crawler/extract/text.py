"""Text: one spelling of white space, nothing a database cannot hold; plain text and CSV."""

import re

from crawler.values import Extracted

from . import charset

TEXT_AT_MOST = 5_000_000  # characters of a page's text that are kept
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Without NUL and lone surrogates, which no database takes."""
    if text.isascii():
        return text.replace("\0", "") if "\0" in text else text
    return _UNSTORABLE.sub("", text)


def squeezed(text: str) -> str:
    """Words with one space between them."""
    return storable(" ".join(text.split()))


def keep_text(text: str, page: Extracted) -> None:
    """Store a page's text, cut when it is endless."""
    if len(text) > TEXT_AT_MOST:
        page.flags.append("text_cut")
    page.text = text[:TEXT_AT_MOST]


def read_text(body: bytes, declared_charset: str, page: Extracted) -> Extracted:
    """Plain text, CSV: all of it is text, and nothing in it is a link."""
    data, page.charset = charset.as_utf8(body, declared_charset)
    keep_text(squeezed(data.decode()), page)
    return page
