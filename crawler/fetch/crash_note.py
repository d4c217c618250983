"""Owns: a note of the answer that is being unpacked now, which survives the death of this process.

Unpacking is done by libraries in C: bytes that bring one of them down bring down the loop, and nothing in it could
say any more whose they were. The kernel keeps a mapped file whatever happens to the process. Does not: count, or
know what a mark means. Called by: the body of an answer; deaths, which opens the file and reads what was left.
"""

import mmap
from pathlib import Path

SIZE = 64  # bytes of a mark at most
_NOTHING = bytes(SIZE)

_file: mmap.mmap | None = None  # one process, one loop, one note


def keep_in(path: Path) -> None:
    """From now on notes of this process are kept in this file."""
    global _file
    path.write_bytes(_NOTHING)
    with path.open("r+b") as opened:
        _file = mmap.mmap(opened.fileno(), SIZE)


def begin(mark: bytes) -> None:
    if _file is not None and mark:
        _file[: len(mark)] = mark


def end() -> None:
    if _file is not None:
        _file[:] = _NOTHING


def left_in(path: Path) -> bytes:
    """The mark a dead process left; empty when it died of something else."""
    return path.read_bytes().rstrip(b"\0")
