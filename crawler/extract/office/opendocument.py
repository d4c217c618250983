"""OpenDocument texts, spreadsheets and presentations: what stands in paragraphs and headings.

Changes that were deleted, hidden text and hidden sheets are left out. Notes, comments, text boxes, headers and footers
follow the text they stand beside.
"""

import posixpath
from typing import Any

from lxml import etree

from ..gathered import Gathered, OfficeField
from .zip_package import Package

CONTENT, PROPERTIES = "content.xml", "meta.xml"
TITLE = "{http://purl.org/dc/elements/1.1/}title"
_STYLES = "styles.xml"
_OBJECTS_AT_MOST = 200
_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _TABLE, _OFFICE, _STYLE, _PRESENTATION, _DRAW, _CHART = (
    f"{{{_OASIS}{name}:1.0}}" for name in ("text", "table", "office", "style", "presentation", "drawing", "chart")
)
_HREF = "{http://www.w3.org/1999/xlink}href"
_PARAGRAPHS = frozenset({_TEXT + "p", _TEXT + "h"})
_SPACES = frozenset(_TEXT + name for name in ("s", "tab", "line-break"))
_LINKS = frozenset({_TEXT + "a", _DRAW + "a"})
_SHAPES = (
    "frame", "text-box", "object", "custom-shape", "rect", "ellipse", "circle", "line", "polyline", "polygon",
    "regular-polygon", "path", "connector", "caption", "measure", "g",
)  # fmt: skip
_BESIDE = frozenset({_TEXT + "note-body", _OFFICE + "annotation", *(_DRAW + name for name in _SHAPES)})
_TABLES = _TABLE + "table"
_SKIPPED = frozenset({
    _TEXT + "tracked-changes", _TABLE + "tracked-changes", _TEXT + "note-citation", _TEXT + "page-number",
    _TEXT + "page-count", _TEXT + "sheet-name", _TEXT + "ruby-text", _TEXT + "bookmark-ref-target",
    _TABLE + "content-validations", _TABLE + "dde-links", _OFFICE + "automatic-styles", _OFFICE + "scripts",
    _OFFICE + "font-face-decls", _OFFICE + "forms",
})  # fmt: skip
_NOW = frozenset({_TEXT + "date", _TEXT + "time"})  # in the footer of every sheet: of the printing, not of the text
_DECLARED = frozenset({_PRESENTATION + "header-decl", _PRESENTATION + "footer-decl"})
_MARGINS = frozenset(
    _STYLE + name for name in ("header", "header-left", "header-first", "footer", "footer-left", "footer-first")
)
_NAME, _STYLE_OF_TEXT, _STYLE_OF_TABLE = _STYLE + "name", _TEXT + "style-name", _TABLE + "style-name"


def read(package: Package, gathered: Gathered) -> None:
    """The words and links of an OpenDocument."""
    styles, content = package.root(_STYLES), package.root(CONTENT)
    if content is None:
        return
    body = next(content.iter(_OFFICE + "body"), content)
    is_spreadsheet = next(body.iterchildren(_OFFICE + "spreadsheet"), None) is not None
    reader = _Reader(gathered, _hidden(styles) | _hidden(content), is_spreadsheet)
    reader.read(body, gathered.pieces)
    if styles is not None:
        reader.is_behind = next(body.iterchildren(_OFFICE + "presentation"), None) is not None
        for element in styles.iter(*([_STYLE + "master-page"] if reader.is_behind else _MARGINS)):
            if element.get(_STYLE + "display") != "false":
                reader.read(element, gathered.beside)
        reader.is_behind = False
    for name in list(dict.fromkeys(reader.objects))[:_OBJECTS_AT_MOST]:
        root = package.root(posixpath.join(name, CONTENT))
        if root is not None:
            reader.read(next(root.iter(_OFFICE + "body"), root), gathered.beside)


def _hidden(root: Any) -> set[str]:
    """The names of the styles whose text or sheet cannot be seen."""
    if root is None:
        return set()
    properties = root.iter(_STYLE + "text-properties", _STYLE + "table-properties")
    return {
        one.getparent().get(_NAME) or ""
        for one in properties
        if one.get(_TEXT + "display") == "none" or one.get(_TABLE + "display") == "false"
    }


class _Reader:
    def __init__(self, gathered: Gathered, hidden: set[str], is_spreadsheet: bool) -> None:
        self._gathered = gathered
        self._hidden = hidden
        self._named = is_spreadsheet  # tables are sheets then, and their names are seen
        self._sink = gathered.pieces
        self._around: list[tuple[list[str], int]] = []
        self._inside = 0  # paragraphs that we are in: other text is none
        self._links: list[OfficeField] = []
        self._skipped: Any = None
        self.objects: list[str] = []
        self.is_behind = False  # on a master page, most shapes wait to be filled in

    def read(self, root: Any, sink: list[str]) -> None:
        self._sink, self._around, self._inside, self._links = sink, [], 0, []
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                if self._is_hidden(element):
                    self._skipped = element
                    walk.skip_subtree()
                else:
                    self._begin(element)
            else:
                if element is self._skipped:
                    self._skipped = None
                else:
                    self._end(element)
                if self._inside and element.tail and element is not root:
                    self._sink.append(element.tail)

    def _is_hidden(self, element: Any) -> bool:
        tag = element.tag
        if tag in _SKIPPED or element.get(_TEXT + "display") == "none" or element.get(_TEXT + "is-hidden") == "true":
            return True
        if self._named and tag in _NOW:
            return True
        if self.is_behind and element.get(_PRESENTATION + "class") not in (None, "header", "footer"):
            return True
        return bool(self._hidden) and not self._hidden.isdisjoint(
            (element.get(_STYLE_OF_TEXT), element.get(_STYLE_OF_TABLE))
        )

    def _begin(self, element: Any) -> None:
        tag = element.tag
        if tag in _BESIDE:
            self._around.append((self._sink, self._inside))
            self._inside = 0
            if self._sink is self._gathered.pieces:
                self._sink = self._gathered.beside
            if (name := element.get(_HREF) or "").startswith("./Object"):
                self.objects.append(name[2:])
        elif tag in _PARAGRAPHS or tag in _DECLARED:
            self._inside += 1
        elif tag in _LINKS:
            self._links.append(OfficeField(f'HYPERLINK "{_outside(element.get(_HREF) or "")}"'))
            self._links[-1].result_begins(self._sink)
        elif tag == _TABLES and self._named:
            self._sink.append(f"{element.get(_TABLE + 'name') or ''} ")
        if self._inside and element.text:
            self._sink.append(element.text)

    def _end(self, element: Any) -> None:
        tag = element.tag
        if tag in _PARAGRAPHS or tag in _DECLARED:
            self._inside -= 1
            self._sink.append(" ")
        elif tag in _SPACES:
            self._sink.append(" ")
        elif tag in _LINKS:
            self._links.pop().link_into(self._gathered)
        elif tag in _BESIDE:
            self._sink.append(" ")
            self._sink, self._inside = self._around.pop()


def _outside(href: str) -> str:
    """An address as seen from where the document lies: inside it, the document counts as a folder."""
    if href.startswith("../"):
        return href[3:]
    return href if ":" in href.partition("/")[0] or href.startswith("/") else ""
