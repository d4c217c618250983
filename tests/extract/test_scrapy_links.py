"""Links of the pages Scrapy tests its extractor with, under equal options.

Our reader has none of these options: it keeps every link of a page. What filters addresses is applied to its links.
What chooses elements or attributes is applied to the page before our reader sees it: the chosen ones become plain
links of an otherwise empty page, with its base and in its charset, and nothing is resolved or decoded on the way.
"""

import base64
import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from bs4 import BeautifulSoup
from lxml import etree

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse, resolve
from crawler.extract import page_reader as page
from crawler.values import Extracted, Fetched, Link, Request
from tests import vectors
from tests.proves import proves

Row = dict[str, Any]
_CHOOSES_ELEMENTS = {"restrict_xpaths", "restrict_css", "tags", "attrs", "deny_tags", "deny_attrs", "process_value"}
_IGNORED_ENDINGS = ["jpg"]  # of its long list of endings the only one in these pages; we ask the server for the type


@proves("E16")
def test_links_of_scrapy_under_equal_options() -> None:
    rows = vectors.cases("scrapy", "linkextractor.json")
    for row in rows:
        assert ours(row) == theirs(row), row["test"]
    assert len(rows) == 59


def theirs(row: Row) -> Counter[str]:
    return _counted(row, [resolve(row["url"], link["url"]) for link in row["links"]])


def ours(row: Row) -> Counter[str]:
    address = parse(row["url"])
    assert isinstance(address, Address)
    body = base64.b64decode(row["body_b64"])
    if row["extractor"].keys() & _CHOOSES_ELEMENTS:
        chosen = _chosen_elements(body.decode(row["encoding"]), row["extractor"])
        body = chosen.encode(row["encoding"], "xmlcharrefreplace")
    kind = f"text/html; charset={row['encoding']}"
    found = page.read(Fetched(Request(row["url"], address), 200, [("content-type", kind)], body), address)
    assert isinstance(found, Extracted)
    return _counted(row, [link.url for link in found.links if _chosen_address(row["extractor"], link)])


def _counted(row: Row, urls: list[str]) -> Counter[str]:
    """The web addresses of a list; each once, unless the options keep repetitions."""
    urls = [url for url in urls if isinstance(parse(url), Address)]
    if row["extractor"].get("canonicalize"):
        urls = [_sorted_query(url) for url in urls]
    return Counter(urls if row["extractor"].get("unique") is False else set(urls))


def _sorted_query(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(query=urlencode(sorted(parse_qsl(parts.query)))).geturl()


def _chosen_address(options: Row, link: Link) -> bool:
    def some(name: str, test: Any) -> bool:
        return any(test(value) for value in _words(options.get(name) or []))

    if not isinstance(parse(link.url), Address):
        return False
    host, ending = link.url.split("/")[2], link.url.rpartition(".")[2]
    return (
        ("allow" not in options or some("allow", lambda value: re.search(value, link.url)))
        and not some("deny", lambda value: re.search(value, link.url))
        and ("allow_domains" not in options or some("allow_domains", host.endswith))
        and not some("deny_domains", host.endswith)
        and ("restrict_text" not in options or some("restrict_text", lambda value: re.search(value, link.anchor)))
        and ending not in options.get("deny_extensions", _IGNORED_ENDINGS)
    )


def _chosen_elements(page: str, options: Row) -> str:
    """A page of the chosen elements alone."""
    root = etree.HTML(page)
    base = "".join(etree.tostring(found, encoding="unicode", with_tail=False) for found in root.iter("base"))
    links = "".join(_as_links(element, options) for region in _regions(root, page, options) for element in region)
    return f"<head>{base}</head><body>{links}</body>"


def _regions(root: Any, page: str, options: Row) -> Iterator[Any]:
    """The parts of the page in which links are looked for, with everything in them."""
    paths, selectors = _words(options.get("restrict_xpaths", [])), _words(options.get("restrict_css", []))
    if not paths and not selectors:
        yield root.iter(etree.Element)
    for path in paths:
        yield from (found.iter(etree.Element) for found in root.xpath(path))
    soup = BeautifulSoup(page, "lxml")
    for selector in selectors:
        yield from (etree.HTML(str(found)).iter(etree.Element) for found in soup.select(selector))


def _as_links(element: Any, options: Row) -> str:
    tags, names = _words(options.get("tags", ["a", "area"])), _words(options.get("attrs", ["href"]))
    if not _one_of(element.tag, tags) or _one_of(element.tag, _words(options.get("deny_tags", []))):
        return ""
    text = "".join(element.itertext())
    values = [
        value
        for name, value in element.items()
        if _one_of(name, names) and not _one_of(name, _words(options.get("deny_attrs", [])))
    ]
    if "process_value" in options:  # the function of that test
        values = [match[1] for value in values if (match := re.search(r"javascript:goToPage\('(.*?)'", value))]
    return "".join(f'<a href="{escape(value)}">{escape(text)}</a>' for value in values)


def _one_of(name: str, wanted: list[str]) -> bool:
    return "*" in wanted or name in wanted


def _words(value: str | list[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else value or []
