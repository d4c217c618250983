"""robots.txt as it comes over the wire: what is obeyed, what is kept of it, and that everybody reads the same in it."""

import time
from collections.abc import Callable

import pytest

from crawler.launching.launch import snapshot_of
from crawler.ledger.explain import NO, explain
from crawler.models import Host, Run
from crawler.preview.throttled_client import ThrottledClient
from crawler.sites.queries import robots_of
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve
from tests.sites.misbehaving import Site, page, raw, redirect

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]

TWO_AGENTS = "User-agent: ClearinghouseWebCrawl/1.0\r\nNoindex: /a\r\nUser-agent: *\r\nDisallow: /bücher/\r\n"
FORBIDDEN = "/b%C3%BCcher/1"


@proves("D30")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32"])
def test_the_crawl_the_explainer_the_preview_and_the_page_of_the_host_agree(ledger: Ledger, encoding: str) -> None:
    robots = Page(body=TWO_AGENTS.encode(encoding), type="text/plain")
    with serve({"/robots.txt": robots, "/": Page([FORBIDDEN, "/c"]), FORBIDDEN: Page(), "/c": Page()}) as site:
        document = make_document({"url": site.url("/")})
        for _ in range(2):  # as it came, and as it was kept
            assert ledger(crawl(document))[FORBIDDEN] == "robots_disallowed"
            assert site.requests[FORBIDDEN] == 0 and site.requests["/robots.txt"] == 1
        answer = explain(snapshot_of(document), site.url(FORBIDDEN), site.url("/"))
        line = ThrottledClient(until=1e12)
        preview = line.robots(site.address)
        line.close()
    assert (answer["verdict"], answer["reason"]) == (NO, "robots_disallowed")
    assert preview is not None and preview.allowed(site.url(FORBIDDEN)) == (False, "Disallow: /b%C3%BCcher/")
    (shown,) = robots_of([site.address])
    assert shown.text.splitlines() == TWO_AGENTS.splitlines()


def test_a_robots_txt_behind_a_redirect_is_read_whatever_its_type(ledger: Ledger) -> None:
    with Site() as site:
        rules = b"User-agent: *\nDisallow: /x\n"
        site.pages |= {
            "/robots.txt": redirect("/rules/ours", "308 Permanent Redirect"),
            "/rules/ours": page(rules, kind="image/png"),
            "/": page("<a href=/x>x</a>"),
        }
        document = make_document({"url": site.url("/")})
        assert ledger(crawl(document)) == {"/": "crawled", "/x": "robots_disallowed"}
        Host.objects.all().delete()
        line = ThrottledClient(until=1e12)
        preview = line.robots(site.url(""))
        line.close()
    assert preview is not None and not preview.allowed(site.url("/x"))[0]


def test_five_redirects_are_followed_and_then_there_is_no_robots_txt(ledger: Ledger) -> None:
    """RFC 9309, 2.3.1.2: at least five; behind more the file counts as not there."""
    for hops, verdict in ((5, "robots_disallowed"), (6, "crawled")):
        pages = {f"/r{n}": redirect(f"/r{n + 1}") for n in range(1, hops)}
        with Site() as site:
            site.pages |= pages | {
                "/robots.txt": redirect("/r1"),
                f"/r{hops}": page(b"User-agent: *\nDisallow: /x\n", kind="text/plain"),
                "/": page("<a href=/x>x</a>"),
                "/x": page("x"),
            }
            assert ledger(crawl(make_document({"url": site.url("/")})))["/x"] == verdict


@pytest.mark.parametrize(
    ("head", "verdict"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 99\r\n\r\nshort", "crawled"),
        (b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "crawled"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\nAllow: /\n", "cut_short"),
    ],
    ids=["none, cut", "none, bad chunks", "cut"],
)
def test_a_broken_body_says_nothing_where_nobody_reads_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, head: bytes, verdict: str
) -> None:
    """Half a robots.txt is none: what it forbids may be in the other half."""
    monkeypatch.setenv("CLEARINGHOUSE_HOST_PATIENCE", "1")
    with Site() as site:
        site.pages |= {"/robots.txt": raw(head), "/": page("<p>x")}
        assert ledger(crawl(make_document({"url": site.url("/")}))) == {"/": verdict}


def test_a_site_that_has_no_time_for_its_robots_txt_is_left_alone_and_asked_again(ledger: Ledger) -> None:
    """429 is no file that is missing: the rules count when they come, and Retry-After counts before."""
    for status in (429, 503):
        busy = Page(status=status, headers={"Retry-After": "2"})
        rules = Page(body=b"User-agent: *\nDisallow: /x\n", type="text/plain", script=[busy])
        with serve({"/robots.txt": rules, "/": Page(["/x"]), "/x": Page()}) as site:
            began = time.monotonic()
            assert ledger(crawl(make_document({"url": site.url("/")}))) == {"/": "crawled", "/x": "robots_disallowed"}
            assert time.monotonic() - began >= 2.0 and site.requests["/robots.txt"] == 2


def test_a_look_that_asks_twice_for_a_page_keeps_the_pause_between() -> None:
    with Site() as site:
        site.pages["/"] = page("no gzip", "Content-Encoding: gzip")
        line = ThrottledClient(until=1e12)
        line.pause, began = 0.5, time.monotonic()
        line.get(site.url("/"))
        line.close()
        assert len(site.log) == 2 and time.monotonic() - began >= 0.5
