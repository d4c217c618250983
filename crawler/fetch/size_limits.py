"""How much of an answer is read, decided when its headers (and its first bytes) are known. Pure."""

from typing import NamedTuple

from clearinghouse.addresses import Refusal
from clearinghouse.published import types
from crawler.values import Request

from ..extract import page_kind

MEGABYTE = 1_000_000
TEXT_AT_MOST = 10 * MEGABYTE  # beyond it the text is cut, and the cut is flagged
DOCUMENT_AT_MOST = 50 * MEGABYTE  # beyond it a document is useless, and refused
UNUSED_AT_MOST = 64_000  # bodies nobody reads (redirects, errors): read so that the connection can be kept

DOCUMENTS = frozenset({types.PDF, types.DOCX, types.XLSX, types.PPTX, types.ODT, types.ODS, types.ODP})


class SizeLimit(NamedTuple):
    size: int
    reason: str = ""  # of going beyond: empty = cut and keep the beginning
    detail: str = ""
    keep: bool = True  # False: the body is of no use, only its end matters


UNUSED = SizeLimit(UNUSED_AT_MOST, keep=False)
_TEXT = SizeLimit(TEXT_AT_MOST)
_DOCUMENT = SizeLimit(DOCUMENT_AT_MOST, "too_large", f"{DOCUMENT_AT_MOST // MEGABYTE} MB")


def limit_of(status: int, headers: list[tuple[str, str]], request: Request, beginning: bytes) -> SizeLimit:
    """How much of this body to read. A size of 0 means: none, the headers have said enough."""
    if not 200 <= status < 300:
        return UNUSED
    path = request.address.path
    if path == "/robots.txt" or request.is_robots:
        return _TEXT  # whatever type it claims to be
    found = page_kind.decide(headers, path, beginning)
    if isinstance(found, Refusal):
        return SizeLimit(0, found.reason, found.detail)
    return _DOCUMENT if found in DOCUMENTS else _TEXT
