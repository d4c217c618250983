"""Owns: the desired pages of a document, packed: about a hundred bytes a page in memory, the anchor texts in a file.

Does not: decide which they are (collect). Called by: collect; read by load, verify and plan.
"""

from array import array
from collections.abc import Iterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import NamedTuple

from clearinghouse import env

from ..plan import VARIANTS, Wanted
from .packed_keys import SIZE, Packed

_IN_MEMORY = 500_000  # bytes of anchor texts; more of them go to a file without a name


class DesiredPage(NamedTuple):
    version_id: int
    page_id: int
    anchors: str
    published_id: int
    digest: bytes


class Pages(Mapping[bytes, DesiredPage]):
    """In the order of their keys."""

    def __init__(self) -> None:
        self._keys = Packed()
        self._versions, self._page_ids, self._ends = array("q"), array("q"), array("q")
        self._digests = bytearray()
        self._likeness = array("q")
        self._anchors = spooled(_IN_MEMORY)

    def append(self, key: bytes, page: DesiredPage) -> None:
        """The keys must come in order."""
        if not self._keys.append(key):
            raise ValueError("the key is not the next in order")
        self._versions.append(page.version_id)
        self._page_ids.append(page.page_id)
        self._digests += page.digest
        self._likeness.append(0)
        self._anchors.write(page.anchors.encode("utf-8", "surrogatepass"))
        self._ends.append(self._anchors.tell())

    def __getitem__(self, key: bytes) -> DesiredPage:
        place = self.place_of(key)
        wanted = self.wanted_at(place)
        return DesiredPage(self._versions[place], self._page_ids[place], self._text(place), *wanted)

    def place_of(self, key: bytes) -> int:
        """KeyError where there is none."""
        if (place := self._keys.find(key)) < 0:
            raise KeyError(key)
        return place

    def wanted_at(self, place: int) -> Wanted:
        digest = bytes(self._digests[place * SIZE : place * SIZE + SIZE])
        return Wanted(published_id(self._versions[place], digest), digest)

    def _text(self, place: int) -> str:
        begin = self._ends[place - 1] if place else 0
        if begin == self._ends[place]:
            return ""
        self._anchors.seek(begin)
        return self._anchors.read(self._ends[place] - begin).decode("utf-8", "surrogatepass")

    def __contains__(self, key: object) -> bool:
        return isinstance(key, bytes) and self._keys.find(key) >= 0

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def likeness(self, key: bytes) -> int:
        """What was remembered of it, or 0: three targets ask the same."""
        return self._likeness[self.place_of(key)]

    def remember(self, key: bytes, likeness: int) -> None:
        self._likeness[self.place_of(key)] = likeness


class WantedPages(Mapping[bytes, Wanted]):
    """The same, as a comparison needs it: no anchor text is read."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages

    def __getitem__(self, key: bytes) -> Wanted:
        return self.pages.wanted_at(self.pages.place_of(key))

    def __contains__(self, key: object) -> bool:
        return key in self.pages

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.pages)

    def __len__(self) -> int:
        return len(self.pages)


def published_id(version_id: int, digest: bytes) -> int:
    return version_id * VARIANTS + digest[0] % VARIANTS


def spooled(most: int) -> "SpooledTemporaryFile[bytes]":
    """A file on the disk of the product: /tmp may be memory, too."""
    return SpooledTemporaryFile(max_size=most, dir=env.var())
