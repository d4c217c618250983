"""Owns: the one integer that says all the frontier knows of a URL. Does not: decide. Called by: frontier.

A million known URLs must fit in memory, so a URL is sixteen bytes of its digest and one shared integer:
bits 0-1 what it is, bits 2-5 a rank (of a skip, or of how a done one counts), then sixteen bits for each crawl
point: reached (1), depth (10), hop (4), granted (1).
"""

from functools import lru_cache
from typing import NamedTuple

SKIPPED, QUEUED, DONE = 1, 2, 3
WIDTH = 16
HEAD = 6
_REACHED = 1
_DEPTH_SHIFT, _DEPTH_MASK = 1, 0x3FF
_HOP_SHIFT, _HOP_MASK = 11, 0xF
GRANTED = 1 << 15
FIELD = 0xFFFF
WAY = 0x3FFF  # hop and depth of a field shifted by one: at most the depth when the hop is 0


class Way(NamedTuple):
    """How a crawl point (by its position) reaches a URL: two separate minima, and whether a place was granted."""

    point: int
    depth: int
    hop: int
    granted: bool


def kind(state: int) -> int:
    return state & 3


def rank(state: int) -> int:
    return (state >> 2) & 0xF


def with_kind(state: int, new_kind: int, new_rank: int = 0) -> int:
    return (state & ~0x3F) | new_kind | (new_rank << 2)


def field_of(state: int, point: int) -> int:
    return (state >> (HEAD + point * WIDTH)) & FIELD


def pack(depth: int, hop: int, granted: bool = False) -> int:
    return _REACHED | (depth << _DEPTH_SHIFT) | (hop << _HOP_SHIFT) | (GRANTED if granted else 0)


def depth_of(field: int) -> int:
    return (field >> _DEPTH_SHIFT) & _DEPTH_MASK


def hop_of(field: int) -> int:
    return (field >> _HOP_SHIFT) & _HOP_MASK


def with_field(state: int, point: int, field: int) -> int:
    shift = HEAD + point * WIDTH
    return (state & ~(FIELD << shift)) | (field << shift)


@lru_cache(4096)  # few states exist, and each page asks for its ways nine times
def ways(state: int, points: int) -> tuple[Way, ...]:
    found = []
    rest = state >> HEAD
    for point in range(points):
        field = rest & FIELD
        if field:
            found.append(Way(point, depth_of(field), hop_of(field), bool(field & GRANTED)))
        rest >>= WIDTH
    return tuple(found)


@lru_cache(4096)
def nearest(state: int, points: int) -> int:
    """The smallest depth: the order of the queue."""
    return min(way.depth for way in ways(state, points))


@lru_cache(4096)  # asked for each message that is written; few states exist
def to_text(state: int, ids: tuple[int, ...]) -> str:
    """As stored in a message: "crawl point:depth:hop:granted …"."""
    return " ".join(f"{ids[w.point]}:{w.depth}:{w.hop}:{int(w.granted)}" for w in ways(state, len(ids)))


def from_text(text: str, ids: tuple[int, ...], state: int) -> int:
    for item in text.split():
        point, depth, hop, granted = (int(part) for part in item.split(":"))
        state = with_field(state, ids.index(point), pack(depth, hop, bool(granted)))
    return state
