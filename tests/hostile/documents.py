"""HTML and XML broken at random, read as the crawler reads pages."""

import multiprocessing
import random
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.extract import page_reader as reading
from crawler.values import Extracted, Fetched, Request
from tests.hostile.bombs import memory_at_most

SECONDS_A_MEGABYTE = 2.0
_AT_LEAST = 0.25  # seconds that any page may take: a busy machine looks elsewhere for as long
LARGEST = 400_000  # bytes
_HTML = b"""<!DOCTYPE html><html lang=en><head><meta charset="utf-8"><title>A page &amp; more</title>
<base href="http://a.org/d/"><meta name="description" content="caf\xc3\xa9"><meta name=robots content="index,follow">
<link rel="canonical" href="/c"><link rel=next href="2"><meta http-equiv="refresh" content="5; url=/r">
<style>p > a { color: red }</style><script>if (a < b) document.write("<a href='/no'>no</a>")</script></head>
<body><h1>Head<b>ing</b></h1><!-- a comment --><p>Text with <a href="x?a=1&amp;b=2" rel="nofollow">a link</a> and
<a href='../y'>another <img src=i.png alt="one"></a><table><tr><td>1<td>2</table><map><area href=z alt=Z></map>
<iframe src="f.html"></iframe><noscript><a href=n>n</a></noscript><svg><a href="s">s</a></svg><math><mi>x</mi></math>
<template><a href=t>t</a></template><select><option>o</select><textarea><a href=u>u</a></textarea><br/></body></html>"""
_XML = [
    b'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>'
    b"http://a.org/1?a=1&amp;b=2</loc><lastmod>2020-01-01</lastmod></url><url><loc>/2</loc></url></urlset>",
    b'<rss version="2.0"><channel><title>Feed</title><link>/</link><item><title>One</title><link>/1</link>'
    b"<description><![CDATA[<p>Bold <b>words</b></p>]]></description></item></channel></rss>",
    b'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://a.org/f/"><title>F</title>'
    b'<entry><link rel="alternate" href="1"/><content type="html">&lt;p&gt;x&lt;/p&gt;</content></entry></feed>',
    b'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head><body><a href="x">x</a></body></html>',
]
_TOKENS = [
    b"<", b">", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<!DOCTYPE x [<!ENTITY a \"b\">]>", b"&a;", b"&#0;",
    b"&#xD800;", b"&#x110000;", b"&notit;", b"<?xml version='1.0' encoding='utf-16'?>", b'"', b"'", b"\0", b"\xff\xfe",
    b"\xed\xa0\x80", b"\xef\xbf\xbf", b"<base href='http://[::'>", b"<a href='java\tscript:x'>", b"<a href=\"http://a:99999/\">",
    b"<meta charset=utf-7>", b"<meta charset=utf-16>", b"<plaintext>", b"<frameset><frame src=x>", b"<table><table>",
    b"<svg><![CDATA[<a href=x>]]>", b"<a href=" + b"x" * 5_000 + b">", b"<isindex>", b"<p " + b"a=1 " * 600 + b">",
    b"<meta http-equiv=refresh content='99999999999999999999;url=x'>", "\u202e\U0001f600".encode(), b"<image>", b"\r",
]  # fmt: skip
_KINDS = [
    "text/html", "text/html; charset=utf-8", "text/html; charset=nonsense", "text/html; charset=utf-16",
    "application/xhtml+xml", "",
]  # fmt: skip


@dataclass
class Figures:
    read: int = 0
    size: int = 0
    seconds: float = 0.0
    slowest: float = 0.0  # seconds for a megabyte, of pages worth measuring
    kinds: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    memory: int = 0  # bytes, of the process that took most

    def take(self, other: "Figures") -> None:
        self.read, self.size, self.seconds = (
            self.read + other.read,
            self.size + other.size,
            self.seconds + other.seconds,
        )
        self.slowest, self.memory = max(self.slowest, other.slowest), max(self.memory, other.memory)
        self.kinds += other.kinds
        self.faults += other.faults

    def table(self) -> str:
        kinds = ", ".join(f"{count} {name}" for name, count in self.kinds.most_common())
        return (
            f"{self.read} broken documents, {self.size / 1e6:.1f} MB in {self.seconds:.1f} s, the slowest "
            f"{self.slowest:.2f} s for a megabyte\n{kinds}"
        )


def read_by_many(count: int, seed: int, seconds: float, processes: int) -> Figures:
    """Each process reads its share; what their memory came to is that of the largest."""
    shares = [(range(number, count, processes), seed, seconds) for number in range(processes)]
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        parts = pool.starmap(read_broken_documents, shares)
    whole = Figures()
    for part in parts:
        whole.take(part)
    return whole


def read_broken_documents(numbers: Iterable[int], seed: int = 1, seconds: float = 1e9) -> Figures:
    figures, deadline = Figures(), time.monotonic() + seconds
    _read("first", b"\xe9", "text/html", Figures())  # loads what is loaded when it is needed
    for number in numbers:
        if time.monotonic() > deadline:
            break
        chance = random.Random(f"{seed}-{number}")
        markup = chance.random() < 0.6
        data = broken(_HTML if markup else chance.choice(_XML), chance)
        kind = chance.choice(_KINDS if markup else ["application/xml", "application/rss+xml", "text/xml", ""])
        _read(f"{seed}-{number}", data, kind, figures)
    figures.memory = memory_at_most()
    return figures


def broken(data: bytes, chance: random.Random) -> bytes:
    """A document after one to eight accidents; some grow by a thousand times."""
    for _ in range(chance.randint(1, 8)):
        start = chance.randrange(len(data) or 1)
        end = min(start + chance.randint(1, 60), len(data))
        kind = chance.randrange(7)
        if kind == 0:
            data = data[:start] + data[end:]
        elif kind == 1:
            times = chance.choice([2, 3, 10, 100, 1_000, 5_000])
            data = data[:start] + data[start:end] * min(times, LARGEST // (end - start or 1)) + data[end:]
        elif kind == 2:
            data = data[:start] + bytes(chance.randrange(256) for _ in range(end - start)) + data[end:]
        elif kind == 3:
            data = data[:start]
        elif kind == 4:
            data = data[start:]
        else:
            data = data[:start] + chance.choice(_TOKENS) * chance.choice([1, 1, 1, 3, 300]) + data[start:]
    return data[:LARGEST]


def _read(name: str, data: bytes, kind: str, figures: Figures) -> None:
    address = parse("http://a.org/d/page")
    assert isinstance(address, Address)
    headers = [("content-type", kind)] if kind else []
    begun = time.process_time()
    try:
        found = reading.read(Fetched(Request(address.href, address), 200, headers, data), address)
        if isinstance(found, Extracted):
            _storable(found)
        figures.kinds[found.extension if isinstance(found, Extracted) else found.reason] += 1
    except Exception:  # noqa: BLE001 — whatever escapes is the fault looked for
        figures.faults.append(f"{name}: {traceback.format_exc(limit=-3)}")
    seconds = time.process_time() - begun
    figures.read, figures.size, figures.seconds = figures.read + 1, figures.size + len(data), figures.seconds + seconds
    if len(data) > LARGEST // 4:
        figures.slowest = max(figures.slowest, seconds * 1e6 / len(data))
    if seconds > max(_AT_LEAST, SECONDS_A_MEGABYTE * len(data) / 1e6):
        figures.faults.append(f"{name}: {seconds:.2f} s for {len(data)} bytes")


def _storable(page: Extracted) -> None:
    """Every text of a page must be one a database takes; a link's raw text is packed, and comes back as it was."""
    texts = [
        page.title,
        page.text,
        page.headings,
        page.language,
        page.canonical,
        *(t for row in page.metas for t in row),
    ]
    for text in texts:
        if "\0" in text:
            raise ValueError("NUL in a text")
        text.encode()
