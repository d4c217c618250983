"""Threat T26: a document that names a file of ours, or an address, as one of its entities gets neither."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clearinghouse.addresses import Address
from clearinghouse.addresses.parse import parse
from crawler.extract import page as reading
from crawler.values import Extracted, Fetched, Request
from tests.sites.canary import Canary

WORDS = "C4n4ry-of-this-machine"
OFFICE = "application/vnd.openxmlformats-officedocument."
ODT = "application/vnd.oasis.opendocument.text"
ZIPPED = {  # type, and the part that is read first
    OFFICE + "wordprocessingml.document": "word/document.xml",
    OFFICE + "spreadsheetml.sheet": "xl/sharedStrings.xml",
    OFFICE + "presentationml.presentation": "ppt/slides/slide1.xml",
    ODT: "content.xml",
}
KINDS = ("text/xml", "application/rss+xml", "application/xhtml+xml", "text/html", *ZIPPED)


@pytest.fixture
def canary() -> Iterator[Canary]:
    canary = Canary()
    yield canary
    canary.close()


@pytest.fixture
def attacks(tmp_path: Path, canary: Canary) -> list[str]:
    file = tmp_path / "canary.txt"
    file.write_text(WORDS)
    there = f"http://127.0.0.1:{canary.port}/x"
    return [
        f'<!DOCTYPE x [<!ENTITY a SYSTEM "{file.as_uri()}">]><x>seen &a;</x>',
        f'<!-- {" " * 5_000} --><!DOCTYPE x [<!ENTITY a SYSTEM "{file.as_uri()}">]><x>seen &a;</x>',
        f'<!DOCTYPE x [<!ENTITY a SYSTEM "{there}">]><x>seen &a;</x>',
        f'<!DOCTYPE x SYSTEM "{there}"><x>seen</x>',
        f'<!DOCTYPE x [<!ENTITY % a SYSTEM "{there}">%a;]><x>seen</x>',
        f'<x xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="{file.as_uri()}" parse="text"/></x>',
        f'<x xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="{there}"/></x>',
        f'<?xml-stylesheet type="text/xsl" href="{there}"?><x>seen</x>',
        f'<x xmlns:s="http://www.w3.org/2001/XMLSchema-instance" s:schemaLocation="u {there}">seen</x>',
    ]


def zipped(part: str, text: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(part, text)
    return stream.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_t26_no_document_reads_a_file_or_asks_anybody(kind: str, attacks: list[str], canary: Canary) -> None:
    address = parse("http://a.org/d/page")
    assert isinstance(address, Address)
    for attack in attacks:
        body = zipped(ZIPPED[kind], attack) if kind in ZIPPED else attack.encode()
        found = reading.read(Fetched(Request(address.href, address), 200, [("content-type", kind)], body), address)
        assert isinstance(found, Extracted)
        assert WORDS not in f"{found.title} {found.text} {found.headings} {found.metas}", attack[:200]
    assert canary.visits == 0


@pytest.mark.parametrize("kind", KINDS)
def test_t26_what_brings_no_entities_is_read(kind: str) -> None:
    """The test above would pass for a reader that reads nothing."""
    address = parse("http://a.org/d/page")
    assert isinstance(address, Address)
    body = zipped(ZIPPED[kind], "<x>seen</x>") if kind in ZIPPED else b"<x>seen</x>"
    found = reading.read(Fetched(Request(address.href, address), 200, [("content-type", kind)], body), address)
    assert isinstance(found, Extracted) and found.text.strip() == "seen"
