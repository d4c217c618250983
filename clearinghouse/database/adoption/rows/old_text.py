"""Owns: plain words of an old result, enough to find it until its first crawl. Pure. Called by: adoption.results."""

import re

from selectolax.lexbor import LexborHTMLParser

_MARKUP = re.compile(r"^\.?(x?html?|shtml|aspx?|php|jsp|xml)$", re.IGNORECASE)
_PLAIN = re.compile(r"^\.?(txt|csv)$", re.IGNORECASE)
_LONGEST = 1_000_000


def text_of(body: bytes | None, extension: str) -> str:
    """Words of a page of markup or plain text; "" for everything else: it is read at its next crawl."""
    if not body:
        return ""
    if _PLAIN.match(extension):
        return _squeezed(_decoded(body))
    if _MARKUP.match(extension) or body.lstrip()[:1] == b"<":
        tree = LexborHTMLParser(_decoded(body))
        tree.strip_tags(["script", "style", "noscript", "template"])
        return _squeezed(tree.body.text(separator=" ") if tree.body else "")
    return ""


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\0", "")).strip()[:_LONGEST]
