"""A URL may be reached again when it is done: nearer, by a further crawl point, or by one that has room."""

from collections.abc import Callable

import pytest

from crawler.engine import storage
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.models import Excursion, Instance, LedgerEntry, Run
from tests.crawler.conftest import crawl, go_on, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]


class Killed(BaseException):
    """Stands for kill -9: nothing in the product catches it."""


@proves("rule 5", "F13")
def test_depth_and_hop_in_the_ledger_are_the_smallest_of_the_whole_run() -> None:
    pages = {"/": Page(["/r", "/slow"]), "/r": Page(status=302, location="/t"), "/t": Page()}
    pages["/slow"] = Page(["/t"], delay=0.6)
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/")}))
    row = LedgerEntry.objects.get(excursion__run=run, url__endswith="/t")
    assert (row.depth, row.hop) == (1, 0)
    assert Excursion.objects.get(run=run).tallies["depth"] == {"0": [1, 0], "1": [3, 0]}
    assert faults(run) == []


@proves("rule 2", "F14")
def test_what_is_behind_one_crawl_points_maximum_another_may_still_reach(ledger: Ledger) -> None:
    with serve({"/a": Page(["/x"]), "/b": Page(["/x"], delay=0.8), "/x": Page(["/y"]), "/y": Page()}) as site:
        root = site.url("/")
        first, second = {"url": site.url("/a"), "root": root, "max_pages": 1}, {"url": site.url("/b"), "root": root}
        run = crawl(make_document(first, second))
        assert all(count == 1 for count in site.requests.values())
    assert ledger(run) == dict.fromkeys(("/a", "/b", "/x", "/y"), "crawled")
    assert run.state == "finished" and faults(run) == []


@proves("rule 1")
def test_what_a_further_crawl_point_reaches_is_not_lost_by_a_kill(
    monkeypatch: pytest.MonkeyPatch, ledger: Ledger
) -> None:
    pages = {"/a/": Page(["/b/x"]), "/late": Page(["/a/"], delay=0.8), "/b/x": Page()}
    commit = storage.commit

    def killed_behind_it(instance: Instance, works: list[storage.PendingWrites]) -> object:
        written = commit(instance, works)
        if LedgerEntry.objects.filter(url__endswith="/late").exists():
            raise Killed
        return written

    with serve(pages) as site:
        document = make_document({"url": site.url("/a/")}, {"url": site.url("/late"), "root": site.url("/")})
        run = launch(LaunchRequest([document.pk], by="test", speed="fast"))
        initialize(run)
        first = InstanceLoop(run)
        with monkeypatch.context() as patch:
            patch.setattr(storage, "commit", killed_behind_it)
            with pytest.raises(Killed):
                first.work()
        Instance.objects.filter(pk=first.row.pk).update(pid_started=1)  # as if its process had gone
        run = go_on(run)
    assert ledger(run) == dict.fromkeys(("/a/", "/late", "/b/x"), "crawled")
    assert faults(run) == []
