"""check_ledger finds every kind of damage: a healthy run is hurt in one place, and the sentence names it."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F
from django.utils import timezone

from clearinghouse.database.digests import digest_of
from clearinghouse.operations.command_base import Stop
from crawler.engine.initializer import initialize
from crawler.extract import pack_links
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger import ledger_contents
from crawler.ledger.ledger_check import faults
from crawler.models import (
    ActiveQueue,
    CrawledPage,
    Excursion,
    Instance,
    LedgerEntry,
    Message,
    MessageState,
    PageBody,
    PageHead,
    PageVersion,
    Run,
)
from crawler.values import Link
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Rows = LedgerEntry.objects
Damage = Callable[[Excursion], Any]


@pytest.fixture
def run() -> Run:
    """Three pages (one unchanged in the second run), a redirect, a dead link and a skipped one."""
    pages = {
        "/m/": Page(["/m/a", "/m/old", "/m/gone", "/out"]),
        "/m/a": Page(["/m/b"]),
        "/m/b": Page(["/m/"]),
        "/m/old": Page(status=301, location="/m/b"),
    }
    with serve(pages) as site:
        document = make_document({"url": site.url("/m/"), "max_pages": 5})
        crawl(document)
        site.pages["/m/a"] = Page(["/m/b", "/m/"])
        run = crawl(document)
    assert faults(run) == []
    return run


def page(excursion: Excursion) -> LedgerEntry:
    """The page that changed: this run has a version of its own of it."""
    return Rows.get(excursion=excursion, outcome="crawled")


def of(outcome: str) -> Any:
    return Rows.filter(outcome=outcome).order_by("-id")[:1].get()


def change(row: Any, **values: Any) -> None:
    type(row).objects.filter(pk=row.pk).update(**values)


def tally(excursion: Excursion, name: str, value: Any) -> None:
    change(excursion, tallies=excursion.tallies | {name: value})


def message(excursion: Excursion, url: str, state: MessageState) -> None:
    Message.objects.create(
        excursion=excursion, url_key=digest_of(url), url=url, owner_id=1, reach="1:0:0", depth=0, state=state
    )


def serve_it(excursion: Excursion) -> None:
    now = timezone.now()
    instance = Instance.objects.create(
        host="h", boot="", namespace="", pid=1, pid_started=0, started_at=now, seen_at=now
    )
    ActiveQueue.objects.create(name="q", excursion=excursion, instance=instance)


def store_twice(excursion: Excursion) -> None:
    version = PageVersion.objects.get(pk=page(excursion).version_id)
    version.pk = version.pk + 1
    version.save(force_insert=True)


def change_one_byte(excursion: Excursion) -> None:
    """Of the same length: only the digest tells."""
    body = PageBody.objects.get(digest=PageVersion.objects.get(pk=page(excursion).version_id).digest)
    change(body, content=bytes(body.content).replace(b"<h1>", b"<h2>"))


def lose_a_link(excursion: Excursion) -> None:
    row = page(excursion)
    links = [Link(row.url + "/never-seen")]
    PageVersion.objects.filter(pk=row.version_id).update(links=pack_links(links))


def cancel_without_putting_back(excursion: Excursion) -> None:
    change(excursion, state="cancelled")
    Run.objects.filter(pk=excursion.run_id).update(state="cancelled")


DAMAGES: list[tuple[str, Damage, str]] = [
    ("I1 a row is lost", lambda e: of("failed").delete(), "failed says 1, the rows say 0"),
    ("I1 a counter is wrong", lambda e: change(e, crawled=F("crawled") + 1), "crawled says"),
    ("I1 found is wrong", lambda e: change(e, found=99), "found 99 is not the sum"),
    ("I1 depths are wrong", lambda e: tally(e, "depth", {"1": [3, 7]}), "the tally of depths has 7 waiting"),
    ("I1 what was left is wrong", lambda e: tally(e, "left", {"1": 2}), "were left, the rows say {}"),
    ("I1 a mark is wrong", lambda e: change(of("failed"), taken=False), "were taken from the queue, the rows say"),
    ("I12 no reason", lambda e: change(of("failed"), reason=""), "without a reason of the closed list"),
    ("I12 an unknown reason", lambda e: change(of("skipped"), reason="because"), "without a reason of the closed list"),
    ("I12 a reason of another outcome", lambda e: change(of("failed"), reason="excluded"), "without a reason"),
    ("I12 a reason for a page", lambda e: change(page(e), reason="excluded"), "although nothing went wrong"),
    ("I12 a fault without traceback", lambda e: change(of("failed"), reason="error"), "kept no traceback"),
    ("I12 the tally is wrong", lambda e: tally(e, "reason", {"excluded": 9}), "the tally of reasons"),
    ("I2 ended and open", lambda e: change(e, state="running"), "marked as finished"),
    ("I2 a message waits", lambda e: message(e, "http://a.org/", MessageState.WAITING), "with 1 message waiting"),
    ("I2 the queue is there", lambda e: message(e, page(e).url, MessageState.DONE), "its queue was not deleted"),
    ("I2 the queue is claimed", serve_it, "still marked as served"),
    (
        "I2 waiting and decided",
        lambda e: message(e, page(e).url, MessageState.WAITING),
        "1 message waits although there is a verdict",
    ),
    (
        "I2 done and undecided",
        lambda e: message(e, "http://a.org/", MessageState.DONE),
        "1 message is done and has no verdict",
    ),
    ("I2 found nowhere", lambda e: change(of("failed"), found_on=digest_of("x")), "found on a page that has no"),
    ("I2 a link is lost", lose_a_link, "1 linked address has no verdict"),
    ("I2 backlinks are wrong", lambda e: change(of("failed"), backlinks=7), "1 address has other backlinks"),
    ("I3 no version", lambda e: change(page(e), version_id=None), "1 page names no version"),
    ("I3 a lost version", lambda e: change(page(e), version_id=1), "1 page names a version that does not exist"),
    ("I3 another's version", lambda e: change(page(e), version_id=of("unchanged").version_id), "of another address"),
    (
        "I3 a version of no page",
        lambda e: change(of("failed"), version_id=page(e).version_id),
        "names a version without being a page",
    ),
    ("I3 no bytes", lambda e: PageBody.objects.all().delete(), "versions have no stored bytes"),
    ("I3 other bytes", change_one_byte, "1 content is not the bytes that were fetched"),
    ("I3 stored twice", store_twice, "1 version of this run is named by no page"),
    ("I3 a head is behind", lambda e: PageHead.objects.update(version_id=page(e).previous_version_id), "not shown by"),
    ("I3 a head is lost", lambda e: PageHead.objects.filter(url_key=page(e).url_key).delete(), "1 page is not shown"),
    ("I3 a head of nothing", lambda e: PageHead.objects.update(version_id=3), "heads show a version that does not"),
    ("I3 cancelled and shown", cancel_without_putting_back, "cancelled and its pages are still shown"),
    ("I3 not in crawled_pages", lambda e: CrawledPage.objects.first().delete(), "lacks 1 page and has 0 too many"),
    ("I3 twice in crawled_pages", lambda e: CrawledPage.objects.create(url=page(e).url, doc_id=e.doc_id), "1 too many"),
    ("I6 beyond the maximum", lambda e: tally(e, "point", {str(page(e).crawl_point_id): {"used": 6}}), "used 6 of 5"),
    ("I6 too deep", lambda e: change(page(e), depth=10), " allows: 9"),
    ("I6 a stranger's page", lambda e: change(page(e), crawl_point_id=0), "a crawl point that is not in the snapshot"),
    ("I10 too large", lambda e: PageVersion.objects.update(size=10_000_001), "stored beyond the size limit"),
    ("I10 cut in silence", lambda e: PageBody.objects.update(content=b"<p>"), "other bytes stored than their size"),
    ("redirects to nowhere", lambda e: change(of("redirected"), redirect_url=""), "1 address redirects to nowhere"),
    ("the run is open", lambda e: change(e.run, finished_at=None), "all excursions ended and the run did not"),
    ("the run ended first", lambda e: change(e, unfinished=True, state="running"), "the run ended before its"),
    ("the run says better", lambda e: change(e, state="stopped"), "the run is finished, the worst of its"),
]


@proves("rule 4", "I1", "I3", "I10", "I12")
@pytest.mark.parametrize(("damage", "sentence"), [row[1:] for row in DAMAGES], ids=[row[0] for row in DAMAGES])
def test_every_damage_is_named(run: Run, damage: Damage, sentence: str) -> None:
    damage(Excursion.objects.get(run=run))
    found = faults(Run.objects.get(pk=run.pk))
    assert any(sentence in one for one in found), found


@proves("I6")
def test_more_pages_than_all_maxima_allow_are_named(run: Run) -> None:
    excursion = Excursion.objects.get(run=run)
    excursion.snapshot["points"][0]["max_pages"] = 2
    excursion.save(update_fields=["snapshot"])
    assert any("3 pages were stored, all crawl points together may store 2" in one for one in faults(run))


def test_a_run_that_has_only_begun_balances() -> None:
    run = launch(LaunchRequest([make_document({"url": "http://127.0.0.1:1/"}).pk], by="test"))
    assert faults(run) == []
    initialize(run)
    assert faults(Run.objects.get(pk=run.pk)) == []


def test_an_older_run_is_not_blamed_for_what_a_newer_one_shows(run: Run) -> None:
    assert [faults(one) for one in Run.objects.all()] == [[], []]


def test_the_command_checks_every_run_or_one(run: Run) -> None:
    out, err = StringIO(), StringIO()
    call_command("check_ledger", stdout=out, stderr=err)
    assert "2 runs balance" in out.getvalue()
    change(of("failed"), reason="because")
    with pytest.raises(Stop, match="1 of 1 run does not balance"):
        call_command("check_ledger", str(run.pk), stdout=out, stderr=err)
    assert "closed list" in err.getvalue()


def test_of_many_pages_an_even_share_of_the_bytes_is_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_contents, "BODIES_AT_ONCE", 1)
    PageBody.objects.update(content=b"0")
    versions = PageVersion.objects.filter(run_id=run.pk - 1)  # three of them
    assert list(ledger_contents.of_bytes(versions)) == ["3 contents are not the bytes that were fetched"]
    monkeypatch.setattr(ledger_contents, "READ_AT_MOST", 0)
    assert list(ledger_contents.of_bytes(versions)) == []


def test_for_programs_every_broken_sentence_is_in_the_one_object(run: Run) -> None:
    out, err = StringIO(), StringIO()
    call_command("check_ledger", "--json", stdout=out, stderr=err)
    assert json.loads(out.getvalue()) == {"runs": 2, "faults": {}}
    change(of("failed"), reason="because")
    out = StringIO()
    with pytest.raises(Stop) as stop:
        call_command("check_ledger", "--json", stdout=out, stderr=err)
    told = json.loads(out.getvalue())
    assert (stop.value.returncode, told["runs"], list(told["faults"])) == (1, 2, [str(run.pk)])
    assert any("closed list" in sentence for sentence in told["faults"][str(run.pk)])
    assert err.getvalue() == "", "the sentences stand in the object only"
