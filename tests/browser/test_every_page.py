"""Every page a role can reach by links: no error, no console message. That each fits a narrow screen: test_axe."""

import re
from urllib.parse import urljoin, urlsplit

from tests.browser.visitor import Visitor

NARROW = {"width": 320, "height": 640}
LEFT_OUT = re.compile(r"^/(?:sign-out|settings/admin|static)|\.(?:csv|jsonl?|xml|atom)$|/cached/|/copy$|/source")


def kind_of(address: str) -> str:
    """Pages that differ only in numbers and queries are of one kind."""
    return re.sub(r"\d+", "N", urlsplit(address).path)


def walk(visitor: Visitor, start: str = "/") -> list[str]:
    """Visit one page of each kind, as far as links lead; the addresses seen."""
    page = visitor.page
    waiting, seen = [start], {kind_of(start)}
    visited = []
    while waiting:
        path = waiting.pop(0)
        page.goto(path)
        visited.append(path)
        # In one question: asking each link by itself took most of the time of this test.
        for link in page.locator("a[href]").evaluate_all("found => found.map(link => link.getAttribute('href'))"):
            address = urlsplit(urljoin(page.url, link))
            path = address.path + (f"?{address.query}" if address.query else "")
            ours = address.netloc == urlsplit(page.url).netloc
            if ours and not LEFT_OUT.search(address.path) and kind_of(path) not in seen:
                seen.add(kind_of(path))
                waiting.append(path)
    return visited


def too_wide(visitor: Visitor, paths: list[str]) -> list[str]:
    visitor.page.set_viewport_size(NARROW)
    wide = []
    for path in paths:
        visitor.page.goto(path)
        needed = visitor.page.evaluate("document.documentElement.scrollWidth")
        if needed > NARROW["width"]:
            wide.append(f"{path} needs {needed} pixels")
    return wide


def test_every_page_of_every_role_opens_without_trouble(visit, busy_house):
    pages = {}
    for role in ("administrator", "manager", "developer", "indexer"):
        visitor = visit()
        visitor.sign_in(role)
        pages[role] = walk(visitor)
    assert len(pages["administrator"]) > len(pages["developer"]) > 10
    assert "/propagation/" not in pages["developer"]


def test_public_pages_open_without_an_account(visit, busy_house):
    visitor = visit()
    visited = walk(visitor, "/search/?q=quality")
    assert any("/search/result/" in path for path in visited)
    assert too_wide(visitor, visited) == []
