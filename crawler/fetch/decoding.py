"""Content-Encoding: gzip, deflate, br and zstd, undone piece by piece in bounded memory.

Done here and not by libcurl, because libcurl does not notice when a compressed body ends too early: a page cut off
by its own server would be stored as whole.
"""

import zlib
from collections.abc import Iterator
from typing import Protocol

import brotli
from backports import zstd

ACCEPTED = "gzip, deflate, br, zstd"
_PIECE = 65_536  # bytes that one step of unpacking gives at most
_LAYERS_AT_MOST = 5
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_WINDOW = {
    int(zstd.DecompressionParameter.window_log_max): 23
}  # 8 MB of memory: what RFC 9659 lets a server ask for


class BadEncoding(Exception):
    """The bytes are not what their encoding says, or end too early."""


class _Layer(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def whole(self) -> bool: ...


class _Gzip:
    """gzip, of one member or several; what follows the last one is ignored, as everybody does."""

    def __init__(self) -> None:
        self._unpack = zlib.decompressobj(wbits=31)
        self._over = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data and not self._over:
            yield _zlib_step(self._unpack, data)
            if not self._unpack.eof:
                data = self._unpack.unconsumed_tail
                continue
            data = self._unpack.unused_data
            if data.startswith(_GZIP_MAGIC):
                self._unpack = zlib.decompressobj(wbits=31)
            elif data:
                self._over = True

    def whole(self) -> bool:
        return self._unpack.eof


class _Deflate:
    """deflate, with the zlib frame of the standard or without, as some servers send it."""

    def __init__(self) -> None:
        self._start = b""
        self._unpack: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._unpack is None:
            data = self._start = self._start + data
            if len(data) < 2:
                return
            framed = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
            self._unpack = zlib.decompressobj(wbits=15 if framed else -15)
        while data and not self._unpack.eof:
            yield _zlib_step(self._unpack, data)
            data = self._unpack.unconsumed_tail

    def whole(self) -> bool:
        return self._unpack is not None and self._unpack.eof


class _Brotli:
    def __init__(self) -> None:
        self._unpack = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._unpack.is_finished():
            try:
                piece = self._unpack.process(data, output_buffer_limit=_PIECE)
            except brotli.error:
                raise BadEncoding from None
            yield piece
            data = b""
            if not piece and self._unpack.can_accept_more_data():
                return

    def whole(self) -> bool:
        return bool(self._unpack.is_finished())


class _Zstd:
    """zstd, of one frame or several. The library of the standard's successor, because it can be told when to stop."""

    def __init__(self) -> None:
        self._unpack = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or not (self._unpack.needs_input or self._unpack.eof):
            if self._unpack.eof:
                self._unpack = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)
            try:
                yield self._unpack.decompress(data, _PIECE)
            except zstd.ZstdError:
                raise BadEncoding from None
            data = self._unpack.unused_data if self._unpack.eof else b""

    def whole(self) -> bool:
        return self._unpack.eof


_LAYERS: dict[str, type[_Gzip] | type[_Deflate] | type[_Brotli] | type[_Zstd]] = {
    "gzip": _Gzip, "x-gzip": _Gzip, "deflate": _Deflate, "br": _Brotli, "zstd": _Zstd,
}  # fmt: skip
_UNREADABLE = {"compress", "x-compress", "dcb", "dcz"}


class Decoder:
    """Undoes the encodings of one body, the last one first."""

    def __init__(self, encodings: list[str]) -> None:
        if len(encodings) > _LAYERS_AT_MOST or not _UNREADABLE.isdisjoint(encodings):
            raise BadEncoding
        self._layers: list[_Layer] = [_LAYERS[encoding]() for encoding in reversed(encodings)]
        self._empty = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What these bytes unpack to, in pieces of bounded size."""
        self._empty = False
        pieces: Iterator[bytes] = iter((data,))
        for layer in self._layers:
            pieces = _through(layer, pieces)
        return pieces

    def whole(self) -> bool:
        """Did every layer come to its proper end? A body without a single byte is an empty page."""
        return self._empty or all(layer.whole() for layer in self._layers)


def encodings_of(headers: list[tuple[str, str]]) -> list[str]:
    """The encodings a body was given, in order; names that nobody knows mean nothing, as in browsers."""
    named = ",".join(value for name, value in headers if name == "content-encoding")
    found = [encoding.strip().lower() for encoding in named.split(",")] if named else []
    return [encoding for encoding in found if encoding in _LAYERS or encoding in _UNREADABLE]


def looks_encoded(beginning: bytes, encodings: list[str]) -> bool:
    """Is a body that should have come plain nevertheless packed? Only gzip can be told by its first bytes."""
    return encodings[-1:] not in (["gzip"], ["x-gzip"]) or beginning.startswith(_GZIP_MAGIC)


def _through(layer: _Layer, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield from layer.feed(piece)


def _zlib_step(unpack: "zlib._Decompress", data: bytes) -> bytes:
    try:
        return unpack.decompress(data, _PIECE)
    except zlib.error:
        raise BadEncoding from None
