"""What kind of page an answer is: by its Content-Type, its first bytes and the ending of its address. Pure.

What the server says counts, except where servers are known to be wrong: no type, octet-stream, plain text, zip.
"""

import re
import zlib
from functools import lru_cache

from clearinghouse.addresses import Refusal
from clearinghouse.published import types

from .charsets.charset_labels import encoding_of
from .mime_type import MimeType, content_type

_BY_TYPE = {
    "text/html": types.HTML,
    "application/xhtml+xml": types.XHTML,
    "application/pdf": types.PDF,
    "application/x-pdf": types.PDF,
    "text/pdf": types.PDF,
    "application/rtf": types.RTF,
    "application/x-rtf": types.RTF,
    "text/rtf": types.RTF,
    "text/richtext": types.RTF,
    "text/plain": types.TEXT,
    "text/markdown": types.TEXT,
    "text/csv": types.CSV,
    "application/csv": types.CSV,
    "text/comma-separated-values": types.CSV,
    "text/tab-separated-values": types.CSV,
    "text/xml": types.XML,
    "application/xml": types.XML,
    "application/x-xml": types.XML,
    "application/rss": types.XML,
    "application/atom": types.XML,
    "application/rdf": types.XML,
    "text/rss": types.XML,
    "text/atom": types.XML,
    "text/rdf": types.XML,
}
# Documents, templates and shows; those with macros, too.
_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_BY_TYPE |= {
    _OPEN_XML + "wordprocessingml.document": types.DOCX, _OPEN_XML + "wordprocessingml.template": types.DOCX,
    _OPEN_XML + "spreadsheetml.sheet": types.XLSX, _OPEN_XML + "spreadsheetml.template": types.XLSX,
    _OPEN_XML + "presentationml.presentation": types.PPTX, _OPEN_XML + "presentationml.slideshow": types.PPTX,
    _OPEN_XML + "presentationml.template": types.PPTX,
    "application/vnd.ms-word.document.macroenabled.12": types.DOCX,
    "application/vnd.ms-word.template.macroenabled.12": types.DOCX,
    "application/vnd.ms-excel.sheet.macroenabled.12": types.XLSX,
    "application/vnd.ms-excel.template.macroenabled.12": types.XLSX,
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": types.PPTX,
    "application/vnd.ms-powerpoint.slideshow.macroenabled.12": types.PPTX,
    "application/vnd.ms-powerpoint.template.macroenabled.12": types.PPTX,
    _OPEN_DOCUMENT + "text": types.ODT, _OPEN_DOCUMENT + "text-template": types.ODT,
    _OPEN_DOCUMENT + "text-master": types.ODT, _OPEN_DOCUMENT + "spreadsheet": types.ODS,
    _OPEN_DOCUMENT + "spreadsheet-template": types.ODS, _OPEN_DOCUMENT + "presentation": types.ODP,
    _OPEN_DOCUMENT + "presentation-template": types.ODP,
}  # fmt: skip
_BY_ENDING = {
    "htm": types.HTML, "html": types.HTML, "xhtml": types.XHTML, "xht": types.XHTML, "pdf": types.PDF,
    "docx": types.DOCX, "docm": types.DOCX, "dotx": types.DOCX, "dotm": types.DOCX, "xlsx": types.XLSX,
    "xlsm": types.XLSX, "xltx": types.XLSX, "xltm": types.XLSX, "pptx": types.PPTX, "pptm": types.PPTX,
    "ppsx": types.PPTX, "ppsm": types.PPTX, "potx": types.PPTX, "potm": types.PPTX, "odt": types.ODT,
    "ott": types.ODT, "ods": types.ODS, "ots": types.ODS, "odp": types.ODP, "otp": types.ODP, "rtf": types.RTF,
    "txt": types.TEXT, "text": types.TEXT, "md": types.TEXT, "csv": types.CSV, "tsv": types.CSV,
    "xml": types.XML, "rss": types.XML, "atom": types.XML, "rdf": types.XML,
}  # fmt: skip
_OFFICE = {types.DOCX, types.XLSX, types.PPTX, types.ODT, types.ODS, types.ODP}
_UNSURE = {
    "", "application/octet-stream", "binary/octet-stream", "application/x-download", "application/force-download",
    "application/download", "application/unknown", "unknown/unknown", "text/plain", "application/zip",
    "application/x-zip-compressed", "application/msword", "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
}  # fmt: skip
_IMAGE_XML = "image/svg+xml"
_GZIP_TYPES = {
    "application/gzip", "application/x-gzip", "application/gzipped", "application/x-gunzip",
    "application/gzip-compressed", "gzip/document",
}  # fmt: skip
GZIP_MAGIC = b"\x1f\x8b"
_PACKED_LOOKED_AT = 16_000  # bytes, of which as much as SNIFFED is unpacked
_PACKED_UNSURE = 512  # bytes that may be too few for anything to come out
_WHITE = re.compile(rb"\s*")
_FEED = re.compile(rb"<(?:[\w.\-]+:)?(?:urlset|sitemapindex|rss|feed|RDF)[\s>]")
# Stripped and in lower case; a tag counts when a space or ">" follows (WHATWG MIME Sniffing, section 7.1).
_HTML_BEGINNINGS = tuple(
    f"<{name}".encode()
    for name in (
        "!doctype html", "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title",
        "b", "body", "br", "p",
    )
)  # fmt: skip
_BINARY_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_WIDE = ("utf-16le", "utf-16be")  # encodings
_TAG_ENDS = (b" ", b">", b"\n", b"\t", b"\r")
SNIFFED = 1445  # bytes looked at, as in the standard


def decide(headers: list[tuple[str, str]], path: str, beginning: bytes) -> int | Refusal:
    """The page type of an answer, or why it is not stored. `beginning` is what is known of the body so far."""
    values = tuple(value for name, value in headers if name == "content-type")
    declared = _declared(values)
    essence = declared.essence if declared else ""
    known = _BY_TYPE.get(essence)
    if known is not None and known != types.TEXT:
        return _instead_of_html(beginning) if known == types.HTML else known
    if is_packed_xml(essence, path, beginning):
        return types.XML
    if essence not in _UNSURE:
        if essence.endswith("+xml") and essence != _IMAGE_XML:
            return types.XML
        return Refusal("type_not_allowed", essence)
    wide = declared is not None and encoding_of(declared.parameters.get("charset", "")) in _WIDE
    return _sniffed(essence, path, beginning[:SNIFFED], wide)


def _instead_of_html(beginning: bytes) -> int:
    """What servers call HTML for want of a better word (feeds: WHATWG MIME Sniffing, section 7.3)."""
    if beginning.startswith(b"%PDF-"):
        return types.PDF
    return types.XML if _begins_feed(beginning) else types.HTML


def is_packed_xml(essence: str, path: str, beginning: bytes) -> bool:
    """A sitemap.xml.gz or sitemap.gz: the one packed file that holds links. Its name will do where it says XML, else
    what is inside counts."""
    if essence not in _GZIP_TYPES | _UNSURE:
        return False
    name, packed = path.lower(), beginning.startswith(GZIP_MAGIC)
    if name.endswith(".xml.gz"):
        return packed or beginning.lstrip()[:1] in (b"", b"<")
    if packed and not (inside := _inside(beginning)):
        return name.endswith(".gz") and len(beginning) < _PACKED_UNSURE
    return (packed or name.endswith(".gz")) and _begins_feed(inside if packed else beginning)


def _inside(beginning: bytes) -> bytes:
    """What a gzip file begins with."""
    try:
        return zlib.decompressobj(wbits=31).decompress(beginning[:_PACKED_LOOKED_AT], SNIFFED)
    except zlib.error:
        return b""


def _begins_feed(text: bytes) -> bool:
    """A sitemap or a feed, by its root element."""
    text = text[:SNIFFED].removeprefix(b"\xef\xbb\xbf")
    return _FEED.match(text, root_at(text)) is not None


def root_at(data: bytes) -> int:
    """Where the root element begins, or a DOCTYPE. (One regular expression for this takes 100 bytes for each byte.)"""
    position = 0
    while (white := _WHITE.match(data, position)) is not None:
        position = white.end()
        ending = b"?>" if data.startswith(b"<?", position) else b"-->"
        if ending == b"-->" and not data.startswith(b"<!--", position):
            break
        end = data.find(ending, position + 2 if ending == b"?>" else position + 4)
        if end < 0:
            break
        position = end + len(ending)
    return position


def charset_of(headers: list[tuple[str, str]]) -> str:
    """The charset the Content-Type headers name, or nothing."""
    declared = _declared(tuple(value for name, value in headers if name == "content-type"))
    return declared.parameters.get("charset", "") if declared else ""


@lru_cache(maxsize=512)
def _declared(values: tuple[str, ...]) -> MimeType | None:
    return content_type(values)


def _sniffed(essence: str, path: str, beginning: bytes, wide: bool) -> int | Refusal:
    """The type found where the server's word is worth little. Wide characters look like binary bytes."""
    ending = path.rpartition("/")[2].rpartition(".")[2].lower()
    by_ending = _BY_ENDING.get(ending)
    if beginning.startswith(b"%PDF-"):
        return types.PDF
    if beginning.startswith(b"{\\rtf"):
        return types.RTF
    if beginning.startswith(b"PK\x03\x04"):
        office = by_ending if by_ending in _OFFICE else _office_inside(beginning)
        return office or Refusal("type_not_allowed", essence or "application/zip")
    if not wide and is_binary(beginning):
        return Refusal("type_not_allowed", essence or "application/octet-stream")
    if essence == "text/plain":
        return types.CSV if by_ending == types.CSV else types.TEXT
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip(b"\t\n\x0c\r ").lower()
    if looks_like_html(text):
        return types.HTML
    if text.startswith(b"<?xml"):
        return by_ending if by_ending in (types.XHTML, types.HTML) else types.XML
    return by_ending if by_ending is not None and by_ending not in _OFFICE | {types.PDF} else types.TEXT


def looks_like_html(text: bytes) -> bool:
    """Does the text (no leading white space, lower case) begin as HTML does?"""
    if text.startswith(b"<!--"):
        return True
    for beginning in _HTML_BEGINNINGS:
        if text.startswith(beginning) and text[len(beginning) : len(beginning) + 1] in (
            b" ",
            b">",
            b"\n",
            b"\t",
            b"\r",
        ):
            return True
    return False


def is_binary(beginning: bytes) -> bool:
    """Bytes no text has; UTF-16 with its mark is text."""
    if beginning.startswith((b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")):
        return False
    return len(beginning.translate(None, _BINARY_BYTES)) != len(beginning)


def _office_inside(beginning: bytes) -> int | None:
    """The kind of office document a zip begins as, when the server and the address say only zip."""
    for mark, kind in (
        (b"mimetypeapplication/vnd.oasis.opendocument.text", types.ODT),
        (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", types.ODS),
        (b"mimetypeapplication/vnd.oasis.opendocument.presentation", types.ODP),
        (b"word/", types.DOCX),
        (b"xl/", types.XLSX),
        (b"ppt/", types.PPTX),
    ):
        if mark in beginning:
            return kind
    return None
