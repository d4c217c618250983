"""A crawl from launch to its end, over real HTTP: what is fetched, what is written, what is left alone."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

from crawler.engine import loop as instance
from crawler.engine import storage
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.errors import AllBusy, Fenced, NothingToCrawl, WrongMoment
from crawler.launching import control
from crawler.launching.launch import LaunchRequest, launch, scope
from crawler.ledger.ledger_check import faults
from crawler.ledger.queries import Filter, rows_of
from crawler.liveness.instances import declare_dead, fence, gone, register
from crawler.models import (
    ActiveQueue,
    CrawledPage,
    Event,
    Excursion,
    Instance,
    LedgerEntry,
    Message,
    PageHead,
    PageVersion,
    Run,
)
from crawler.runs.run_counts import tallies
from crawlpoints.models import CrawlPoint
from tests.crawler.conftest import crawl, go_on, make_document
from tests.proves import proves
from tests.sites.graph import Page, html, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]


@proves("rule 4", "I4", "D14", "D16", "D23", "E10")
def test_a_site_is_crawled_and_every_address_gets_its_verdict(ledger: Ledger) -> None:
    pages = {
        "/m/": Page(["/m/a.html", "/m/old.html", "/other/", "/m/gone.html", "/m/print/a.html", "mailto:a@b.c"]),
        "/m/a.html": Page(["/m/", "/m/b.html#part"]),
        "/m/b.html": Page(["/m/a.html"]),
        "/m/old.html": Page(status=301, location="/m/new.html"),
        "/m/new.html": Page(["/m/out.html"]),
        "/m/out.html": Page(status=302, location="/other/x.html"),
    }
    with serve(pages) as site:
        document = make_document({"url": site.url("/m/")}, excludes=(site.url("/m/print/*"),))
        run = crawl(document)
    assert run.state == "finished"
    assert ledger(run) == {
        "/m/": "crawled", "/m/a.html": "crawled", "/m/b.html": "crawled", "/m/new.html": "crawled",
        "/m/old.html": "redirected", "/m/out.html": "redirect_outside_root", "/m/gone.html": "http_4xx",
        "/other/": "outside_root", "/m/print/a.html": "excluded", "/mailto:a@b.c": "scheme_not_allowed",
    }  # fmt: skip
    assert faults(run) == []
    assert site.requests["/other/"] == site.requests["/other/x.html"] == site.requests["/m/print/a.html"] == 0
    assert all(count == 1 for count in site.requests.values())
    assert PageHead.objects.count() == PageVersion.objects.count() == CrawledPage.objects.count() == 4
    assert not Message.objects.exists() and not ActiveQueue.objects.exists()


def test_the_stored_page_holds_what_was_served() -> None:
    body = html("Readmission", ["/m/b.html"], "Hospital wide readmission within 30 days")
    with serve({"/m/a.html": Page(body=body), "/m/b.html": Page()}) as site:
        crawl(make_document({"url": site.url("/m/a.html")}))
    version = PageVersion.objects.get(url__endswith="/m/a.html")
    assert version.title == "Readmission"
    assert '["description", "About Readmission"]' in version.metas
    assert "Hospital wide readmission within 30 days" in version.text
    assert version.size == len(body)


@pytest.mark.parametrize("depth,expected", [(0, 1), (1, 2), (2, 3)])
def test_the_depth_limit_counts_clicks_from_the_crawl_point(depth: int, expected: int, ledger: Ledger) -> None:
    with serve({"/0": Page(["/1"]), "/1": Page(["/2"]), "/2": Page(["/3"])}) as site:
        run = crawl(make_document({"url": site.url("/0"), "root": site.url("/"), "depth": depth}))
    verdicts = ledger(run)
    assert list(verdicts.values()).count("crawled") == expected
    assert verdicts[f"/{depth + 1}"] == "too_deep"


@proves("rule 2", "F15")
@pytest.mark.parametrize("maximum", [1, 5, 17])
def test_the_maximum_is_exact(maximum: int) -> None:
    pages = {"/": Page([f"/{n}" for n in range(40)])} | {f"/{n}": Page() for n in range(40)}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/"), "max_pages": maximum}))
    assert run.state == "finished_at_limit"
    assert sum(site.requests.values()) - site.requests["/robots.txt"] == maximum
    assert faults(run) == []


@proves("rule 15")
def test_a_second_run_finds_the_unchanged_the_changed_and_the_new(ledger: Ledger) -> None:
    pages = {"/": Page(["/a", "/b"]), "/a": Page(), "/b": Page(headers={"ETag": '"1"'})}
    with serve(pages) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        versions = set(PageVersion.objects.values_list("id", flat=True))
        site.pages["/a"] = Page(["/c"])
        site.pages["/b"] = Page(status=304)
        site.pages["/c"] = Page()
        second = crawl(document)
    assert ledger(second) == {"/": "unchanged", "/a": "crawled", "/b": "unchanged", "/c": "crawled"}
    changed = LedgerEntry.objects.get(excursion__run=second, url__endswith="/a")
    assert changed.previous_version_id in versions and changed.version_id not in versions
    assert dict(site.seen)["/b"]["if-none-match"] == '"1"'
    assert faults(second) == []


def test_robots_txt_is_obeyed_and_can_be_set_aside(ledger: Ledger) -> None:
    robots = Page(body=b"User-agent: *\nDisallow: /private/", type="text/plain")
    with serve({"/robots.txt": robots, "/": Page(["/private/a"]), "/private/a": Page()}) as site:
        document = make_document({"url": site.url("/")})
        assert ledger(crawl(document))["/private/a"] == "robots_disallowed"
        assert site.requests["/private/a"] == 0
        assert ledger(crawl(document, ignore_robots=True))["/private/a"] == "crawled"


@proves("D25")
def test_a_passing_error_is_tried_again_and_stored_once(ledger: Ledger) -> None:
    with serve({"/": Page(script=[Page(status=500)])}) as site:
        run = crawl(make_document({"url": site.url("/")}))
        assert site.requests["/"] == 2
    assert ledger(run) == {"/": "crawled"}


@proves("F14")
def test_two_crawl_points_of_one_document_share_what_they_fetch(ledger: Ledger) -> None:
    pages = {"/a/": Page(["/b/", "/a/1"]), "/a/1": Page(["/b/1"]), "/b/": Page(["/a/1", "/b/1"]), "/b/1": Page()}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/a/")}, {"url": site.url("/b/")}))
        assert all(count == 1 for count in site.requests.values())
    assert set(ledger(run).values()) == {"crawled"}
    assert faults(run) == []


def test_an_address_of_a_network_that_is_not_allowed_is_refused(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clearinghouse.addresses import networks

    with serve({"/": Page()}) as site:
        monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "10.0.0.0/8")
        networks.forget_settings()
        try:
            run = crawl(make_document({"url": site.url("/")}), ignore_robots=True)
        finally:
            monkeypatch.undo()
            networks.forget_settings()
        assert not site.requests
    assert ledger(run) == {"/": "address_refused"}


def test_a_launch_without_active_crawl_points_says_so() -> None:
    document = make_document({"url": "http://127.0.0.1/", "active": 0})
    with pytest.raises(NothingToCrawl):
        launch(LaunchRequest([document.pk], by="test"))
    assert scope([document.pk])["inactive"] == 1


@proves("rule 8", "B8")
def test_a_document_in_an_unfinished_run_is_left_out() -> None:
    busy, free = make_document({"url": "http://127.0.0.1:1/"}), make_document({"url": "http://127.0.0.1:1/"})
    launch(LaunchRequest([busy.pk], by="test"))
    with pytest.raises(AllBusy):
        launch(LaunchRequest([busy.pk], by="test"))
    second = launch(LaunchRequest(None, by="test"))
    assert second.left_out == [busy.pk] and [e.doc_id for e in second.excursions.all()] == [free.pk]


def test_opening_the_queues_twice_changes_nothing() -> None:
    run = launch(LaunchRequest([make_document({"url": "http://127.0.0.1:1/"}).pk], by="test"))
    initialize(run)
    Run.objects.filter(pk=run.pk).update(initialized=False)
    initialize(Run.objects.get(pk=run.pk))
    assert Message.objects.count() == 1
    assert faults(run) == []


def test_stop_keeps_what_was_stored_and_names_the_rest(ledger: Ledger) -> None:
    with serve({"/": Page(["/a"]), "/a": Page()}) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        run = launch(LaunchRequest([document.pk], by="test"))
        initialize(run)
        control.stop(run, "admin")
        InstanceLoop(run).work()
    run.refresh_from_db()
    assert run.state == "stopped"
    assert ledger(run) == {"/": "run_stopped"}
    assert PageHead.objects.count() == 2
    assert faults(run) == []
    assert tallies(run).depths == {0: (0, 0)} and tallies(run).left == {0: 1}
    with pytest.raises(WrongMoment):
        control.pause(run, "admin")


def test_the_byte_limit_of_a_run_ends_it_at_the_limit() -> None:
    pages = {f"/{n}": Page([f"/{n + 1}"], delay=0.1) for n in range(60)}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/0"), "depth": 99}), max_bytes=3000)
    assert run.state == "finished_at_limit"
    excursion = Excursion.objects.get(run=run)
    assert excursion.tallies["reason"] == {"run_limit": 1} and 3000 <= excursion.bytes < 20_000
    assert faults(run) == []


def test_cancel_puts_the_pages_back_that_were_shown_before() -> None:
    with serve({"/": Page(["/a"]), "/a": Page()}) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        before = dict(PageHead.objects.values_list("url_key", "version_id"))
        site.pages |= {"/": Page(["/a", "/new"]), "/a": Page(["/"]), "/new": Page(["/last"]), "/last": Page(delay=3)}
        run = launch(LaunchRequest([document.pk], by="test", speed="fast"))
        initialize(run)
        worker = InstanceLoop(run)

        def cancel_when_new_pages_stand(_: InstanceLoop) -> None:
            if PageHead.objects.count() > 2 and not Run.objects.get(pk=run.pk).control:
                control.cancel(run, "admin")

        worker.work(cancel_when_new_pages_stand)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert dict(PageHead.objects.values_list("url_key", "version_id")) == before
    assert faults(run) == []


def test_pause_and_resume_lose_nothing(ledger: Ledger) -> None:
    pages = {"/": Page([f"/{n}" for n in range(20)])} | {f"/{n}": Page() for n in range(20)}
    with serve(pages) as site:
        run = launch(LaunchRequest([make_document({"url": site.url("/")}).pk], by="test", speed="fast"))
        initialize(run)
        control.pause(run, "admin")
        InstanceLoop(run).work()
        assert Run.objects.get(pk=run.pk).state == "paused" and not site.requests["/"]
        control.resume(run, "admin")
        run = go_on(run)
        assert all(count == 1 for count in site.requests.values())
    assert run.state == "finished" and set(ledger(run).values()) == {"crawled"}


def test_a_dead_instance_can_write_nothing_more() -> None:
    instance = register(None)
    Instance.objects.filter(pk=instance.pk).update(alive=False)
    with pytest.raises(Fenced):
        fence(instance)


@proves("rule 7")
def test_a_process_that_is_gone_is_known_to_be_gone() -> None:
    instance = register(None)
    assert not gone(instance)
    instance.pid_started -= 1
    assert gone(instance)


def test_an_interrupted_queue_goes_on_where_it_was(ledger: Ledger) -> None:
    pages = {f"/{n}": Page([f"/{n + 1}"]) for n in range(12)}
    with serve(pages) as site:
        run = launch(LaunchRequest([make_document({"url": site.url("/0"), "depth": 20}).pk], by="test", speed="fast"))
        initialize(run)
        first = InstanceLoop(run)

        def die_in_the_middle(crawl: InstanceLoop) -> None:
            if Excursion.objects.get(run=run).crawled >= 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            first.work(die_in_the_middle)
        Instance.objects.filter(pk=first.row.pk).update(pid_started=1)  # as if its process had gone
        second = InstanceLoop(run)
        second.work()
    run.refresh_from_db()
    assert run.state == "finished"
    assert sum(verdict == "crawled" for verdict in ledger(run).values()) == 12
    assert faults(run) == []
    who = f"Process {first.row.pid} on {first.row.host} (instance {first.row.pk}) died"
    told = Event.objects.filter(run=run, kind="interrupted").order_by("id").values_list("doc_id", "text")
    document = Excursion.objects.get(run=run)
    assert list(told) == [
        (None, f"{who}; its document is taken over"),
        (document.doc_id, f"{document.title}: taken over. {who}"),
    ]


def test_a_death_is_told_once_and_not_to_a_run_that_has_ended() -> None:
    run = launch(LaunchRequest([make_document({"url": "http://127.0.0.1:1/"}).pk], by="test", speed="fast"))
    first, second = register(run.pk), register(run.pk)
    Instance.objects.filter(run=run).update(pid_started=1)
    first.refresh_from_db()
    second.refresh_from_db()
    assert declare_dead(first) and not declare_dead(first)
    Run.objects.filter(pk=run.pk).update(state="finished")
    assert declare_dead(second)
    assert Event.objects.get(run=run, kind="interrupted").text.endswith("; it served no document")


@proves("rule 19", "A21")
def test_a_crawl_point_that_is_deactivated_meanwhile_starts_nothing_more(ledger: Ledger) -> None:
    pages = {f"/a/{n}": Page([f"/a/{n + 1}"], delay=0.2) for n in range(40)} | {"/b/0": Page()}
    with serve(pages) as site:
        document = make_document({"url": site.url("/a/0"), "depth": 99}, {"url": site.url("/b/0")})
        run = launch(LaunchRequest([document.pk], by="test", speed="fast"))
        initialize(run)

        def deactivate(_: InstanceLoop) -> None:
            if Excursion.objects.get(run=run).crawled >= 3:
                CrawlPoint.objects.filter(url__contains="/a/").update(active=0)

        InstanceLoop(run).work(deactivate)
    run.refresh_from_db()
    verdicts = ledger(run)
    assert run.state == "finished" and faults(run) == []
    assert list(verdicts.values()).count("point_deactivated") == 1
    assert sum(path.startswith("/a/") for path in site.requests) < 20
    assert verdicts["/b/0"] == "crawled"


@proves("rule 19", "F8")
def test_excludes_can_be_applied_to_the_running_crawl(ledger: Ledger) -> None:
    pages = {"/": Page([f"/{n}" for n in range(40)])} | {f"/{n}": Page(delay=0.15) for n in range(40)}
    with serve(pages) as site:
        document = make_document({"url": site.url("/"), "max_pages": 1000})
        run = launch(LaunchRequest([document.pk], by="test", speed="medium", ignore_robots=True))
        initialize(run)
        told = []

        def apply(_: InstanceLoop) -> None:
            if not told and Excursion.objects.get(run=run).crawled >= 2:
                told.append(control.apply_excludes(run, document.pk, [site.url("/*")], "editor"))

        InstanceLoop(run).work(apply)
    run.refresh_from_db()
    assert run.state == "finished" and faults(run) == []
    counts = list(ledger(run).values())
    assert counts.count("excluded") > 15 and counts.count("crawled") >= 2
    tallied = {depth: done for depth, (done, _) in tallies(run).depths.items()}
    assert tallied == {depth: rows_of(run, None, Filter(taken=True, depth=depth)).count() for depth in (0, 1)}


@proves("rule 7")
def test_an_instance_with_many_queues_hands_over_to_one_that_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance, "LOOK_SECONDS", 0.05)  # it looks dozens of times while this site answers
    pages = {f"/{n}/": Page([f"/{n}/{m}" for m in range(30)]) for n in range(4)}
    pages |= {f"/{n}/{m}": Page(delay=0.2) for n in range(4) for m in range(30)}
    with serve(pages) as site:
        documents = [make_document({"url": site.url(f"/{n}/")}) for n in range(4)]
        run = launch(LaunchRequest([d.pk for d in documents], by="test", speed="fast"))
        initialize(run)
        first = InstanceLoop(run)
        idle = register(run.pk)
        served: list[int] = []

        def look(_: InstanceLoop) -> None:
            served.append(ActiveQueue.objects.filter(instance=first.row).count())
            if served[-1] == 2:
                Instance.objects.filter(pk=idle.pk).update(alive=False)  # seen enough

        first._looked = 0.0
        first.work(look)
    run.refresh_from_db()
    assert max(served) == 4 and 2 in served
    assert run.state == "finished" and faults(run) == []


@proves("A11")
def test_the_loss_of_the_database_costs_no_page(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"/": Page([f"/{n}" for n in range(20)])} | {f"/{n}": Page(delay=0.05) for n in range(20)}
    with serve(pages) as site:
        run = launch(LaunchRequest([make_document({"url": site.url("/")}).pk], by="test", speed="fast"))
        initialize(run)
        lost = iter([False, False, True, False, False, True])
        commit = storage.commit

        def unreliable(*arguments: Any) -> Any:
            if next(lost, False):
                raise OperationalError("server closed the connection unexpectedly")
            return commit(*arguments)

        monkeypatch.setattr(storage, "commit", unreliable)
        monkeypatch.setattr(BaseDatabaseWrapper, "close", lambda self: None)  # the test's transaction lives on it
        InstanceLoop(run).work()
    run.refresh_from_db()
    assert run.state == "finished" and faults(run) == []
    assert set(ledger(run).values()) == {"crawled"} and len(ledger(run)) == 21
