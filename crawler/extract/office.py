"""Office documents: the text of DOCX, XLSX, PPTX, ODT and RTF. Runs in the bounded child (see worker).

Limits count the bytes that come out, never what a zip says about itself: overlapping entries lie.
"""

import io
import re
import zipfile
from collections.abc import Iterator

from lxml import etree

from clearinghouse.published import types

PRODUCED_AT_MOST = 100_000_000  # bytes unpacked from one document
_CHUNK = 65_536
_PARTS = {
    types.DOCX: re.compile(r"word/(document|footnotes|endnotes|header\d*|footer\d*)\.xml"),
    types.XLSX: re.compile(r"xl/(sharedStrings|worksheets/sheet\d+)\.xml"),
    types.PPTX: re.compile(r"ppt/(slides/slide|notesSlides/notesSlide)\d+\.xml"),
    types.ODT: re.compile(r"content\.xml"),
}
_PROPERTIES = {"docProps/core.xml", "meta.xml"}
_BLOCKS = frozenset({"p", "h", "tab", "br", "tr", "row", "si", "c", "cr", "s", "line-break", "table-cell"})
_NUMBER = re.compile(r"\d+")


class TooMuch(Exception):
    """The document unpacks to more than a document may."""


def read_zip(type_id: int, data: bytes) -> tuple[str, str]:
    """Title and text of a zipped office document."""
    left = [PRODUCED_AT_MOST]
    title = ""
    pieces: list[str] = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = sorted(archive.namelist()[:10_000], key=_in_order)
        for name in names:
            if name in _PROPERTIES:
                title = title or _title(_unpacked(archive, name, left))
            elif _PARTS[type_id].fullmatch(name):
                pieces.extend(_words(_unpacked(archive, name, left)))
    return title, "".join(pieces)


def _in_order(name: str) -> tuple[str, int]:
    number = _NUMBER.search(name)
    return (_NUMBER.sub("", name), int(number[0][:9]) if number else 0)


def _unpacked(archive: zipfile.ZipFile, name: str, left: list[int]) -> bytes:
    produced: list[bytes] = []
    with archive.open(name) as part:
        while chunk := part.read(_CHUNK):
            left[0] -= len(chunk)
            if left[0] < 0:
                raise TooMuch
            produced.append(chunk)
    return b"".join(produced)


def _root(data: bytes) -> etree._Element | None:
    if b"<!DOCTYPE" in data[:4096]:
        return None
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, recover=True, huge_tree=True)
    root = etree.fromstring(data, parser)
    return root if isinstance(root, etree._Element) else None


def _words(data: bytes) -> Iterator[str]:
    """The text of a part; the ends of paragraphs and cells keep words apart."""
    root = _root(data)
    if root is None:
        return
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            if element.text:
                yield element.text
        else:
            if isinstance(element.tag, str) and etree.QName(element).localname in _BLOCKS:
                yield " "
            if element.tail:
                yield element.tail


def _title(data: bytes) -> str:
    root = _root(data)
    if root is None:
        return ""
    found = next(root.iter("{http://purl.org/dc/elements/1.1/}title"), None)
    return "".join(str(piece) for piece in found.itertext()) if found is not None else ""


_RTF_TOKEN = re.compile(
    r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)"
)
_RTF_HIDDEN = frozenset({
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "themedata", "datastore", "listtable",
    "listoverridetable", "rsidtbl", "generator", "filetbl", "revtbl", "xmlnstbl", "latentstyles", "fldinst",
})  # fmt: skip
_RTF_BREAKS = frozenset({"par", "line", "tab", "cell", "row", "page", "sect"})


def read_rtf(data: bytes) -> str:
    """The words of an RTF document: control words, tables of fonts and pictures left out."""
    pieces: list[str] = []
    hidden = [False]
    skip = 0  # characters that stand in for the Unicode one before them
    for match in _RTF_TOKEN.finditer(data.decode("cp1252", "replace")):
        word, number, byte, symbol, brace, plain = match.groups()
        if brace == "{":
            hidden.append(hidden[-1])
        elif brace == "}":
            if len(hidden) > 1:
                hidden.pop()
        elif symbol == "*" or word in _RTF_HIDDEN:
            hidden[-1] = True
        elif hidden[-1]:
            continue
        elif word == "u" and number:
            pieces.append(chr(int(number) % 65_536))
            skip = 1
        elif word in _RTF_BREAKS or symbol == "~":
            pieces.append(" ")
        else:
            text = bytes([int(byte, 16)]).decode("cp1252", "replace") if byte else plain or _symbol(symbol)
            pieces.append(text[skip:])
            skip = 0 if text else skip
    return "".join(pieces)


def _symbol(symbol: str | None) -> str:
    return symbol if symbol in ("\\", "{", "}", "-") else ""
