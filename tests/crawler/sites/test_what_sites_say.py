"""What a site says beside its pages and is kept: validators of unchanged pages, cookies it wants to see again."""

from collections.abc import Callable

import pytest

from crawler import extract
from crawler.engine import message_queue
from crawler.ledger.ledger_check import faults
from crawler.models import LedgerEntry, PageHead, PageVersion, Run
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve
from tests.sites.misbehaving import Answer, Asked, Site, page

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
MONDAY, TUESDAY = "Mon, 09 Nov 2026 10:00:00 GMT", "Tue, 10 Nov 2026 10:00:00 GMT"


# -- validators -------------------------------------------------------------------------------------------------


@proves("rule 15")
def test_an_unchanged_page_that_got_new_validators_is_asked_for_with_these(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve({"/": Page(headers={"ETag": '"1"', "Last-Modified": MONDAY})}) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        site.pages["/"] = Page(headers={"ETag": '"2"', "Last-Modified": TUESDAY})
        assert ledger(crawl(document)) == {"/": "unchanged"}
        key = PageHead.objects.get().url_key
        assert message_queue.previous_versions(document.pk, [key])[key].etag == '"2"'
        site.pages["/"] = Page(status=304)
        third = crawl(document)
        sent = dict(site.seen)["/"]
        assert (sent["if-none-match"], sent["if-modified-since"]) == ('"2"', TUESDAY)
        assert ledger(third) == {"/": "unchanged"} and PageVersion.objects.count() == 1
        monkeypatch.setattr(extract, "EXTRACTOR", extract.EXTRACTOR + 1)
        crawl(document)
        newest = PageVersion.objects.latest("id")
        assert (newest.etag, newest.last_modified) == ('"2"', TUESDAY), "read again on a 304: the newest are kept"
        assert faults(third) == []


@proves("rule 15")
def test_a_changed_page_is_asked_for_with_its_own_validators() -> None:
    with serve({"/": Page(headers={"ETag": '"1"'})}) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        site.pages["/"] = Page(headers={"ETag": '"2"'})
        crawl(document)
        site.pages["/"] = Page(["/"], headers={"ETag": '"3"'})
        crawl(document)
        head = PageHead.objects.get()
        assert message_queue.previous_versions(document.pk, [head.url_key])[head.url_key].etag == '"3"'
        crawl(document)
        assert dict(site.seen)["/"]["if-none-match"] == '"3"'


# -- cookies ----------------------------------------------------------------------------------------------------


def wall(asked: Asked) -> Answer:
    """Lets nobody in who brings no cookie, wherever he comes in."""
    if "seen=1" in asked.headers.get("cookie", ""):
        return page("".join(f"<a href=/{n}>x</a>" for n in range(12)))(asked)
    cookie = "Set-Cookie: seen=1; Path=/"
    return page("", f"Location: {asked.target}", cookie, status="302 Found")(asked)


@proves("D27")
def test_a_site_that_wants_to_see_its_cookie_sees_it_with_every_later_page(ledger: Ledger) -> None:
    with Site() as site:
        site.pages |= {"/": wall} | {f"/{n}": wall for n in range(12)}
        run = crawl(make_document({"url": site.url("/")}), ignore_robots=True)
        assert len(site.log) == 14  # the wall is met once
    assert set(ledger(run).values()) == {"crawled"} and len(ledger(run)) == 13 and faults(run) == []


@proves("rule 10")
def test_cookies_stay_with_their_crawl_point_and_their_origin(ledger: Ledger) -> None:
    with Site() as one, Site() as other:
        one.pages |= {"/m/": wall, "/b/": page("<p>open"), "/0": page("<p>0")}
        other.pages |= {"/": page("<a href=/x>x</a>"), "/x": page("<p>x")}
        points = ({"url": one.url("/m/")}, {"url": one.url("/b/")}, {"url": other.url("/")})
        crawl(make_document(*points), make_document({"url": one.url("/b/")}), ignore_robots=True)
        brought = {asked.target for asked in one.log if "cookie" in asked.headers}
        assert brought == {"/m/"}
        assert not [asked for asked in other.log if "cookie" in asked.headers]


@proves("rule 1")
def test_a_site_that_lets_everybody_in_never_sees_a_cookie_again() -> None:
    """What a page says must not depend on which pages were fetched before it (design rule 1)."""
    with serve(
        {"/": Page(["/a"], headers={"Set-Cookie": "visit=1; Path=/"}), "/a": Page(["/b"]), "/b": Page()}
    ) as site:
        crawl(make_document({"url": site.url("/")}))
        assert not [path for path, headers in site.seen if "cookie" in headers]


@proves("rule 10")
def test_a_crawl_point_that_accepts_bad_certificates_keeps_no_cookies(ledger: Ledger) -> None:
    """A cookie is never shown to a server whose certificate nobody has checked; its pages need none."""
    with Site() as site:
        site.pages |= {"/": wall} | {f"/{n}": wall for n in range(12)}
        run = crawl(make_document({"url": site.url("/"), "accept_bad_certificate": True}), ignore_robots=True)
        assert len(site.log) == 26
    assert LedgerEntry.objects.filter(excursion__run=run, outcome="crawled").count() == 13
