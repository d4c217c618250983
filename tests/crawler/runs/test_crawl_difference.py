"""How a crawl differs from the one before it: new, changed, unchanged, moved, gone."""

from datetime import UTC, datetime

import pytest

from clearinghouse.database.digests import digest_of
from crawler.models import Excursion, PageVersion, Run
from crawler.policy.crawl_difference import ComparedPage, CrawlDifference, compare
from crawler.runs.crawl_changes import changes_of, last_modified
from crawlpoints.models import CrawlPoint
from crawlpoints.queries import excludes_of
from crawlpoints.services import add_exclude_url, delete_exclude_url
from tests.crawler.conftest import crawl, make_document
from tests.sites.graph import Page, Site, html, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
A, B, C, D = b"a", b"b", b"c", b"d"


def test_every_stored_page_is_new_changed_or_unchanged() -> None:
    now = {A: ComparedPage(b"1"), B: ComparedPage(b"2", b"1"), C: ComparedPage(b"3", b"3")}
    assert compare(now, {}, set(), {}) == CrawlDifference(new={A}, changed={B}, unchanged={C})


def test_a_page_whose_address_leads_to_a_new_page_has_moved() -> None:
    now = {C: ComparedPage(b"1")}
    assert compare(now, {A: b"0"}, {A}, {A: B, B: C}) == CrawlDifference(moved={A: C})
    assert compare({C: ComparedPage(b"1", b"1")}, {A: b"0"}, {A}, {A: C}) == CrawlDifference(unchanged={C}, gone={A})
    assert compare(now, {A: b"0"}, {A}, {A: B, B: A}) == CrawlDifference(new={C}, gone={A})


def test_the_same_content_at_a_new_address_has_moved_and_each_new_page_takes_one_old() -> None:
    now = {C: ComparedPage(b"1"), D: ComparedPage(b"2")}
    assert compare(now, {A: b"1", B: b"1"}, {A, B}, {}) == CrawlDifference(new={D}, moved={A: C}, gone={B})


def changes(run: Run, site: Site) -> dict[str, object]:
    """Paths instead of keys, what is empty left out."""
    names = {digest_of(site.url(path)): path for path in [*site.pages, "/gone", "/old", "/a", "/b", "/c"]}
    found = changes_of(Excursion.objects.get(run=run))
    sets = {name: {names[key] for key in getattr(found, name)} for name in ("new", "changed", "unchanged", "gone")}
    shown: dict[str, object] = sets | {"moved": {names[old]: names[new] for old, new in found.moved.items()}}
    return {name: value for name, value in shown.items() if value}


def test_two_crawls_of_a_site_that_changed_in_every_way() -> None:
    body = html("Annual report", ["/"])
    pages = {
        "/": Page(["/same", "/edit", "/gone", "/old", "/report-1"]),
        "/same": Page(), "/edit": Page(), "/gone": Page(), "/old": Page(), "/report-1": Page(body=body),
    }  # fmt: skip
    with serve(pages) as site:
        document = make_document({"url": site.url("/")})
        first = crawl(document)
        assert changes(first, site) == {"new": {"/", "/same", "/edit", "/gone", "/old", "/report-1"}}
        site.pages |= {
            "/": Page(["/same", "/edit", "/gone", "/old", "/report-2", "/more"]),
            "/edit": Page(["/"]), "/gone": Page(status=404), "/old": Page(status=301, location="/fresh"),
            "/fresh": Page(), "/report-2": Page(body=body), "/more": Page(),
        }  # fmt: skip
        second = crawl(document)
        expected = {
            "new": {"/more"}, "changed": {"/", "/edit"}, "unchanged": {"/same"}, "gone": {"/gone"},
            "moved": {"/old": "/fresh", "/report-1": "/report-2"},
        }  # fmt: skip
        assert changes(second, site) == expected
        kept = Excursion.objects.get(run=second).tallies["change"]
        assert kept == {"new": 1, "changed": 2, "unchanged": 1, "moved": 2, "gone": 1}
        third = crawl(document)
        unchanged = {"/", "/edit", "/same", "/fresh", "/report-2", "/more"}
        assert changes(third, site) == {"unchanged": unchanged}


def test_a_page_that_failed_in_passing_is_not_gone_and_neither_are_those_behind_it() -> None:
    with serve({"/": Page(["/a"]), "/a": Page(["/b"]), "/b": Page(["/c"]), "/c": Page()}) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        site.pages["/a"] = Page(status=501)
        assert changes(crawl(document), site) == {"unchanged": {"/"}}
        site.pages["/a"] = Page(["/b"])
        assert changes(crawl(document), site) == {"unchanged": {"/", "/a", "/b", "/c"}}


def test_pages_that_a_crawl_took_away_are_new_in_the_one_that_brings_them_back() -> None:
    with serve({"/": Page(["/a"]), "/a": Page(["/b"]), "/b": Page()}) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        add_exclude_url(document, site.url("/a"))
        assert changes(crawl(document), site) == {"unchanged": {"/"}, "gone": {"/a", "/b"}}
        delete_exclude_url(excludes_of(document).get())
        assert changes(crawl(document), site) == {"unchanged": {"/"}, "new": {"/a", "/b"}}


def test_what_a_limit_kept_from_being_reached_is_not_gone() -> None:
    with serve({"/": Page(["/a", "/b"]), "/a": Page(), "/b": Page()}) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        CrawlPoint.objects.update(max_pages=1)
        run = crawl(document)
        assert run.state == "finished_at_limit"
        assert "gone" not in changes(run, site)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Wed, 11 Nov 2026 10:00:00 GMT", datetime(2026, 11, 11, 10, tzinfo=UTC)),
        ("Wednesday, 11-Nov-26 10:00:00 GMT", datetime(2026, 11, 11, 10, tzinfo=UTC)),
        ("Wed Nov 11 10:00:00 2026", datetime(2026, 11, 11, 10, tzinfo=UTC)),
        ("Wed, 11 Nov 2026 10:00:00 +0200", datetime(2026, 11, 11, 8, tzinfo=UTC)),
        ("", None), ("yesterday", None), ("0", None), ("Wed, 99 Nov 2026 10:00:00 GMT", None),
        ("Wed, 11 Nov 99999 10:00:00 GMT", None), ("-1", None),
    ],
)  # fmt: skip
def test_when_a_page_was_last_modified_is_what_its_site_said(said: str, expected: datetime | None) -> None:
    assert last_modified(PageVersion(last_modified=said)) == expected
