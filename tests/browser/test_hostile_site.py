"""Threats T10 and T11 in a real browser: what a site says of itself is text on our pages, its stored copy is dead.

A whole house crawls and publishes a site whose every field is a payload. Whatever fires is a dialog, a request that
leaves, or a message of the console.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Error, Page

from tests.browser.screens import addresses, read_import
from tests.browser.visitor import Visitor
from tests.flow.conftest import fresh_house
from tests.flow.house import House
from tests.security.payloads import MARK, pages_to_keep, payloads
from tests.sites.misbehaving import Site, page, redirect

FIRED = "/fired"


def furnish(site: Site) -> None:
    """Pages whose title, metas, headings, links, types, errors, names and robots.txt are payloads."""
    bad = payloads(site.url(FIRED))
    site.pages["/robots.txt"] = page(f"User-agent: *\nDisallow: /forbidden\n# {bad[0]}", kind="text/plain")
    names = [f"/p/{number}" for number in range(len(bad))]
    for name, text in zip(names, bad, strict=True):
        said = escape(text)
        metas = "".join(f'<meta name="{said}" content="{said}">' for _ in range(2))
        links = f'<a href="javascript:alert(1)//{MARK}">{said}</a><a href="/p/x?{said}">{said}</a>'
        html = f"<html lang='{said}'><title>{said}</title>{metas}<h1>{said}</h1><p>{said} {MARK}</p>{links}"
        site.pages[name] = page(html)
    site.pages["/p/x"] = page(b"no", status=f"404 <script>alert(1)</script>{MARK}")
    site.pages["/p/r"] = redirect(f"/p/x?<script>alert('{MARK}')</script>")
    site.pages["/p/t"] = page("x", kind=f"text/{MARK}<script>alert(1)</script>")
    for number, (kind, body) in enumerate(pages_to_keep(site.url(FIRED))):
        site.pages[f"/k/{number}"] = page(body, kind=kind)
    all_of_them = [*names, "/p/r", "/p/t", "/forbidden", *(one for one in site.pages if one.startswith("/k/"))]
    site.pages["/"] = page(f"<title>Start {MARK}</title>" + "".join(f"<a href='{one}'>x</a>" for one in all_of_them))


@pytest.fixture(scope="module")
def hostile(chromium: Browser, prepared_folder: Any) -> Iterator[tuple[House, Site, dict[str, Any]]]:
    """The site crawled twice and published, and the web server; no worker is needed for that."""
    with Site() as site, fresh_house(prepared_folder) as house:
        furnish(site)
        house.env["CLEARINGHOUSE_ALLOWED_NETWORKS"] = f"127.0.0.1:{site.port}"
        house.manage("load_demo")
        bad = payloads(site.url(FIRED))
        document = house.manage("add_document", f"Measures {bad[2]}", "--project", f"Trial {bad[0]}")["doc_id"]
        point = house.manage("add_crawl_point", document, site.url("/"), "--depth", 3)
        house.manage("add_exclude_url", document, f"*{MARK}<svg onload=alert(1)>*")
        for _ in range(2):
            house.manage("crawl", "--doc", document, "--speed", "fast")
        house.manage("propagate")
        house.start_web()
        yield house, site, {"doc_id": document, "point_id": point["crawl_point_id"], "run_id": 2, "other_id": 1}


@contextmanager
def visitor(chromium: Browser, house: House) -> Iterator[tuple[Visitor, list[str]]]:
    """Somebody at a browser, and what fired."""
    one = Visitor(chromium, house, f"http://127.0.0.1:{house.port}")
    one.own = (f"http://127.0.0.1:{house.port}/",)  # not the site, for once
    fired: list[str] = []
    one.page.on("dialog", lambda dialog: _dismiss(dialog, fired))
    yield one, fired
    one.close()


def _dismiss(dialog: Dialog, fired: list[str]) -> None:
    fired.append(f"dialog {dialog.message}")
    dialog.dismiss()


def test_t10_no_screen_runs_a_word_of_a_hostile_site(
    chromium: Browser, hostile: tuple[House, Site, dict[str, Any]]
) -> None:
    house, site, known = hostile
    entries = house.rows("webcrawl", "SELECT id, url FROM ledger WHERE url LIKE '%/p/%' ORDER BY id")
    shown = house.rows("primary", "SELECT published_id, doc_crawl_page_id FROM published_version ORDER BY 1")
    with visitor(chromium, house) as (one, fired):
        one.sign_in("administrator")
        rows = {"entry_id": entries[0][0], "published_id": shown[0][0], "page_id": shown[0][1]}
        todo = addresses(known | rows | {"import_id": read_import(house, known["doc_id"], f"<svg {MARK}>,2")})
        todo = [address.replace("q=quality", f"q={MARK}").replace("w=quality", f"w={MARK}") for address in todo]
        todo += [f"/crawls/2/pages/{entry}/?show=metas" for entry, _ in entries[::9]]
        todo += [f"/crawls/2/pages/{entries[1][0]}/?show={part}" for part in ("source", "out", "in", "versions")]
        todo += [f"/search/?q={MARK}&page={number}" for number in (1, 2)]
        todo += [f"/search/result/{number}/" for number, _ in shown[:: len(shown) // 3]]
        opened = 0
        before = len(site.log)
        for address in dict.fromkeys(todo):
            answer = one.context.request.get(address)  # most screens show no word of the site: they need no browser
            if MARK in answer.text():
                opened += 1
                one.page.goto(address)
                one.page.mouse.move(400, 300)
                one.page.keyboard.press("Tab")
        assert (fired, one.problems) == ([], [])
        assert [asked.target for asked in site.log[before:]] == []
    assert opened > 40


def _copies(house: House) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Path on the site and where its copy is shown: to the public, and to who is signed in."""
    published = house.rows(
        "primary", "SELECT crawl_page_url, published_id FROM published_version WHERE crawl_page_url LIKE '%/k/%'"
    )
    entries = house.rows("webcrawl", "SELECT url, MAX(id) FROM ledger WHERE url LIKE '%/k/%' GROUP BY url")
    path = lambda url: "/" + url.split("/", 3)[3]  # noqa: E731
    public = [(path(url), f"/search/cached/{number}/") for url, number in published]
    return public, [(path(url), f"/crawls/2/pages/{number}/copy") for url, number in entries]


def _listen(tab: Page, heard: list[str]) -> None:
    tab.on("dialog", lambda dialog: _dismiss(dialog, heard))
    tab.on("requestfinished", lambda request: heard.append(f"asked {request.url}"))
    tab.on("popup", lambda popup: heard.append("a window"))


def _open(tab: Page, address: str) -> None:
    with suppress(Error):  # what is no page is downloaded
        tab.goto(address)
    tab.wait_for_timeout(40)  # for what comes a little later


def test_t11_a_stored_copy_does_nothing_where_the_page_itself_does(
    chromium: Browser, hostile: tuple[House, Site, dict[str, Any]]
) -> None:
    house, site, _ = hostile
    public, signed_in = _copies(house)
    assert len(public) == len(signed_in) >= 22
    home = f"http://127.0.0.1:{house.port}"
    with visitor(chromium, house) as (one, _), visitor(chromium, house) as (other, _):
        heard: list[str] = []
        _listen(other.page, heard)
        alive = []
        for path, _ in public[::2]:
            heard.clear()
            _open(other.page, site.url(path))
            alive += [path] if [what for what in heard if not what.endswith((path, "/favicon.ico"))] else []
        assert len(alive) >= 8, alive
        one.sign_in("administrator")
        before = len(site.log)
        fired: list[str] = []
        _listen(one.page, fired)
        for _, address in public + signed_in[::4]:
            _open(one.page, address)
            assert (one.page.url, fired) == (home + address, [f"asked {home}{address}"])
            fired.clear()
        assert [asked.target for asked in site.log[before:]] == []
