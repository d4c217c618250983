"""Whose page an address is, and whose place it takes: owners that leave in the middle, answers of every kind."""

from collections.abc import Callable

import pytest

from clearinghouse.database.digests import digest_of
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.models import Excursion, LedgerEntry, Message, Run
from crawler.policy.frontier import SHORT, Frontier
from crawler.values import PointSettings, Snapshot
from crawlpoints.models import CrawlPoint
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]


@proves("rule 1")
def test_what_a_deactivated_owner_leaves_is_read_as_the_next_longest_root_says(ledger: Ledger) -> None:
    """Both crawl points reach /m/…, the inner one owns it: its append text goes with it, the pages do not."""
    # Six rounds of 16 connections, half a second each: the crawl looks for changes once a second, so it sees this one.
    pages = {"/?outer=1": Page([f"/m/{n}" for n in range(96)]), "/m/?inner=1": Page()}
    pages |= {f"/m/{n}{tail}": Page(delay=0.5) for n in range(96) for tail in ("?inner=1", "?outer=1")}
    with serve(pages) as site:
        outer = {"url": site.url("/"), "append": "?outer=1"}
        inner = {"url": site.url("/m/"), "append": "?inner=1", "depth": 0}
        run = launch(LaunchRequest([make_document(outer, inner).pk], by="test", speed="fast"))
        initialize(run)

        def deactivate(_: InstanceLoop) -> None:
            if Excursion.objects.get(run=run).crawled >= 6:
                CrawlPoint.objects.filter(url=site.url("/m/")).update(active=0)

        InstanceLoop(run).work(deactivate)
        asked = [path.partition("?") for path in site.requests if path.startswith("/m/")]
    run.refresh_from_db()
    assert {append for _, _, append in asked} == {"inner=1", "outer=1"}
    assert len({path for path, _, _ in asked}) == len(asked) == 97
    assert run.state == "finished" and faults(run) == []
    verdicts = ledger(run)
    assert {path for path in verdicts if "?" in path} == set(), "append text is not part of an address"
    assert set(verdicts.values()) == {"crawled"} and len(verdicts) == 98


@proves("rule 18")
def test_append_text_is_sent_and_is_not_part_of_the_address(ledger: Ledger) -> None:
    with serve({"/?print=1": Page(["/a", "/b?x=2"]), "/a?print=1": Page(), "/b?x=2&print=1": Page()}) as site:
        run = crawl(make_document({"url": site.url("/"), "append": "?print=1"}))
        assert set(site.requests) == {"/robots.txt", "/?print=1", "/a?print=1", "/b?x=2&print=1"}
    assert ledger(run) == dict.fromkeys(("/", "/a", "/b?x=2"), "crawled")


@proves("rule 2")
def test_every_answer_but_a_redirect_takes_a_place_under_a_maximum() -> None:
    """Errors, an unchanged page and a type that is not stored count as a page does; a refused address does not."""
    pages = {"/": Page(["/none", "/picture", "/same", "/r", *(f"/{n}" for n in range(9))])}
    pages |= {"/picture": Page(type="image/png"), "/r": Page(status=302, location="/same")}
    pages |= {"/same": Page(headers={"ETag": '"1"'})} | {f"/{n}": Page() for n in range(9)}
    with serve(pages) as site:
        document = make_document({"url": site.url("/"), "max_pages": 6, "depth": 1})
        crawl(document)
        site.pages["/same"] = Page(status=304)
        run = crawl(document)
        asked = sum(site.requests.values()) - 2 * site.requests["/r"]
    rows = LedgerEntry.objects.filter(excursion__run=run, status__gt=0).exclude(outcome="redirected")
    found = {(row.reason or row.outcome) for row in rows}
    assert rows.count() == 6 and {"http_4xx", "type_not_allowed", "unchanged"} <= found
    assert asked <= 2 * 6 + 1, "and one robots.txt, which is kept for a day"
    assert run.state == "finished_at_limit" and faults(run) == []


@proves("rule 2")
def test_an_address_that_is_refused_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    from clearinghouse.addresses import networks

    with serve({"/": Page(["/a", "/b"]), "/a": Page(), "/b": Page()}) as site:
        port = site.address.rpartition(":")[2]
        refused = {"url": f"http://127.0.0.2:{port}/", "ignore_robots": True, "max_pages": 2}
        monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", f"127.0.0.1:{port}")
        networks.forget_settings()
        try:
            run = crawl(make_document(refused, {"url": site.url("/"), "max_pages": 3}))
        finally:
            monkeypatch.undo()
            networks.forget_settings()
    excursion = Excursion.objects.get(run=run)
    used = {LedgerEntry.objects.filter(crawl_point_id=pk).count(): row["used"]
            for pk, row in excursion.tallies["point"].items()}  # fmt: skip
    assert used == {1: 0, 3: 3}
    assert LedgerEntry.objects.get(url=refused["url"]).reason == "address_refused" and faults(run) == []


@proves("rule 5")
def test_too_many_redirects_is_taken_back_when_a_shorter_chain_is_found(ledger: Ledger) -> None:
    """The twelfth of a chain is out of reach until, later, a page links into the middle of it."""
    pages = {f"/{n}": Page(status=302, location=f"/{n + 1}") for n in range(12)} | {"/12": Page(["/last"])}
    pages |= {"/": Page(["/0", "/slow"]), "/slow": Page(["/5"], delay=0.8), "/last": Page()}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/")}))
        assert all(count == 1 for count in site.requests.values())
    verdicts = ledger(run)
    assert verdicts["/10"] == verdicts["/11"] == "redirected" and verdicts["/12"] == verdicts["/last"] == "crawled"
    assert faults(run) == []


@proves("F14")
def test_a_page_that_hundreds_of_crawl_points_reach_is_remembered_for_each() -> None:
    """A column that is too narrow would end the crawl on every server that keeps to its widths."""
    site = "http://a.example/"
    points = tuple(PointSettings(id=7_000_000 + n, url=site, root=site, depth=999) for n in range(400))
    frontier = Frontier(Snapshot(1, points, ()))
    frontier.seed()
    key = digest_of(site)
    text = frontier.reach_text(key[:SHORT])
    width = Message._meta.get_field("reach").max_length
    assert width is None or width >= len(text)
    heir = Frontier(Snapshot(1, points, ()))
    heir.restore_message(key, text, done=False)
    assert len(heir.ways(key[:SHORT])) == 400 and heir.ways(key[:SHORT]) == frontier.ways(key[:SHORT])
