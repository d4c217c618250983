"""Bytes that wait to be sent on: a few in memory, more of them in a file that has no name."""

import tempfile
from collections.abc import Iterator
from typing import IO, cast

IN_MEMORY = 512 * 1024
PIECE = 64 * 1024


class BufferedBody:
    """Written once, then read once."""

    def __init__(self) -> None:
        self.size = 0
        self._file = cast("IO[bytes]", tempfile.SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115

    def add(self, data: bytes | bytearray) -> None:
        self._file.write(data)
        self.size += len(data)

    def pieces(self) -> Iterator[bytes]:
        self._file.seek(0)
        while piece := self._file.read(PIECE):
            yield piece

    def close(self) -> None:
        self._file.close()


class Ahead:
    """What one side has sent and the other has not read yet: written at its end, read from its beginning."""

    def __init__(self) -> None:
        self.waiting = 0
        self._read = self._written = 0
        self._file = cast("IO[bytes]", tempfile.SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115

    def add(self, data: bytes | bytearray) -> None:
        self._file.seek(self._written)
        self._file.write(data)
        self._written += len(data)
        self.waiting += len(data)

    def take(self) -> bytes:
        self._file.seek(self._read)
        piece = self._file.read(PIECE)
        self._read += len(piece)
        self.waiting -= len(piece)
        if not self.waiting:  # a file need not hold what was read
            self._file.seek(0)
            self._file.truncate()
            self._read = self._written = 0
        return piece

    def close(self) -> None:
        self._file.close()
