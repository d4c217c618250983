"""Office documents: Word, Excel, PowerPoint (OPC packages) and OpenDocument. Runs in the bounded child (see worker).

What a document is, and which parts it has, its own relationships say, never the names of its parts.
"""

from collections import deque
from contextlib import suppress
from typing import Any

from lxml import etree

from ..gathered import Enough, Gathered
from . import opendocument
from .ooxml import PRESENTATION, SPREADSHEET, PartReader, id_of
from .spreadsheet import Workbook
from .zip_package import Package, Relationship

_MAIN = "officeDocument"
# Parts with words of their own, in the order in which they are read; of a sheet and a slide, too.
_WITH_WORDS = (
    "footnotes", "endnotes", "comments", "threadedComment", "header", "footer", "notesSlide", "drawing", "chart",
    "chartEx", "chartUserShapes", "diagramData", "slideLayout", "slideMaster",
)  # fmt: skip


def read_zip(data: bytes) -> Gathered:
    """Title, text and links of a zipped office document."""
    package, gathered = Package(data), Gathered()
    with suppress(Enough):
        if opendocument.CONTENT in package:
            gathered.title = title_in(package.root(opendocument.PROPERTIES))
            opendocument.read(package, gathered)
        else:
            _Document(package, gathered).read()
    return gathered


class _Document:
    def __init__(self, package: Package, gathered: Gathered) -> None:
        self._package, self._gathered = package, gathered
        self._seen: set[str] = set()

    def read(self) -> None:
        related = self._package.related("")
        main = next((one.target for one in related if one.kind == _MAIN and not one.external), "")
        if main not in self._package:
            main = self._package.of_type(".main+xml")
        for one in related:
            if one.kind == "core-properties" and not self._gathered.title:
                self._gathered.title = title_in(self._package.root(one.target))
        root = self._package.root(main)
        namespace = "" if root is None else etree.QName(root).namespace
        if namespace in SPREADSHEET:
            self._read_workbook(main, root)
        elif namespace in PRESENTATION:
            reader = PartReader(self._gathered)
            for slide, _ in self._listed(main, root, "sldId"):
                self._read_part(slide, self._package.root(slide), reader)
        elif root is not None:
            self._read_part(main, root, PartReader(self._gathered))

    def _read_workbook(self, main: str, root: Any) -> None:
        workbook, reader = Workbook(self._package, main, root, self._gathered), PartReader(self._gathered, caches=False)
        for sheet, element in self._listed(main, root, "sheet"):
            if element.get("state") in ("hidden", "veryHidden"):
                continue
            related = self._package.related(sheet)
            workbook.read(element.get("name") or "", sheet, related)
            self._read_beside(related, reader)

    def _listed(self, main: str, root: Any, name: str) -> list[tuple[str, Any]]:
        """The parts a list names, in its order; with the elements that name them."""
        targets = {one.id: one.target for one in self._package.related(main) if not one.external}
        listed = [(targets.get(id_of(element), ""), element) for element in root.iter(f"{{*}}{name}")]
        return list({part: (part, element) for part, element in reversed(listed) if part in self._package}.values())[
            ::-1
        ]

    def _read_part(self, part: str, root: Any, reader: PartReader) -> None:
        """A part of the document itself, and the parts with words that belong to it."""
        related = self._package.related(part)
        if root is not None:
            reader.read(root, related)
        self._read_beside(related, reader)

    def _read_beside(self, related: list[Relationship], reader: PartReader) -> None:
        """The related parts that have words of their own, and those related to them. Each is read once."""
        waiting = deque(_with_words(related))
        while waiting:
            part = waiting.popleft().target
            if part in self._seen:
                continue
            self._seen.add(part)
            theirs = self._package.related(part)
            if (root := self._package.root(part)) is not None:
                reader.read(root, theirs, beside=True)
            waiting.extend(_with_words(theirs))


def _with_words(related: list[Relationship]) -> list[Relationship]:
    kinds = {one.kind for one in related}
    # Comments that are a conversation stand in the old form once more.
    wanted = [kind for kind in _WITH_WORDS if kind != "comments" or "threadedComment" not in kinds]
    if "theme" in kinds:
        wanted.remove("slideLayout")  # a master knows all layouts, a slide its own
    found = [one for one in related if not one.external and one.kind in wanted]
    return sorted(found, key=lambda one: wanted.index(one.kind))


def title_in(root: Any) -> str:
    """The title among the properties of a document."""
    found = None if root is None else next(root.iter(opendocument.TITLE), None)
    return "" if found is None else "".join(str(piece) for piece in found.itertext())
