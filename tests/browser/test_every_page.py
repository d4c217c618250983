"""Every page a role can reach by links: no error, no console message. That each fits a narrow screen: test_axe."""

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import urljoin, urlsplit

from tests.browser.visitor import Visitor

NARROW = {"width": 320, "height": 640}
LINK = re.compile(r'<a\b[^>]*\shref="([^"]*)"')
Opened = tuple[str, list[str]]  # where it led, the links of the page
LEFT_OUT = re.compile(r"^/(?:sign-out|settings/admin|static)|\.(?:csv|jsonl?|xml|atom)$|/cached/|/copy$|/source")


def kind_of(address: str) -> str:
    """Pages that differ only in numbers and queries are of one kind."""
    return re.sub(r"\d+", "N", urlsplit(address).path)


def walk(visitor: Visitor, start: str, opened: Callable[[Visitor, str], Opened]) -> list[str]:
    """Visit one page of each kind, as far as links lead; the addresses seen."""
    waiting, seen = [start], {kind_of(start)}
    visited = []
    while waiting:
        path = waiting.pop(0)
        here, links = opened(visitor, path)
        visited.append(path)
        for link in links:
            address = urlsplit(urljoin(here, link))
            path = address.path + (f"?{address.query}" if address.query else "")
            ours = address.netloc == urlsplit(here).netloc
            if ours and not LEFT_OUT.search(address.path) and kind_of(path) not in seen:
                seen.add(kind_of(path))
                waiting.append(path)
    return visited


def shown(visitor: Visitor, path: str) -> Opened:
    """Opened as a person does; the links are asked for in one question, because each by itself takes long."""
    visitor.page.goto(path)
    links = visitor.page.locator("a[href]").evaluate_all("found => found.map(link => link.getAttribute('href'))")
    return visitor.page.url, links


def fetched(visitor: Visitor, path: str) -> Opened:
    """Only asked for, with the cookies of the person."""
    answer = visitor.page.request.get(path)
    if answer.status >= 400:
        visitor.problems.append(f"status {answer.status}: {answer.url}")
    return answer.url, [unescape(link) for link in LINK.findall(answer.text())]


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
        # Scripts and styles speak up for who sees least; for the administrator every page is opened by test_axe.
        pages[role] = walk(visitor, "/", shown if role == "indexer" else fetched)
    assert len(pages["administrator"]) > len(pages["developer"]) > 10
    assert "/propagation/" not in pages["developer"]


def test_public_pages_open_without_an_account(visit, busy_house):
    visitor = visit()
    visited = walk(visitor, "/search/?q=quality", shown)
    assert any("/search/result/" in path for path in visited)
    assert too_wide(visitor, visited) == []
