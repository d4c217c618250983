"""Owns: very many keys with a number each, in fifty bytes a key. Pure.

A dict takes five times as much, and a document may have a hundred thousand pages. Keys that come in their order, as the
ledger has them, are packed; others are kept aside. Called by: missing, collect.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, MutableMapping
from itertools import chain
from typing import Any

SIZE = 32


class Packed:
    """Keys in order; `at` and `find` are each other's inverse."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._heads = array("Q")  # their first eight bytes: what is searched in
        self._last = b""

    def append(self, key: bytes) -> bool:
        """False: it is not the next in order, or no digest."""
        if len(key) != SIZE or key <= self._last:
            return False
        self._bytes += key
        self._heads.append(int.from_bytes(key[:8], "big"))
        self._last = key
        return True

    def at(self, place: int) -> bytes:
        return bytes(self._bytes[place * SIZE : place * SIZE + SIZE])

    def __getitem__(self, place: int) -> bytes:
        if place >= len(self):
            raise IndexError(place)
        return self.at(place)

    def __iter__(self) -> Iterator[bytes]:
        return map(self.at, range(len(self)))

    def __len__(self) -> int:
        return len(self._bytes) // SIZE

    def find(self, key: bytes) -> int:
        """Its place, or -1."""
        head = int.from_bytes(key[:8], "big")
        place = bisect_left(self._heads, head)
        while place < len(self._heads) and self._heads[place] == head:
            if self.at(place) == key:
                return place
            place += 1
        return -1


class Numbers(MutableMapping[bytes, int]):
    """Key -> number."""

    def __init__(self) -> None:
        self._keys = Packed()
        self._values = array("q")
        self._aside: dict[bytes, int] = {}

    def __setitem__(self, key: bytes, value: int) -> None:
        if (place := self._keys.find(key)) >= 0:
            self._values[place] = value
        elif key not in self._aside and self._keys.append(key):
            self._values.append(value)
        else:
            self._aside[key] = value

    def __getitem__(self, key: bytes) -> int:
        place = self._keys.find(key)
        return self._values[place] if place >= 0 else self._aside[key]

    def __delitem__(self, key: bytes) -> None:
        raise TypeError("what was noted stays")

    def __contains__(self, key: object) -> bool:
        return isinstance(key, bytes) and (self._keys.find(key) >= 0 or key in self._aside)

    def place_of(self, key: bytes) -> int:
        """Among those that came in order; -1: not there."""
        return self._keys.find(key)

    def split(self) -> tuple[Iterator[tuple[bytes, int]], list[tuple[bytes, int]]]:
        """Those that came in order, and the others."""
        return zip(self._keys, self._values, strict=True), list(self._aside.items())

    def values(self) -> Any:
        """Without looking for each."""
        return chain(self._values, self._aside.values())

    def items(self) -> Any:
        return zip(self, self.values(), strict=True)

    def __iter__(self) -> Iterator[bytes]:
        """First those that came in order, in it."""
        yield from self._keys
        yield from self._aside

    def __len__(self) -> int:
        return len(self._values) + len(self._aside)


class PackedKeys:
    """A set of them."""

    def __init__(self) -> None:
        self._numbers = Numbers()

    def add(self, key: bytes) -> None:
        self._numbers[key] = 0

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)
