"""Threat T26: a document that names a file of ours, or an address, as one of its entities gets neither."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.extract import page_reader as reading
from crawler.values import Extracted, Fetched, Request
from tests import packages
from tests.sites.canary import Canary

WORDS = "C4n4ry-of-this-machine"
OFFICE = "application/vnd.openxmlformats-officedocument."
ODT = "application/vnd.oasis.opendocument.text"


class Kind(NamedTuple):
    """How a kind of document is written: what stands around its words, and what is sent."""

    before: str = "<x>"
    after: str = "</x>"
    sent: Callable[[str], bytes] = str.encode


WORD = f'<w:document xmlns:w="{packages.W}"><w:t>'
STRINGS = f'<sst xmlns="{packages.S}"><si><t>'
SLIDE = f'<p:sld xmlns:p="{packages.P}" xmlns:a="{packages.A}"><a:t>'
TEXT = f"<office:body {packages.ODF_SPACES}><text:p>"
KINDS = {
    "text/xml": Kind(),
    "application/rss+xml": Kind(),
    "application/xhtml+xml": Kind(),
    "text/html": Kind(),
    OFFICE + "wordprocessingml.document": Kind(
        WORD, "</w:t></w:document>", lambda part: packages.package("d.xml", {"d.xml": part})
    ),
    OFFICE + "spreadsheetml.sheet": Kind(STRINGS, "</t></si></sst>", lambda part: _with_strings(part)),
    OFFICE + "presentationml.presentation": Kind(
        SLIDE, "</a:t></p:sld>", lambda part: packages.slides([""], **{"slides/slide1": part})
    ),
    ODT: Kind(TEXT, "</text:p></office:body>", lambda part: packages.zipped({"content.xml": part})),
}


def _with_strings(part: str) -> bytes:
    cell = '<sheetData><row><c t="s"><v>0</v></c></row></sheetData>'
    return packages.sheets({" ": cell}, parts={"xl/strings.xml": part})


@pytest.fixture
def canary() -> Iterator[Canary]:
    canary = Canary()
    yield canary
    canary.close()


def attacks(kind: Kind, file: Path, canary: Canary) -> list[str]:
    """Documents that name a file, or an address, in every way there is."""
    there, before, after = f"http://127.0.0.1:{canary.port}/x", kind.before, kind.after
    include = '<i:include xmlns:i="http://www.w3.org/2001/XInclude"'
    return [
        f'<!DOCTYPE x [<!ENTITY a SYSTEM "{file.as_uri()}">]>{before}seen &a;{after}',
        f'<!-- {" " * 5_000} --><!DOCTYPE x [<!ENTITY a SYSTEM "{file.as_uri()}">]>{before}seen &a;{after}',
        f'<!DOCTYPE x [<!ENTITY a SYSTEM "{there}">]>{before}seen &a;{after}',
        f'<!DOCTYPE x SYSTEM "{there}">{before}seen{after}',
        f'<!DOCTYPE x [<!ENTITY % a SYSTEM "{there}">%a;]>{before}seen{after}',
        f'{before}{include} href="{file.as_uri()}" parse="text"/>{after}',
        f'{before}{include} href="{there}"/>{after}',
        f'<?xml-stylesheet type="text/xsl" href="{there}"?>{before}seen{after}',
        f'{before}<y xmlns:s="http://www.w3.org/2001/XMLSchema-instance" s:schemaLocation="u {there}"/>seen{after}',
    ]


def read(kind: str, text: str) -> Extracted:
    address = parse("http://a.org/d/page")
    assert isinstance(address, Address)
    body = KINDS[kind].sent(text)
    found = reading.read(Fetched(Request(address.href, address), 200, [("content-type", kind)], body), address)
    assert isinstance(found, Extracted)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_t26_no_document_reads_a_file_or_asks_anybody(kind: str, tmp_path: Path, canary: Canary) -> None:
    file = tmp_path / "canary.txt"
    file.write_text(WORDS)
    for attack in attacks(KINDS[kind], file, canary):
        found = read(kind, attack)
        assert WORDS not in f"{found.title} {found.text} {found.headings} {found.metas}", attack[:200]
    assert canary.visits == 0


@pytest.mark.parametrize("kind", KINDS)
def test_t26_what_brings_no_entities_is_read(kind: str) -> None:
    """The test above would pass for a reader that reads nothing."""
    assert read(kind, f"{KINDS[kind].before}seen{KINDS[kind].after}").text.strip() == "seen"
