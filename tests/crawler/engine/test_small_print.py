"""What stands between the lines of a crawl: second tries, what heirs remember, what may never keep a page out."""

import gzip
import time
from collections.abc import Callable, Iterator

import pytest

from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop, batch_size
from crawler.launching import control
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.models import CrawledPage, Instance, LedgerEntry, PageVersion, Run
from crawlpoints.models import CrawlPoint
from tests.crawler.conftest import crawl, go_on, make_document
from tests.crawler.sites.test_credentials import protect
from tests.proves import proves
from tests.sites.graph import Page, serve
from tests.sites.misbehaving import Answer, Asked, Site, page, raw

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]


class Killed(BaseException):
    """Stands for kill -9: nothing in the product catches it."""


# -- second tries -----------------------------------------------------------------------------------------------


@proves("D8")
def test_a_page_whose_compression_is_broken_is_asked_for_again_without(ledger: Ledger) -> None:
    half = gzip.compress(b"<p>" + b"words " * 900)[:-20]

    def answer(asked: Asked) -> Answer:
        plain = asked.headers.get("accept-encoding") == "identity"
        return page("<p>words")(asked) if plain else page(half, "Content-Encoding: gzip")(asked)

    with Site() as site:
        site.pages |= {"/": answer, "/never": page(half, "Content-Encoding: gzip")}
        root = site.url("/")
        run = crawl(make_document({"url": root}, {"url": site.url("/never"), "root": root}), ignore_robots=True)
        assert [asked.target for asked in site.log].count("/") == 2
        assert [asked.target for asked in site.log].count("/never") == 2
    assert ledger(run) == {"/": "crawled", "/never": "decode_failed"}
    assert PageVersion.objects.get().text == "words"


@proves("D26")
def test_a_connection_that_is_cut_in_the_middle_of_a_page_costs_no_page(ledger: Ledger) -> None:
    cuts = [2, 9]  # times

    def cut(number: int) -> Callable[[Asked], Answer]:
        def answer(asked: Asked) -> Answer:
            cuts[number] -= 1
            whole = page("<p>" + "words " * 99)(asked)
            assert isinstance(whole, bytes)
            return iter((whole[:300],)) if cuts[number] >= 0 else whole

        return answer

    with Site() as site:
        site.pages |= {"/": page("<a href=a>a</a><a href=b>b</a>"), "/a": cut(0), "/b": cut(1)}
        run = crawl(make_document({"url": site.url("/")}))
        assert [asked.target for asked in site.log].count("/b") == 3
    assert ledger(run) == {"/": "crawled", "/a": "crawled", "/b": "cut_short"}
    assert not PageVersion.objects.filter(url__endswith="/b").exists() and faults(run) == []


@proves("rule 5", "D27")
def test_a_cookie_wall_opens_to_who_brings_its_cookie_back(ledger: Ledger) -> None:
    def wall(asked: Asked) -> Answer:
        if "seen=1" in asked.headers.get("cookie", ""):
            return page("<p>behind the wall")(asked)
        return page("", "Location: /", "Set-Cookie: seen=1", status="302 Found")(asked)

    with Site() as site:
        site.pages["/"] = wall
        run = crawl(make_document({"url": site.url("/")}), ignore_robots=True)
        assert len(site.log) == 2
    assert ledger(run) == {"/": "crawled"} and PageVersion.objects.get().text == "behind the wall"


@proves("rule 11", "D24")
def test_a_site_that_asked_for_time_is_left_alone_by_the_heir_too(ledger: Ledger) -> None:
    busy = Page(status=503, headers={"Retry-After": "3"})
    with serve({"/": Page(script=[busy])}) as site:
        document = make_document({"url": site.url("/")})
        run = launch(LaunchRequest([document.pk], by="test", speed="fast", ignore_robots=True))
        initialize(run)
        first = InstanceLoop(run)

        def die(_: InstanceLoop) -> None:
            if site.requests["/"]:
                first._commit()
                raise Killed

        with pytest.raises(Killed):
            first.work(die)
        asked = time.monotonic()
        Instance.objects.filter(pk=first.row.pk).update(pid_started=1)  # as if its process had gone
        run = go_on(run)
        assert site.requests["/"] == 2 and time.monotonic() - asked > 2.0
    assert ledger(run) == {"/": "crawled"}


# -- odd sites --------------------------------------------------------------------------------------------------


@proves("D29")
def test_a_page_of_the_old_protocol_ends_with_its_connection(ledger: Ledger) -> None:
    with Site() as site:
        site.pages["/"] = raw(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>old words")
        run = crawl(make_document({"url": site.url("/")}), ignore_robots=True)
    assert ledger(run) == {"/": "crawled"} and PageVersion.objects.get().text == "old words"


@proves("E6")
def test_pages_of_nothing_are_stored(ledger: Ledger) -> None:
    nothing = {
        "/a": Page(status=204),
        "/b": Page(body=b" \n\t"),
        "/c": Page(body=b"\xef\xbb\xbf"),
        "/d": Page(body=b"\0"),
    }
    with serve({"/": Page([*nothing])} | nothing) as site:
        run = crawl(make_document({"url": site.url("/")}))
    assert ledger(run) == dict.fromkeys(["/", *nothing], "crawled")
    assert set(PageVersion.objects.exclude(url__endswith="/").values_list("text", flat=True)) == {""}
    assert faults(run) == []


@proves("D30")
def test_robots_txt_that_leads_in_a_circle_is_left_after_five_steps_and_read_once_a_day(ledger: Ledger) -> None:
    with serve({"/robots.txt": Page(status=302, location="/robots.txt"), "/": Page()}) as site:
        document = make_document({"url": site.url("/")})
        assert ledger(crawl(document)) == {"/": "crawled"}
        assert site.requests["/robots.txt"] == 6
        crawl(document)
        assert site.requests["/robots.txt"] == 6


# -- addresses --------------------------------------------------------------------------------------------------


@proves("F5")
def test_user_info_in_an_address_is_neither_kept_nor_sent(ledger: Ledger) -> None:
    with serve({}) as site:
        host = site.address.removeprefix("http://")
        site.pages |= {"/": Page([f"http://me:secret-7Q@{host}/a"]), "/a": Page(), "/b": Page()}
        site.pages["/r"] = Page(status=302, location=f"http://me:secret-7Q@{host}/b")
        start = {"url": f"http://me:secret-7Q@{host}/r", "root": site.url("/")}
        run = crawl(make_document({"url": site.url("/")}, start))
        assert not [headers for _, headers in site.seen if "authorization" in headers or "referer" in headers]
    assert ledger(run) == {"/": "crawled", "/a": "crawled", "/r": "redirected", "/b": "crawled"}
    assert "secret-7Q" not in str(list(LedgerEntry.objects.values()))


@proves("F3")
def test_the_order_of_a_query_is_part_of_the_address(ledger: Ledger) -> None:
    links = ["/?b=2&a=1", "/?a=1&b=2", "/?a=&b", "/?a=1&a=1", "/?a=1;b=2"]
    with serve({"/": Page(links)} | {link: Page() for link in links}) as site:
        run = crawl(make_document({"url": site.url("/")}))
        assert set(links) < set(site.requests)
    assert ledger(run) == dict.fromkeys(["/", *links], "crawled")


@proves("rule 12", "E14", "F11")
def test_neither_canonical_links_nor_equal_bodies_keep_a_page_out(ledger: Ledger) -> None:
    """To itself, to another, in a chain, in a circle, off the root: each page is stored, and so are twins."""

    def canonical(to: str, *links: str) -> Page:
        anchors = "".join(f"<a href='{link}'>x</a>" for link in links)
        return Page(body=f"<link rel=canonical href='{to}'>{anchors}".encode())

    pages = {
        "/": canonical("/", "/a", "/b", "/c", "/off", "/twin-1", "/twin-2"),
        "/a": canonical("/b"), "/b": canonical("/c"), "/c": canonical("/a", "/behind"),
        "/off": canonical("http://elsewhere.example/x"), "/behind": Page(),
        "/twin-1": Page(body=b"<p>the same"), "/twin-2": Page(body=b"<p>the same"),
    }  # fmt: skip
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/")}))
    verdicts = ledger(run)
    assert {path: verdicts[path] for path in pages} == dict.fromkeys(pages, "crawled")
    assert PageVersion.objects.count() == len(pages) and faults(run) == []


# -- what is left alone -----------------------------------------------------------------------------------------


@proves("G5")
def test_a_password_that_cannot_be_read_stops_its_own_crawl_point_only(ledger: Ledger) -> None:
    pages = {"/m/": Page(), "/": Page(["/a", "/m/x"]), "/a": Page(), "/m/x": Page()}
    with serve(pages) as site:
        document = make_document(protect(site.url("/m/"), site.url("/m/")), {"url": site.url("/")})
        CrawlPoint.objects.filter(root=site.url("/m/")).update(password="sealed:" + "A" * 60)
        run = crawl(document)
        assert set(site.requests) == {"/robots.txt", "/", "/a"}
    assert ledger(run) == {"/m/": "auth_failed", "/m/x": "auth_failed", "/": "crawled", "/a": "crawled"}


@pytest.fixture
def listed() -> Iterator[Callable[[int], set[str]]]:
    def read(doc_id: int) -> set[str]:
        urls = CrawledPage.objects.filter(doc_id=doc_id).values_list("url", flat=True)
        return {url.rpartition("/")[2] for url in urls}

    yield read


@proves("rule 8", "B8")
def test_a_run_empties_the_work_tables_of_its_own_documents_and_a_resumed_one_none(
    listed: Callable[[int], set[str]],
) -> None:
    pages = {"/": Page(["/a", "/gone"]), "/a": Page(), "/gone": Page()}
    with serve(pages) as site:
        one, other = make_document({"url": site.url("/")}), make_document({"url": site.url("/a")})
        crawl(one, other)
        assert listed(one.pk) == {"", "a", "gone"} and listed(other.pk) == {"a"}
        site.pages |= {"/": Page(["/a", "/0"])} | {f"/{n}": Page([f"/{n + 1}"], delay=0.3) for n in range(9)}
        run = launch(LaunchRequest([one.pk], by="test", speed="fast"))
        initialize(run)
        assert listed(one.pk) == set() and listed(other.pk) == {"a"}

        def pause(_: InstanceLoop) -> None:
            if listed(one.pk) and not Run.objects.get(pk=run.pk).control:
                control.pause(run, "admin")

        InstanceLoop(run).work(pause)
        kept = listed(one.pk)
        assert kept and "gone" not in kept
        control.resume(run, "admin")
        initialize(Run.objects.get(pk=run.pk))
        assert listed(one.pk) == kept, "a resumed run empties nothing"
        run = go_on(run)
    assert run.state == "finished" and faults(run) == []
    assert listed(one.pk) == {"", "a", *map(str, range(9))} and listed(other.pk) == {"a"}


def test_a_batch_is_as_large_as_can_be_written_in_forty_milliseconds() -> None:
    assert batch_size(pages=100, seconds=0.02) == 100  # never more
    assert batch_size(pages=100, seconds=0.08) == 50
    assert batch_size(pages=50, seconds=0.02) == 100
    assert batch_size(pages=20, seconds=3.0) == 20  # one slow flush does not make it a flush for each page
    assert batch_size(pages=100, seconds=0.0) == 100
