"""Bombs: small bodies that unpack to hundreds of megabytes, and how much of them ever exists here."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import brotli
from backports import zstd

from crawler.extract import page_reader as reading
from crawler.extract.office import document_reader
from crawler.extract.office.zip_package import PRODUCED_AT_MOST, Package, TooMuch
from crawler.extract.xml import xml_page as xml_reading
from crawler.fetch import curl, decoding, size_limits
from crawler.values import Extracted, Fetched, Request
from tests.hostile.fetching import fetch_all, request
from tests.packages import package
from tests.sites.misbehaving import Site, page

UNPACKED = 300_000_000  # bytes in every bomb
SLACK = 64_000 + 1_536  # 64 kB, as the library's pieces count it
GROWTH = 64_000_000  # bytes of memory a bomb may cost
_ZEROS = bytes(1_000_000)
_OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


class Blast(NamedTuple):
    """What a bomb did."""

    name: str
    packed: int
    produced: int
    limit: int
    growth: int  # of this process, in bytes

    def fault(self) -> str:
        if self.produced > self.limit + SLACK:
            return f"{self.name}: {self.produced:,} bytes were produced, {self.limit:,} are allowed"
        return f"{self.name}: {self.growth:,} bytes of memory" if self.growth > GROWTH else ""

    def __str__(self) -> str:
        return (
            f"{self.name:>12}: {self.packed:>9,} bytes hold {UNPACKED:,}; {self.produced:>11,} produced, "
            f"{self.growth / 1e6:>5.1f} MB of memory"
        )


def blow_all() -> Iterator[Blast]:
    """Every kind of bomb: by Content-Encoding over the wire, inside a document, inside XML."""
    for encoding, pack in _PACKERS.items():
        yield _over_the_wire(encoding, pack())
    yield _sitemap(_gzip())
    yield _document(_zip())
    yield _entities()


def _gzip(bits: int = 31) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    return b"".join(packer.compress(_ZEROS) for _ in range(UNPACKED // len(_ZEROS))) + packer.flush()


def _brotli() -> bytes:
    packer = brotli.Compressor(quality=5)
    return b"".join(packer.process(_ZEROS) for _ in range(UNPACKED // len(_ZEROS))) + bytes(packer.finish())


def _zstd() -> bytes:
    packer = zstd.ZstdCompressor()
    return b"".join(packer.compress(_ZEROS) for _ in range(UNPACKED // len(_ZEROS))) + packer.flush()


def _zip() -> bytes:
    """A document whose one part unpacks to everything."""
    return package("d.xml", {"d.xml": bytes(UNPACKED)})


_PACKERS: dict[str, Callable[[], bytes]] = {
    "gzip": _gzip,
    "deflate": lambda: _gzip(15),
    "br": _brotli,
    "zstd": _zstd,
    "gzip, gzip": lambda: gzip.compress(_gzip()),
}


def _over_the_wire(encoding: str, body: bytes) -> Blast:
    produced = [0]

    class Counting(decoding.Decoder):
        def feed(self, data: bytes) -> Iterator[bytes]:
            for piece in super().feed(data):
                produced[0] += len(piece)
                yield piece

    usual, decoding.Decoder = decoding.Decoder, Counting  # type: ignore[misc]
    try:
        with Site() as site, memory() as growth:
            site.pages["/"] = page(body, f"Content-Encoding: {encoding}")
            (answer,) = fetch_all(curl.CurlTransport(), [request(site.url("/"))])
            if not answer.truncated or len(answer.body) > size_limits.TEXT_AT_MOST:
                produced[0] = UNPACKED  # stored as if it were a page
    finally:
        decoding.Decoder = usual  # type: ignore[misc]
    return Blast(encoding, len(body), produced[0], size_limits.TEXT_AT_MOST, growth())


def _sitemap(body: bytes) -> Blast:
    with memory() as growth:
        found = read(body, "application/gzip", "http://a.org/sitemap.xml.gz")
    produced = xml_reading.UNPACKED_AT_MOST if "body_cut" in found.flags else UNPACKED
    return Blast("sitemap.gz", len(body), produced, xml_reading.UNPACKED_AT_MOST, growth())


def _document(body: bytes) -> Blast:
    """Read by the child process, whose memory is bounded by the kernel; only ours is measured."""
    read(b"PK\x03\x04", _OFFICE, "http://a.org/x.docx")  # starts the child
    with memory() as growth:
        found = read(body, _OFFICE, "http://a.org/x.docx")
        grown = growth()
    document_reader.close()
    opened = Package(body)
    with suppress(TooMuch):
        opened.read("d.xml")
    whole = "no_text" not in found.flags
    produced = UNPACKED if whole else PRODUCED_AT_MOST - opened.left
    return Blast("zip", len(body), produced, PRODUCED_AT_MOST, grown)


def _entities() -> Blast:
    """A billion laughs."""
    lines = [f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)]
    body = f'<!DOCTYPE x [<!ENTITY a0 "{"ha" * 10}">{"".join(lines)}]><x b="&a9;">&a9;</x>'.encode()
    with memory() as growth:
        found = read(body, "text/xml", "http://a.org/x")
    return Blast("xml", len(body), len(found.text), len(body), growth())


def read(body: bytes, kind: str, url: str) -> Extracted:
    address = request(url).address
    found = reading.read(Fetched(Request(url, address), 200, [("content-type", kind)], body), address)
    assert isinstance(found, Extracted)
    return found


@contextmanager
def memory() -> Iterator[Callable[[], int]]:
    """How far this process grows above what it has now, at its highest."""
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins anew
    before = memory_at_most()
    yield lambda: memory_at_most() - before


def memory_at_most() -> int:
    """The most this process ever had, in bytes. (getrusage tells a child of its parent's, too.)"""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024
