"""Owns: the texts of the links to each page of a document, gathered in one pass over all its pages, in bounded memory.

The pass writes what it finds into parts by the beginning of the key, small ones in memory, larger ones on disk; then
one part after the other is read. Does not: know what is published. Called by: collect.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from clearinghouse.database.digests import digest_of
from crawler import extract
from crawler.models import PageVersion

from .packed_keys import Numbers
from .packed_pages import spooled

MAX_ANCHORS = 20
MAX_ANCHOR = 200
AT_ONCE = 500
_PARTS_OF = 1_000  # pages: below, all of a document is one part
_MOST_PARTS = 64
_IN_MEMORY = 128_000  # bytes of a part
_LATELY = 10_000  # pairs that are not written again: every page of a manual has the same links in its margin
_ADDRESSES = 10_000
_ROW = struct.Struct("<IH")


class Anchors:
    def __init__(self, wanted: Numbers, places: Callable[[bytes], int]) -> None:
        """`wanted`: key -> version of the pages that count, in order; `places`: the place of a key in it, or -1."""
        self.wanted, self._pages = wanted, len(wanted)
        self.parts = min(_MOST_PARTS, self._pages // _PARTS_OF + 1)
        self._files: dict[int, Any] = {}
        self._lately: set[tuple[int, str]] = set()
        self._place = lru_cache(_ADDRESSES)(lambda url: places(digest_of(url)))

    def gather(self, beat: Callable[[], None]) -> None:
        """Reads the links of every page that counts."""
        places = ((version, place) for place, version in enumerate(self.wanted.values()))
        while chunk := dict(islice(places, AT_ONCE)):
            beat()
            for version, packed in PageVersion.objects.filter(id__in=list(chunk)).values_list("id", "links"):
                self._note(chunk[version], bytes(packed) if packed else b"")

    def _note(self, own: int, packed: bytes) -> None:
        for link in extract.unpack_links(packed) if packed else ():
            text = " ".join(link.anchor.split())[:MAX_ANCHOR]
            place = self._place(link.url) if text else -1
            if place < 0 or place == own or (place, text) in self._lately:
                continue
            if len(self._lately) >= _LATELY:
                self._lately.clear()
            self._lately.add((place, text))
            part = place * self.parts // self._pages
            if part not in self._files:
                self._files[part] = spooled(_IN_MEMORY)
            raw = text.encode("utf-8", "surrogatepass")
            self._files[part].write(_ROW.pack(place, len(raw)) + raw)

    def ranges(self) -> Iterator[tuple[range, dict[int, str]]]:
        """Places in order, with the texts of those that have any: distinct, sorted, at most twenty."""
        self._lately.clear()
        for part in range(self.parts):
            first, last = (-(-self._pages * one // self.parts) for one in (part, part + 1))
            yield range(first, last), self._texts(part)

    def _texts(self, part: int) -> dict[int, str]:
        found: dict[int, set[str]] = {}
        file = self._files.pop(part, None)
        if file is not None:
            with file:
                file.seek(0)
                while head := file.read(_ROW.size):
                    place, length = _ROW.unpack(head)
                    found.setdefault(place, set()).add(file.read(length).decode("utf-8", "surrogatepass"))
        return {place: "\n".join(first_of(texts)) for place, texts in found.items()}


def first_of(texts: set[str]) -> Sequence[str]:
    return sorted(texts)[:MAX_ANCHORS]
