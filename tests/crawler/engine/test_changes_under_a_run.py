"""What changes under a running crawl: crawl points edited and deleted (A21), pages that alternate (E19), and how much
one page may bring (F12)."""

import time
from collections.abc import Callable

import pytest

from crawler.engine import loop
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.models import Excursion, LedgerEntry, PageBody, PageHead, PageVersion, Run
from crawlpoints.models import CrawlPoint
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
MANY = 50


def slow(folder: str) -> dict[str, Page]:
    pages = {folder: Page([f"{folder}{n}" for n in range(MANY)])}
    return pages | {f"{folder}{n}": Page(delay=0.1) for n in range(MANY)}


def change_meanwhile(run: Run, change: Callable[[], object]) -> None:
    """As soon as a few pages are stored."""
    initialize(run)
    changed: list[float] = []

    def look(_: InstanceLoop) -> None:
        if not changed and Excursion.objects.get(run=run).crawled >= 3:
            change()
            changed.append(time.monotonic())

    InstanceLoop(run).work(look)
    assert changed
    run.refresh_from_db()


@proves("rule 19", "A21")
def test_a_crawl_point_edited_meanwhile_is_crawled_as_it_was(ledger: Ledger) -> None:
    with serve(slow("/m/")) as site:
        run = launch(LaunchRequest([make_document({"url": site.url("/m/")}).pk], by="test", speed="fast"))
        values = {"root": site.url("/elsewhere/"), "url": site.url("/elsewhere/"), "depth": 0, "max_pages": 1}
        change_meanwhile(run, lambda: CrawlPoint.objects.update(**values))
    assert run.state == "finished" and faults(run) == []
    assert list(ledger(run).values()) == ["crawled"] * (MANY + 1)


@proves("A21")
def test_a_crawl_point_deleted_meanwhile_starts_nothing_more_and_its_pages_stay(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "LOOK_SECONDS", 0.1)
    with serve(slow("/m/")) as site:
        document = make_document({"url": site.url("/m/")})
        run = launch(LaunchRequest([document.pk], by="test", speed="medium", ignore_robots=True))
        change_meanwhile(run, lambda: CrawlPoint.objects.get().delete())
        assert sum(site.requests.values()) < MANY / 2
    verdicts = list(ledger(run).values())
    assert run.state == "finished" and faults(run) == []
    assert set(verdicts) == {"crawled", "point_deactivated"} and len(verdicts) == MANY + 1
    assert PageHead.objects.filter(doc_id=document.pk).count() == verdicts.count("crawled") >= 3


@proves("E19")
def test_of_a_page_that_alternates_one_revision_is_stored_whole(ledger: Ledger) -> None:
    """Head, digest, bytes, title and links are of the same answer, however often it is asked for."""
    one, two = (
        Page(body=f"<title>{name}</title><p>{name * 5000}<a href=/{name}>to {name}</a>".encode()) for name in "ab"
    )
    with serve({"/": Page(script=[one, two, one]), "/a": Page(), "/b": Page()}) as site:
        document = make_document({"url": site.url("/")})
        runs = [crawl(document), crawl(document), crawl(document)]
        pages = dict(zip(runs, "aba", strict=True))
    for run, name in pages.items():
        assert faults(run) == []
        assert f"/{name}" in ledger(run)
        entry = LedgerEntry.objects.get(excursion__run=run, url=site.url("/"))
        version = PageVersion.objects.get(pk=entry.version_id)
        body = bytes(PageBody.objects.get(digest=version.digest).content)
        assert (version.title, body.count(name.encode() * 5000), entry.size) == (name, 1, len(body))


@proves("E17", "F12")
def test_of_a_page_with_more_links_than_are_kept_all_that_are_kept_have_a_verdict(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = 100_500
    body = b"".join(b"<a href=%d>x</a>" % number for number in range(found))
    with serve({"/": Page(body=body)}) as site:
        run = crawl(make_document({"url": site.url("/"), "depth": 0}))
    excursion = Excursion.objects.get(run=run)
    assert (excursion.crawled, excursion.skipped, excursion.found) == (1, 100_000, 100_001)
    assert LedgerEntry.objects.filter(excursion=excursion, reason="too_deep").count() == 100_000
    version = PageVersion.objects.get(run_id=run.pk)
    assert "links_cut" in version.flags.split() and len(bytes(version.links)) < 1_500_000
