"""The words of a part of a Word or PowerPoint document, of a drawing, chart or diagram: what holds words is listed.

All else says none: positions, identifiers, instructions of fields, text that was deleted or moved away.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from lxml import etree

from ..gathered import Gathered, OfficeField
from .zip_package import Relationship

_OOXML = ("http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/")
_W = (_OOXML[0] + "wordprocessingml/2006/main", _OOXML[1] + "wordprocessingml/main")
_A = (_OOXML[0] + "drawingml/2006/main", _OOXML[1] + "drawingml/main")
_C = (_OOXML[0] + "drawingml/2006/chart", _OOXML[1] + "drawingml/chart")
PRESENTATION = (_OOXML[0] + "presentationml/2006/main", _OOXML[1] + "presentationml/main")
SPREADSHEET = (_OOXML[0] + "spreadsheetml/2006/main", _OOXML[1] + "spreadsheetml/main")
_M = (_OOXML[0] + "officeDocument/2006/math", _OOXML[1] + "officeDocument/math")
_V = ("urn:schemas-microsoft-com:vml",)
_MC = (_OOXML[0] + "markup-compatibility/2006",)
_CX = ("http://schemas.microsoft.com/office/drawing/2014/chartex",)
_THREADED = ("http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments",)
_IDS = tuple(
    f"{{{namespace}}}id"
    for namespace in (_OOXML[0] + "officeDocument/2006/relationships", _OOXML[1] + "officeDocument/relationships")
)
_MICROSOFT = ("http://schemas.microsoft.com/", "urn:schemas-microsoft-com:")

(_TEXT, _BLOCK, _SPACE, _SKIP, _RUN, _INSTRUCTION, _FIELD_MARK, _SIMPLE_FIELD, _LINK, _CLICK, _BESIDE, _SYMBOL,
 _HYPHEN, _FIELD_OF_SLIDE, _ALTERNATIVES, _CHOICE, _FALLBACK, _CACHE, _WORD, _SHAPE,
 _HREF) = range(21)  # fmt: skip


def _rules() -> dict[str, int]:
    written: list[tuple[tuple[str, ...], int, str]] = [
        (_W, _TEXT, "t"), (_W, _BLOCK, "p tc comment footnote endnote"), (_W, _SPACE, "tab br cr ptab"),
        (_W, _SKIP, "del moveFrom pPr rPr sectPr tblPr trPr tcPr sdtPr fldData"), (_W, _RUN, "r"),
        (_W, _INSTRUCTION, "instrText"), (_W, _FIELD_MARK, "fldChar"), (_W, _SIMPLE_FIELD, "fldSimple"),
        (_W, _LINK, "hyperlink subDoc"), (_W, _BESIDE, "txbxContent rt"), (_W, _SYMBOL, "sym"),
        (_W, _HYPHEN, "noBreakHyphen"),
        (_A, _TEXT, "t"), (_A, _BLOCK, "p tc"), (_A, _SPACE, "br tab"), (_A, _CLICK, "hlinkClick"),
        (_A, _FIELD_OF_SLIDE, "fld"), (_M, _TEXT, "t"), (_M, _BLOCK, "oMathPara"),
        (_C, _WORD, "v"), (_C, _SKIP, "numCache numLit"),
        (_C, _CACHE, "strCache strLit multiLvlStrCache"), (_CX, _WORD, "pt"),
        (_CX, _SKIP, "numDim"), (_CX, _CACHE, "strDim"), (PRESENTATION, _TEXT, "text"), (PRESENTATION, _BLOCK, "cm"),
        (PRESENTATION, _SHAPE, "sp"),
        (SPREADSHEET, _TEXT, "t"), (SPREADSHEET, _BLOCK, "comment"), (SPREADSHEET, _SKIP, "rPh"),
        (_THREADED, _TEXT, "text"), (_THREADED, _BLOCK, "threadedComment"),
        (_V, _HREF, "shape group rect roundrect oval line polyline image"),
        (_MC, _ALTERNATIVES, "AlternateContent"), (_MC, _CHOICE, "Choice"),
        (_MC, _FALLBACK, "Fallback"),
    ]  # fmt: skip
    return {
        f"{{{namespace}}}{name}": rule
        for spaces, rule, names in written
        for namespace in spaces
        for name in names.split()
    }


_RULES = _rules()
# Behind a slide stand its layout and master: their own shapes are seen, what waits to be filled in is not.
_BEHIND_SLIDES = frozenset(
    f"{{{namespace}}}{name}" for namespace in PRESENTATION for name in ("sldLayout", "sldMaster")
)
_RUN_PROPERTIES = {f"{{{namespace}}}rPr": f"{{{namespace}}}vanish" for namespace in _W}
_OFF = ("0", "false", "off")
_CODE = re.compile("[0-9A-Fa-f]{1,4}")


def id_of(element: Any) -> str:
    """The relationship an element names, or nothing."""
    return next((str(element.get(name)) for name in _IDS if name in element.attrib), "")


class PartReader:
    """Reads the parts of one document into what is gathered."""

    def __init__(self, gathered: Gathered, caches: bool = True) -> None:
        self._gathered = gathered
        self._caches = caches  # the words of a chart that stand in the sheet it was made from
        self._sink = gathered.pieces
        self._sinks: list[list[str]] = []
        self._targets: dict[str, str] = {}
        self._fields: list[OfficeField] = []
        self._links: list[OfficeField] = []
        self._instructions = 0  # that we are in
        self._withheld: list[str] = []  # text inside an instruction: that of fields in fields
        self._alternatives: list[bool] = []  # one was taken already
        self._understood: dict[str, bool] = {}  # prefixes, as declared last: whether we know their words
        self._hidden = False
        self._behind = False
        self._clicked: Any = None  # the run whose link was read last, and its words: a run may have very many links
        self._words = ""

    def read(self, root: Any, related: list[Relationship], beside: bool = False) -> None:
        """Read a part; `beside`: its words are not those of the document itself."""
        self._targets = {one.id: one.target for one in related if one.external}
        self._sink, self._sinks = self._gathered.beside if beside else self._gathered.pieces, []
        self._fields, self._links, self._withheld, self._alternatives, self._hidden = [], [], [], [], False
        self._instructions, self._understood = 0, {}
        self._behind = root.tag in _BEHIND_SLIDES
        walk = etree.iterwalk(root, events=("start", "end", "start-ns"))
        rules = _RULES
        for event, element in walk:
            if event == "start-ns":
                self._understood[element[0]] = element[1].startswith((*_OOXML, *_MICROSOFT))
                continue
            rule = rules.get(element.tag)
            if rule is None:
                continue
            if event == "end":
                self._end(rule, element)
            elif rule == _TEXT:
                if element.text:
                    self._text(element.text)
            elif not self._begin(rule, element):
                walk.skip_subtree()
        self._sink.extend(self._withheld)  # a field that never ends hides nothing
        self._sink.append(" ")

    def _text(self, text: str) -> None:
        if self._instructions:
            self._withheld.append(text)
        elif not self._hidden:
            self._sink.append(text)

    def _begin(self, rule: int, element: Any) -> bool:
        """False: nothing inside is read."""
        if rule == _SKIP or (rule == _CACHE and not self._caches):
            return False
        handler = _BEGINNINGS.get(rule)
        return True if handler is None else handler(self, element) is not False

    def _end(self, rule: int, element: Any) -> None:
        if rule in (_BLOCK, _SPACE, _WORD):
            self._sink.append(" ")
        elif rule == _RUN:
            self._hidden = False
        elif rule in (_LINK, _SIMPLE_FIELD):
            if self._links:
                self._links.pop().link_into(self._gathered)
        elif rule == _BESIDE:
            self._sink.append(" ")
            self._sink = self._sinks.pop()
        elif rule == _ALTERNATIVES:
            self._alternatives.pop()

    # -- what begins

    def _word(self, element: Any) -> None:
        self._text(element.text or "")

    def _run(self, element: Any) -> None:
        first = element[0] if len(element) else None
        vanish = _RUN_PROPERTIES.get(first.tag) if first is not None else None
        if first is not None and vanish is not None and (found := first.find(vanish)) is not None:
            self._hidden = found.get(vanish[:-6] + "val", "true").lower() not in _OFF

    def _instruction(self, element: Any) -> None:
        if self._fields and not self._fields[-1].in_result:
            self._fields[-1].instruction.append(element.text or "")

    def _field_mark(self, element: Any) -> None:
        kind = next((value for name, value in element.items() if name.endswith("fldCharType")), "")
        if kind == "begin":
            self._fields.append(OfficeField())
            self._instructions += 1
        elif kind == "separate" and self._fields and not self._fields[-1].in_result:
            self._fields[-1].result_begins(self._sink)
            self._instructions -= 1
        elif kind == "end" and self._fields:
            field = self._fields.pop()
            self._instructions -= not field.in_result
            field.link_into(self._gathered)
            if not self._fields:
                self._withheld.clear()

    def _simple_field(self, element: Any) -> None:
        self._open_link(next((value for name, value in element.items() if name.endswith("}instr")), ""))

    def _link(self, element: Any) -> None:
        self._open_link(f'HYPERLINK "{self._target(element)}"')

    def _open_link(self, instruction: str) -> None:
        link = OfficeField(instruction)
        link.result_begins(self._sink)
        self._links.append(link)

    def _click(self, element: Any) -> None:
        """The link of a run of text, or of a shape."""
        if target := self._target(element):
            parent = element.getparent()
            run = parent.getparent() if parent is not None else None
            if run is not self._clicked:
                nearest = () if run is None else islice(run, 10)
                self._words = "".join(one.text or "" for one in nearest if _RULES.get(one.tag) == _TEXT)
                self._clicked = run
            self._gathered.link(target, self._words)

    def _href(self, element: Any) -> None:
        self._gathered.link(element.get("href") or "", element.get("title") or "")

    def _target(self, element: Any) -> str:
        return self._targets.get(id_of(element), "")

    def _beside(self, element: Any) -> None:
        self._sinks.append(self._sink)
        self._sink = self._gathered.beside

    def _symbol(self, element: Any) -> None:
        code = next((value for name, value in element.items() if name.endswith("}char")), "")
        number = int(code, 16) if _CODE.fullmatch(code) else 0xF000
        self._text(" " if 0xD800 <= number < 0xF900 else chr(number))  # of a font of signs: no word

    def _hyphen(self, element: Any) -> None:
        self._text("-")

    def _field_of_slide(self, element: Any) -> bool:
        return not (element.get("type") or "").startswith("slidenum")

    def _shape(self, element: Any) -> bool:
        return not self._behind or element.find("{*}nvSpPr/{*}nvPr/{*}ph") is None

    def _begin_alternatives(self, element: Any) -> None:
        self._alternatives.append(False)

    def _choice(self, element: Any) -> bool:
        if not self._alternatives or self._alternatives[-1]:
            return False
        needs = (element.get("Requires") or "").split()
        self._alternatives[-1] = all(self._understood.get(prefix, False) for prefix in needs)
        return self._alternatives[-1]

    def _fallback(self, element: Any) -> bool:
        return not (self._alternatives and self._alternatives[-1])


_BEGINNINGS: dict[int, Callable[[PartReader, Any], bool | None]] = {
    _RUN: PartReader._run, _INSTRUCTION: PartReader._instruction, _FIELD_MARK: PartReader._field_mark,
    _SIMPLE_FIELD: PartReader._simple_field, _LINK: PartReader._link, _CLICK: PartReader._click,
    _BESIDE: PartReader._beside, _SYMBOL: PartReader._symbol, _HYPHEN: PartReader._hyphen,
    _FIELD_OF_SLIDE: PartReader._field_of_slide, _ALTERNATIVES: PartReader._begin_alternatives,
    _CHOICE: PartReader._choice, _FALLBACK: PartReader._fallback, _WORD: PartReader._word,
    _SHAPE: PartReader._shape, _HREF: PartReader._href,
}  # fmt: skip
