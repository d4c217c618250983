"""The rules of the crawl one by one, where breaking a single line must show."""

from collections.abc import Callable

import pytest

from crawler import bulk_sql
from crawler.engine import message_queue, storage
from crawler.engine.finishing import finish
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.engine.response_kind import FAILURE, RETRY, judge, retry_after
from crawler.errors import Fenced
from crawler.launching import control
from crawler.launching.launch import LaunchRequest, launch, settings_of
from crawler.ledger.ledger_check import faults
from crawler.liveness.instances import Watch, register
from crawler.models import CrawledPage, Excursion, Instance, LedgerEntry, Message, PageHead, PageVersion, Run
from crawler.sites.credentials import InstanceCredentials
from crawler.values import Fetched, Request
from crawlpoints.models import CrawlPoint
from tests.crawler.conftest import crawl, go_on, make_document
from tests.crawler.sites.test_credentials import protect
from tests.proves import proves
from tests.sites.graph import Page, Site, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]


class Killed(BaseException):
    """Stands for kill -9: nothing in the product catches it."""


def chain(length: int, delay: float = 0.05) -> dict[str, Page]:
    return {f"/{n}": Page([f"/{n + 1}"], delay=delay) for n in range(length)}


def started(site: Site, start: str = "/0", **values: object) -> Run:
    document = make_document({"url": site.url(start), "root": site.url("/"), "depth": 50} | values)
    run = launch(LaunchRequest([document.pk], by="test", speed="fast"))
    initialize(run)
    return run


def stop_after(run: Run, done: Callable[[Excursion], bool]) -> None:
    """One instance that is asked to leave (SIGTERM) in the middle, in good order."""

    def look(one: InstanceLoop) -> None:
        if done(Excursion.objects.get(run=run)):
            one.ask_to_stop()

    InstanceLoop(run).work(look)
    assert Excursion.objects.get(run=run).unfinished, "it was to be interrupted in the middle"


def fetched(site: Site) -> int:
    return sum(site.requests.values()) - site.requests["/robots.txt"]


# -- one page, one transaction ----------------------------------------------------------------------------------


@proves("rule 3", "I3", "A3")
def test_a_commit_that_breaks_in_the_middle_leaves_nothing_half_done(
    monkeypatch: pytest.MonkeyPatch, ledger: Ledger
) -> None:
    execute_many = bulk_sql.execute_many

    def breaking(statement: str, rows: list[tuple[object, ...]]) -> None:
        if statement.startswith("INSERT INTO ledger"):
            raise Killed
        execute_many(statement, rows)

    with serve(chain(3, 0)) as site:
        run = started(site)
        first = InstanceLoop(run)
        with monkeypatch.context() as patch:
            patch.setattr(bulk_sql, "execute_many", breaking)
            with pytest.raises(Killed):
                first.work()
        assert faults(run) == []
        Instance.objects.filter(pk=first.row.pk).update(pid_started=1)  # as if its process had gone
        run = go_on(run)
    assert ledger(run) == {"/0": "crawled", "/1": "crawled", "/2": "crawled", "/3": "http_4xx"}
    assert faults(run) == []


@proves("rule 3", "A5")
def test_an_instance_that_was_declared_dead_writes_nothing(ledger: Ledger) -> None:
    with serve(chain(2, 0.1)) as site:
        run = started(site)
        first = InstanceLoop(run)
        first.work(lambda one: Instance.objects.filter(pk=one.row.pk).update(alive=False))
        assert not LedgerEntry.objects.exists() and not PageVersion.objects.exists()


@proves("rule 3")
def test_the_fence_stands_before_every_commit() -> None:
    instance = register(None)
    Instance.objects.filter(pk=instance.pk).update(alive=False)
    with pytest.raises(Fenced):
        storage.commit(instance, [])


def test_every_page_stands_in_crawled_pages() -> None:
    with serve(chain(3, 0)) as site:
        crawl(make_document({"url": site.url("/0")}))
        assert set(CrawledPage.objects.values_list("url", flat=True)) == {site.url(f"/{n}") for n in range(3)}


def test_a_changed_page_is_shown_as_it_is_now() -> None:
    with serve({"/": Page()}) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        site.pages["/"] = Page(["/"])
        second = crawl(document)
    assert PageHead.objects.get().version_id == LedgerEntry.objects.get(excursion__run=second).version_id


# -- handing over -----------------------------------------------------------------------------------------------


def test_an_heir_fetches_nothing_a_second_time(ledger: Ledger) -> None:
    with serve(chain(10)) as site:
        run = started(site)
        stop_after(run, lambda excursion: excursion.crawled >= 2)
        run = go_on(run)
        assert all(count == 1 for count in site.requests.values()), site.requests
    assert run.state == "finished" and list(ledger(run).values()).count("crawled") == 10


def test_an_heir_knows_what_was_skipped(ledger: Ledger) -> None:
    pages = chain(8)
    pages["/0"].links.append("/no/x")
    pages["/7"].links.append("/no/x")
    with serve(pages) as site:
        document = make_document({"url": site.url("/0"), "depth": 50}, excludes=("*/no/*",))
        run = launch(LaunchRequest([document.pk], by="test", speed="fast"))
        initialize(run)
        stop_after(run, lambda excursion: excursion.crawled >= 2)
        run = go_on(run)
    assert ledger(run)["/no/x"] == "excluded" and ledger(run)["/7"] == "crawled"
    assert faults(run) == []


@proves("rule 5", "D15")
def test_an_heir_knows_where_redirects_led(ledger: Ledger) -> None:
    circle = {f"/{n}": Page(status=302, location=f"/{(n + 1) % 3}", delay=0.4 * n) for n in range(3)}
    with serve(circle) as site:
        run = started(site)
        stop_after(run, lambda excursion: excursion.redirected >= 1)
        run = go_on(run)
    assert ledger(run) == dict.fromkeys(("/0", "/1", "/2"), "redirect_loop")
    assert faults(run) == []


@proves("rule 2", "I6")
def test_an_heir_knows_what_was_used_of_a_maximum() -> None:
    with serve(chain(14)) as site:
        run = started(site, max_pages=8)
        stop_after(run, lambda excursion: excursion.crawled >= 2)
        run = go_on(run)
        assert fetched(site) == 8
    assert run.state == "finished_at_limit"


def test_a_queue_is_served_by_one_instance() -> None:
    with serve(chain(1, 0)) as site:
        run = started(site)
        first, second = register(run.pk), register(run.pk)
        assert len(message_queue.claim(first, 9)) == 1
        assert message_queue.claim(second, 9) == []


@proves("B8")
def test_a_queue_that_stands_open_is_not_opened_again() -> None:
    with serve(chain(1, 0)) as site:
        document = make_document({"url": site.url("/0")})
        run = launch(LaunchRequest([document.pk], by="test", speed="fast"))
        seen_by_both = [Excursion.objects.get(run=run).pk]
        message_queue.open_queues(seen_by_both)
        message_queue.open_queues(seen_by_both)
    assert Message.objects.count() == 1
    assert faults(run) == []


@proves("rule 7")
def test_the_living_are_not_buried() -> None:
    instance = register(None)
    watch = Watch()
    assert watch.declare_silent_dead() == watch.declare_silent_dead() == []
    instance.refresh_from_db()
    assert instance.alive


def test_a_run_ends_with_its_last_document() -> None:
    with serve(chain(1, 0)) as site:
        documents = [make_document({"url": site.url("/0")}) for _ in range(2)]
        run = launch(LaunchRequest([document.pk for document in documents], by="test", speed="fast"))
        Excursion.objects.filter(run=run, doc_id=documents[0].pk).update(unfinished=False, state="finished")
        assert not finish.conclude(run.pk)
        run.refresh_from_db()
        assert run.finished_at is None


# -- redirects --------------------------------------------------------------------------------------------------


@proves("rule 5", "D17", "F8")
def test_an_exclude_holds_for_where_a_redirect_leads(ledger: Ledger) -> None:
    with serve({"/": Page(["/old"]), "/old": Page(status=301, location="/no/x"), "/no/x": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}, excludes=(site.url("/no/*"),)))
        assert not site.requests["/no/x"]
    assert ledger(run) == {"/": "crawled", "/old": "redirect_excluded"}


@proves("rule 5")
def test_a_redirect_costs_a_hop_and_no_depth() -> None:
    with serve({"/": Page(["/r"]), "/r": Page(status=302, location="/t"), "/t": Page(["/deep"])}) as site:
        run = crawl(make_document({"url": site.url("/"), "depth": 1}))
    rows = {row.url.rpartition("/")[2]: row for row in LedgerEntry.objects.filter(excursion__run=run)}
    assert (rows["t"].outcome, rows["t"].depth, rows["t"].hop) == ("crawled", 1, 1)
    assert rows["deep"].reason == "too_deep"


@proves("rule 5", "D14")
def test_ten_redirects_in_a_row_are_followed_and_no_more(ledger: Ledger) -> None:
    with serve({f"/{n}": Page(status=302, location=f"/{n + 1}") for n in range(14)}) as site:
        run = crawl(make_document({"url": site.url("/0"), "depth": 0}))
    verdicts = ledger(run)
    assert len(verdicts) == 11 and verdicts["/9"] == "redirected" and verdicts["/10"] == "too_many_redirects"


@proves("rule 5")
def test_a_site_that_only_ever_sets_a_cookie_is_asked_three_times(ledger: Ledger) -> None:
    with serve({"/": Page(status=302, location="/", headers={"Set-Cookie": "a=1"})}) as site:
        run = crawl(make_document({"url": site.url("/")}))
        assert site.requests["/"] == 3
        assert site.seen[-1][1]["cookie"] == "a=1"
    assert ledger(run) == {"/": "redirect_loop"}


# -- what takes a place under a maximum -------------------------------------------------------------------------


@proves("rule 2")
def test_redirects_take_no_place_under_a_maximum() -> None:
    pages = {"/": Page([f"/r{n}" for n in range(6)])}
    pages |= {f"/r{n}": Page(status=302, location=f"/p{n}") for n in range(6)} | {f"/p{n}": Page() for n in range(6)}
    with serve(pages) as site:
        crawl(make_document({"url": site.url("/"), "max_pages": 4}))
        assert len([path for path in site.requests if path == "/" or path.startswith("/p")]) == 4


@proves("rule 2")
def test_what_robots_txt_forbids_takes_no_place_under_a_maximum(ledger: Ledger) -> None:
    links = [*(f"/private/{n}" for n in range(5)), "/a", "/b", "/c"]
    robots = Page(body=b"User-agent: *\nDisallow: /private/", type="text/plain")
    with serve({"/robots.txt": robots, "/": Page(links)} | {path: Page() for path in links}) as site:
        verdicts = list(ledger(crawl(make_document({"url": site.url("/"), "max_pages": 3}))).values())
    assert verdicts.count("crawled") == 3


# -- nofollow ---------------------------------------------------------------------------------------------------

NOFOLLOW_PAGE = b'<html><head><meta name=robots content="nofollow"></head><body><a href="/a">a</a></body></html>'
NOFOLLOW_LINK = b'<html><body><a href="/a" rel="nofollow">a</a></body></html>'


@proves("rule 18", "E15")
@pytest.mark.parametrize(
    "body,option,verdict",
    [(NOFOLLOW_PAGE, 0, "nofollow"), (NOFOLLOW_LINK, 0, "crawled"), (NOFOLLOW_LINK, 1, "nofollow")],
    ids=["page", "link", "link with the option"],
)
def test_nofollow_of_a_page_is_obeyed_of_a_link_by_option(
    body: bytes, option: int, verdict: str, ledger: Ledger
) -> None:
    with serve({"/": Page(body=body), "/a": Page()}) as site:
        run = crawl(make_document({"url": site.url("/"), "obey_nofollow": option}))
    assert ledger(run) == {"/": "crawled", "/a": verdict}


# -- several crawl points ---------------------------------------------------------------------------------------


def test_each_crawl_point_keeps_to_its_own_root(ledger: Ledger) -> None:
    pages = {"/a/": Page(["/b/2", "/c/"]), "/b/": Page(["/b/1"]), "/b/1": Page(), "/b/2": Page()}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/a/")}, {"url": site.url("/b/")}))
        assert not site.requests["/c/"]
    assert ledger(run) == {
        "/a/": "crawled", "/b/": "crawled", "/b/1": "crawled", "/b/2": "outside_root", "/c/": "outside_root",
    }  # fmt: skip


@proves("rule 1")
def test_a_page_is_read_as_the_crawl_point_with_the_longest_root(ledger: Ledger) -> None:
    pages = {"/": Page(["/m/?q=1", "/x?q=1"]), "/m/": Page(), "/m/?q=1": Page(), "/x?q=1": Page()}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/")}, {"url": site.url("/m/"), "ignore_query": 1}))
    assert ledger(run) == dict.fromkeys(("/", "/m/", "/x?q=1"), "crawled")


def test_the_verdict_in_the_ledger_is_the_one_that_came_furthest(ledger: Ledger) -> None:
    pages = {"/a/": Page(["/b/x"]), "/b/": Page(["/b/1"], delay=0.5), "/b/1": Page(["/b/x"])}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/a/")}, {"url": site.url("/b/"), "depth": 1}))
    assert ledger(run)["/b/x"] == "too_deep"
    assert faults(run) == []


def test_what_one_way_forbids_another_may_allow(ledger: Ledger) -> None:
    pages = {"/a/": Page(["/b/x"]), "/b/": Page(["/b/x"], delay=0.5), "/b/x": Page()}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/a/")}, {"url": site.url("/b/")}))
    assert ledger(run)["/b/x"] == "crawled"
    assert faults(run) == []


# -- orders and tries -------------------------------------------------------------------------------------------


def test_stopping_in_the_middle_keeps_the_pages_that_came(ledger: Ledger) -> None:
    with serve(chain(40, 0.1)) as site:
        run = started(site)

        def stop(_: InstanceLoop) -> None:
            if Excursion.objects.get(run=run).crawled >= 2 and not Run.objects.get(pk=run.pk).control:
                control.stop(run, "admin")

        InstanceLoop(run).work(stop)
    run.refresh_from_db()
    verdicts = list(ledger(run).values())
    assert run.state == "stopped" and verdicts.count("run_stopped") == 1
    assert PageHead.objects.count() == verdicts.count("crawled") >= 2
    assert faults(run) == []


def test_pausing_in_the_middle_starts_nothing_more(ledger: Ledger) -> None:
    with serve(chain(40, 0.1)) as site:
        run = started(site)

        def pause(_: InstanceLoop) -> None:
            if Excursion.objects.get(run=run).crawled >= 2 and not Run.objects.get(pk=run.pk).control:
                control.pause(run, "admin")

        InstanceLoop(run).work(pause)
        excursion, asked = Excursion.objects.get(run=run), fetched(site)
        assert excursion.unfinished and excursion.state == "paused" and asked < 40
        assert excursion.crawled == asked, "what was in flight is stored"


def test_a_password_is_for_addresses_under_the_root_string() -> None:
    point = CrawlPoint(**protect("http://a.example/m/", "http://a.example/m/"))
    point.save()
    owner, keys = settings_of(point), InstanceCredentials()
    assert keys.for_request(owner, "http://a.example/m/x") is not None
    for elsewhere in ("http://a.example/public", "https://a.example/m/x", "http://b.example/m/x"):
        assert keys.for_request(owner, elsewhere) is None, elsewhere


def answer(status: int, *headers: tuple[str, str]) -> Fetched:
    return Fetched(Request("http://a.example/", None), status=status, headers=list(headers))  # type: ignore[arg-type]


@proves("D25")
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_third_failure_is_the_last(status: int) -> None:
    assert [judge(answer(status), tries, 0.0).kind for tries in (1, 2, 3)] == [RETRY, RETRY, FAILURE]


@proves("D1", "D26")
def test_a_lost_connection_is_tried_three_times() -> None:
    lost = Fetched(Request("http://a.example/", None), reason="connect_failed")  # type: ignore[arg-type]
    assert [judge(lost, tries, 0.0).kind for tries in (1, 2, 3)] == [RETRY, RETRY, FAILURE]


def test_a_host_is_left_alone_as_long_as_it_asks() -> None:
    assert judge(answer(503, ("retry-after", "7")), 1, 0.0).wait == 7.0
    assert retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 30.0) == 30.0
    assert retry_after("99999999", 0.0) == 6 * 3600.0
