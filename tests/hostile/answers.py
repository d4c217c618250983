"""HTTP answers broken at random, and an independent opinion on which of them came whole.

The opinion is a plain reader of HTTP/1.1 that knows nothing of libcurl: it cuts the head, undoes the framing, unpacks
with the standard library. Whatever the crawler takes for a whole page must be what this reader makes of the bytes.
"""

import gzip
import random
import re
import zlib

import brotli

PAGE = ("<!DOCTYPE html><title>A page</title><p>" + "Plain words of a page, with <a href=x>a link</a>. " * 40).encode()
_TOKENS = [
    b"\r\n", b"\n", b"\r", b"\0", b":", b" ", b"\t", b"\r\n\r\n", b"Content-Length: 5\r\n",
    b"Content-Length: 99999\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\n", b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: br, zstd, x\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"Location: http://[::bad/\r\n",
    b"Set-Cookie: a=b; Max-Age=-99999999999999999999\r\n", b"Content-Type: \xff/\xfe\r\n", b"X: " + b"y" * 5_000, b"-1",
    b"99999999999999999999", b"0\r\n\r\n", b"ffffffffffffffff\r\n", b"\x1f\x8b", b"\xff\xfe", b"HTTP/1.1 999 x\r\n",
]  # fmt: skip


def whole_answers() -> list[bytes]:
    """Well-made answers of every framing and encoding."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
    packed = gzip.compress(PAGE)
    return [
        head + _length(PAGE) + b"\r\n" + PAGE,
        head + b"Connection: close\r\n\r\n" + PAGE,
        head + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(PAGE),
        head + b"Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n" + chunked(PAGE)[:-2] + b"X: late\r\n\r\n",
        head + b"Content-Encoding: gzip\r\n" + _length(packed) + b"\r\n" + packed,
        head + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(packed),
        head + b"Content-Encoding: deflate\r\nConnection: close\r\n\r\n" + zlib.compress(PAGE),
        head + b"Content-Encoding: br\r\nConnection: close\r\n\r\n" + brotli.compress(PAGE),
        b"HTTP/1.1 100 Continue\r\n\r\n" + head + _length(PAGE) + b"\r\n" + PAGE,
        b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n" + PAGE,
        b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n" + _length(PAGE) + b"\r\n" + PAGE,
        b'HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm="r", nonce="n", qop="auth"\r\nContent-Length: 0\r\n\r\n',
    ]


def _length(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n" % len(body)


def chunked(body: bytes, size: int = 300) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def broken(chance: random.Random) -> bytes:
    """A well-made answer after one to four accidents, half of them in its head."""
    data = chance.choice(whole_answers())
    for _ in range(chance.randint(1, 4)):
        data = _accident(data, chance)
    return data


def _accident(data: bytes, chance: random.Random) -> bytes:
    head = data.find(b"\r\n\r\n") + 4
    size = head if chance.random() < 0.5 else len(data)
    start = chance.randrange(max(size, 1))
    end = min(start + chance.randint(1, 40), len(data))
    kind = chance.randrange(7)
    if kind == 0:
        return data[:start]  # cut off
    if kind == 1:
        return data[:start] + data[end:]
    if kind == 2:
        return data[:end] + data[start:end] * chance.randint(1, 5) + data[end:]
    if kind == 3:
        return data[:start] + bytes(chance.randrange(256) for _ in range(end - start)) + data[end:]
    if kind == 4:
        return data[:start] + bytes([chance.randrange(256)]) + data[start + 1 :]
    if kind == 5:
        return data[:start] + chance.choice(_TOKENS) + data[start:]
    line = data.find(b"\r\n", start) + 2
    return data[:line] + chance.choice(_TOKENS) + data[line:]  # a header more


def whole_body(data: bytes) -> bytes | None:
    """The page in these bytes; None when it did not come whole (or cannot be told)."""
    head, rest = _split(data)
    while re.match(rb"HTTP/[\d.]+ +1\d\d", head):
        head, rest = _split(rest)
    headers = _headers(head)
    body = _unframed(headers, rest)
    for encoding in reversed(headers.get("content-encoding", "").split(",")):
        body = _unpacked(encoding.strip().lower(), body)
    return body


def _split(data: bytes) -> tuple[bytes, bytes]:
    end = re.search(rb"\n\r*\n", data)
    return (data[: end.start()], data[end.end() :]) if end else (data, b"")


def _headers(head: bytes) -> dict[str, str]:
    """Repeated headers joined by commas; a folded line belongs to the one before it."""
    found: dict[str, str] = {}
    name = ""
    for line in re.split(rb"\r?\n", head)[1:]:
        text = line.decode("latin-1").replace("\0", "")
        if text[:1] in (" ", "\t") and name:
            found[name] += " " + text.strip()
            continue
        name, _, value = text.partition(":")
        name = name.lower()
        found[name] = f"{found[name]},{value.strip()}" if name in found else value.strip()
    return found


def _unframed(headers: dict[str, str], rest: bytes) -> bytes | None:
    codings = [coding.strip() for coding in headers.get("transfer-encoding", "").lower().split(",")]
    codings = [coding for coding in codings if coding not in ("", "identity")]  # which means: nothing more was done
    if codings and codings[-1] == "chunked":
        return _dechunked(rest)
    lengths = {text.strip() for text in headers.get("content-length", "").split(",") if text.strip()}
    numbers = {int(text) for text in lengths if re.fullmatch(r"\d+", text, re.ASCII)}
    if not numbers:
        return rest
    if len(numbers) > 1:
        return None
    size = numbers.pop()
    return rest[:size] if len(rest) >= size else None


def _dechunked(rest: bytes) -> bytes | None:
    pieces: list[bytes] = []
    while (size := re.match(rb"([0-9a-fA-F]{1,16})[^\n]*\n", rest)) is not None:
        length, rest = int(size[1], 16), rest[size.end() :]
        if length == 0:
            return b"".join(pieces) if re.match(rb"(?:[^\n]*[^\r\n][^\n]*\n)*\r?\n", rest) else None
        if len(rest) < length:
            return None
        pieces.append(rest[:length])
        rest = re.sub(rb"\A\r?\n", b"", rest[length:])
    return None


def _unpacked(encoding: str, body: bytes | None) -> bytes | None:
    try:
        if not body:
            return body
        if encoding in ("gzip", "x-gzip"):
            return _gunzipped(body)
        if encoding == "deflate":
            return (
                _inflated(body, 15)
                if body[0] & 15 == 8 and int.from_bytes(body[:2]) % 31 == 0
                else _inflated(body, -15)
            )
        return bytes(brotli.decompress(body)) if encoding == "br" else body
    except (zlib.error, brotli.error, EOFError):
        return None


def _inflated(body: bytes, bits: int) -> bytes | None:
    unpack = zlib.decompressobj(wbits=bits)
    data = unpack.decompress(body)
    return data if unpack.eof else None


def _gunzipped(body: bytes) -> bytes | None:
    data = b""
    while body.startswith(b"\x1f\x8b") or not data:
        unpack = zlib.decompressobj(wbits=31)
        data += unpack.decompress(body)
        if not unpack.eof:
            return None
        body = unpack.unused_data
        if not body:
            break
    return data
