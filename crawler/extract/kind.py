"""What kind of page an answer is: by its Content-Type, its first bytes and the ending of its address. Pure.

What the server says counts, except where servers are known to be wrong: no type, octet-stream, plain text, zip.
"""

from functools import lru_cache

from clearinghouse.addresses import Refusal
from clearinghouse.published import types

from .mime import MimeType, content_type

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
_GZIP_TYPES = {"application/gzip", "application/x-gzip", "application/gzipped", "application/x-gunzip"}
GZIP_MAGIC = b"\x1f\x8b"
# Stripped and in lower case; a tag counts when a space or ">" follows (WHATWG MIME Sniffing, section 7.1).
_HTML_BEGINNINGS = tuple(
    f"<{name}".encode()
    for name in (
        "!doctype html", "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title",
        "b", "body", "br", "p",
    )
)  # fmt: skip
_BINARY_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_TAG_ENDS = (b" ", b">", b"\n", b"\t", b"\r")
SNIFFED = 1445  # bytes looked at, as in the standard


def decide(headers: list[tuple[str, str]], path: str, beginning: bytes) -> int | Refusal:
    """The page type of an answer, or why it is not stored. `beginning` is what is known of the body so far."""
    values = tuple(value for name, value in headers if name == "content-type")
    declared = _declared(values)
    essence = declared.essence if declared else ""
    known = _BY_TYPE.get(essence)
    if known is not None and known != types.TEXT:
        return types.PDF if known == types.HTML and beginning.startswith(b"%PDF-") else known
    if is_packed_xml(essence, path, beginning):
        return types.XML
    if essence not in _UNSURE:
        if essence.endswith("+xml") and essence != _IMAGE_XML:
            return types.XML
        return Refusal("type_not_allowed", essence)
    return _sniffed(essence, path, beginning[:SNIFFED])


def is_packed_xml(essence: str, path: str, beginning: bytes) -> bool:
    """A sitemap.xml.gz: the one packed file that holds links. Without its bytes, its name and type must do."""
    if not path.lower().endswith(".xml.gz") or essence not in _GZIP_TYPES | _UNSURE:
        return False
    return beginning.startswith(GZIP_MAGIC) or beginning.lstrip()[:1] in (b"", b"<")


def charset_of(headers: list[tuple[str, str]]) -> str:
    """The charset the Content-Type headers name, or nothing."""
    declared = _declared(tuple(value for name, value in headers if name == "content-type"))
    return declared.parameters.get("charset", "") if declared else ""


@lru_cache(maxsize=512)
def _declared(values: tuple[str, ...]) -> MimeType | None:
    return content_type(values)


def _sniffed(essence: str, path: str, beginning: bytes) -> int | Refusal:
    """The type found where the server's word is worth little."""
    ending = path.rpartition("/")[2].rpartition(".")[2].lower()
    by_ending = _BY_ENDING.get(ending)
    if beginning.startswith(b"%PDF-"):
        return types.PDF
    if beginning.startswith(b"{\\rtf"):
        return types.RTF
    if beginning.startswith(b"PK\x03\x04"):
        office = by_ending if by_ending in _OFFICE else _office_inside(beginning)
        return office or Refusal("type_not_allowed", essence or "application/zip")
    if is_binary(beginning):
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
