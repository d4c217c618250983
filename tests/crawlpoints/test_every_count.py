"""Every count on the screens of documents opens as many rows as it says: after real crawls, for real people."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urljoin

import pytest
from django.test import Client
from django.urls import reverse

from clearinghouse.accounts.models import Role
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawlpoints import services
from tests.crawler.conftest import crawl
from tests.people import make_person
from tests.sites.graph import Page, Site, serve

pytestmark = pytest.mark.django_db(databases="__all__")
DOOR = re.compile(r'<a class="n[^"]*" href="([^"]+)">(.*?)</a>', re.DOTALL)
PAGES = {
    "/robots.txt": Page(body=b"", type="text/plain"),
    "/a/": Page(["1", "2", "gone", "print/1", "print/2", "print/x/3", "/out/"]), "/a/1": Page(["2"]), "/a/2": Page(),
    "/a/gone": Page(status=404, body=b"none"),
    "/b/": Page(["1", "old"]), "/b/1": Page(), "/b/old": Page(status=301, location="/b/1"),
    "/c/": Page(["/a/1", "lost"]), "/c/lost": Page(status=500, body=b"none"),
}  # fmt: skip


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(PAGES) as one:
        yield one


@pytest.fixture
def crawled_together(document: Document, project: Any, editor: Any, site: Site) -> Document:
    """Two crawl points that share nothing, beside a document whose crawl points share pages."""
    for folder in ("/a/", "/b/"):
        services.add_crawl_point(document, {"url": site.url(folder), "root": site.url(folder), "depth": 3})
    services.add_exclude_url(document, site.url("/a/print/*"))
    services.add_exclude_url(document, site.url("/a/print/x/*"))
    overlapping = library.add_document("Overlapping", project=project.name)
    for folder in ("/a/", "/c/"):
        services.add_crawl_point(overlapping, {"url": site.url(folder), "root": site.url("/"), "depth": 2})
    library.assign(overlapping, editor)
    assert crawl(document, overlapping).state == "finished"
    return document


def counts_of(browser: Client, path: str) -> list[tuple[str, str]]:
    """The doors of a page, each with what it says."""
    page = browser.get(path).content.decode()
    doors = [(urljoin(path, unescape(door)), re.sub(r"<[^>]+>", "", text).strip()) for door, text in DOOR.findall(page)]
    return [(door, text) for door, text in doors if re.match(r"\d", text) and "#" not in door]


def rows_behind(browser: Client, door: str) -> int:
    context = browser.get(door).context
    if context.get("page") is not None:
        return int(context["page"].paginator.count)
    return len(context["rows"] if "/crawl-points/" in door else context["excludes"])


def test_every_count_equals_the_rows_behind_it_and_is_a_door_only_where_they_can_be_listed(
    crawled_together: Document, signed_in: Any, editor: Any, reader: Any, project: Any
) -> None:
    for person in (editor, reader):
        all_doors(signed_in(person))
    doors_of_crawl_points(signed_in(editor), crawled_together)
    no_doors_to_runs(signed_in(make_person("colleague", Role.DEVELOPER, project)), crawled_together)


def all_doors(browser: Client) -> None:
    screens, checked = ["/documents/?view=all", "/crawl-points/"], 0
    for document in Document.objects.all():
        names = ("document", "crawl-points", "document-runs", "exclude-urls")
        screens += [reverse(name, args=[document.pk]) for name in names]
        screens.append(reverse("document-pages", args=[document.pk]) + "?view=tree")
    for screen in screens:
        for door, text in counts_of(browser, screen):
            number = int(re.findall(r"\d+", text)[-1])
            assert rows_behind(browser, door) == number, (screen, door, text)
            checked += 1
    assert checked > 40


def doors_of_crawl_points(browser: Client, document: Document) -> None:
    """Pages that two crawl points reach count for both, and the ledger names the nearer one only."""
    doors = counts_of(browser, reverse("crawl-points", args=[document.pk]))
    assert [text for door, text in doors if "point=" in door] == ["3 pages", "1 error", "2 pages"]
    assert [text for door, text in doors if "rule=" in door] == ["3"]
    shared = reverse("crawl-points", args=[Document.objects.exclude(pk=document.pk).get().pk])
    assert not [door for door, _ in counts_of(browser, shared) if "point=" in door and "pages" in door]
    assert "4 pages" in browser.get(shared).content.decode()


def no_doors_to_runs(browser: Client, document: Document) -> None:
    """For somebody who sees the document, but not its runs."""
    paths = [reverse(name, args=[document.pk]) for name in ("document", "crawl-points", "exclude-urls")]
    for path in ("/documents/?view=all", "/crawl-points/", *paths):
        page = browser.get(path)
        assert page.status_code == 200
        assert not re.findall(r'href="(/crawls/\d+[^"]*)"', page.content.decode()), path
