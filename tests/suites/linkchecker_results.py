"""linkchecker's pages with the results it expects of them: each link it finds must be one of ours.

Whether a link is alive, anchors and warnings are not judged: only which addresses a page leads to.
"""

import re
from html import unescape
from pathlib import Path

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse, resolve
from crawler.extract.charsets.charset import as_utf8, query_bytes
from crawler.extract.page_reader import read
from crawler.values import Extracted, Fetched, Request
from tests.suites import Result

NAME = "linkchecker: links of its pages"
FOLDER = "linkchecker"

_SITE = "http://localhost:8080/tests/checker/data/"
_TYPES = {".html": "text/html", ".xhtml": "application/xhtml+xml", ".xml": "application/xml"}
_URL = re.compile(r"^url (.*)$", re.MULTILINE)
_BASE = re.compile(r"^baseurl (.*)$", re.MULTILINE)
_TAG = re.compile(r"<\s*(\w+)[^>]*>", re.DOTALL)
_LEADING = {"a", "area", "frame", "iframe", "loc"}
_PARTS = "what a page is made of (pictures, sounds, scripts, styles, icons, applets) and forms do not lead to pages"


def run(folder: Path) -> Result:
    result = Result()
    for expected in sorted((folder / "tests/checker/data").rglob("*.result")):
        file = expected.with_suffix("")
        if file.suffix in _TYPES and file.is_file():
            _judge(file, expected.read_text(encoding="utf-8"), result)
    return result


def _judge(file: Path, expected: str, result: Result) -> None:
    url = f"{_SITE}{file.name}"
    address = parse(url)
    assert isinstance(address, Address)
    headers = [("content-type", _TYPES[file.suffix])]
    found = read(Fetched(Request(address.href, address), 200, headers, file.read_bytes()), address)
    assert isinstance(found, Extracted)
    page = unescape(as_utf8(file.read_bytes())[0].decode())
    ours = {_plain(link.url) for link in found.links}
    for block in expected.split("\n\n")[1:]:
        line, base = _URL.search(block), _BASE.search(block)
        written = line[1].replace("%%", "%").replace("%(port)d", "8080") if line else ""
        if not written or written not in page:
            continue  # of a page that this one leads to
        start = base[1].replace("file://%(curdir)s/%(datadir)s/", _SITE) if base else url
        theirs = _plain(resolve(start, query_bytes(written, found.charset)))
        if theirs not in ours and _leads_nowhere(written, page):
            result.differ(_PARTS)
        else:
            result.judge(f"{file.name} {written} in {sorted(ours)}", theirs in ours, True)


def _plain(address: str) -> str:
    """Without its fragment."""
    return address.partition("#")[0]


def _leads_nowhere(written: str, page: str) -> bool:
    """Does the address stand only in tags that lead to no page?"""
    tags = [match[1].lower() for match in _TAG.finditer(page) if written in match[0]]
    return bool(tags) and not _LEADING & set(tags)
