"""Owns: writing a screenshot with a palette of 256 colours, which is less than half as many bytes.

Does not: read other pictures than Chromium's, with 8 bits for each of 3 or 4 channels. Called by: pictures.
"""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

FREQUENT = 160
FEW = 3  # pixels of a colour nobody would miss
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def with_palette(picture: bytes) -> bytes:
    chunks = list(_chunks(picture))
    width, height, _, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    step = {2: 3, 6: 4}[kind]
    data = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    rows = [[row[at : at + 3] for at in range(0, width * step, step)] for row in _rows(data, width * step, step)]
    counts = Counter(pixel for row in rows for pixel in row)
    colours = _chosen(counts)
    place = {colour: number for number, colour in enumerate(colours)}
    place |= {
        colour: place[min(colours, key=lambda one: _distance(one, colour))] for colour in counts if colour not in place
    }
    lines = b"".join(b"\0" + bytes(place[pixel] for pixel in row) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    body = [(b"IHDR", head), (b"PLTE", b"".join(colours)), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(name, content) for name, content in body)


def _chosen(counts: Counter[bytes]) -> list[bytes]:
    """The most frequent colours, then those that are farthest from them: a small green tick stays green."""
    colours = [colour for colour, _ in counts.most_common(FREQUENT)]
    missed = {
        colour: min(_distance(colour, one) for one in colours)
        for colour, count in counts.items()
        if count >= FEW and colour not in colours
    }
    while missed and len(colours) < 256:
        far = max(missed, key=lambda colour: missed[colour])
        colours.append(far)
        missed = {colour: min(gap, _distance(colour, far)) for colour, gap in missed.items() if colour != far}
    return colours


def _distance(one: bytes, other: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(picture):
        size = int.from_bytes(picture[at : at + 4])
        yield picture[at + 4 : at + 8], picture[at + 8 : at + 8 + size]
        at += size + 12


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _rows(data: bytes, length: int, step: int) -> Iterator[bytes]:
    """Each line without its filter, as RFC 2083 describes them."""
    above = bytearray(length)
    starts = [*range(0, len(data), length + 1), len(data)]
    for start, end in pairwise(starts):
        line = bytearray(data[start + 1 : end])
        for at in range(length) if data[start] else ():
            left = line[at - step] if at >= step else 0
            corner = above[at - step] if at >= step else 0
            line[at] = (line[at] + _expected(data[start], left, above[at], corner)) & 255
        yield bytes(line)
        above = line


def _expected(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 1:
        return left
    if kind == 2:
        return up
    if kind == 3:
        return (left + up) // 2
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))
