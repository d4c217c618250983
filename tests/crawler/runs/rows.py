"""A run as the crawler would have left it: versions, ledger, messages, events, and counters that balance."""

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from clearinghouse.database.digests import digest_of
from clearinghouse.library.models import Document
from crawler.extract import pack_links
from crawler.findings.diagnosis import diagnose_due
from crawler.models import Event, Excursion, LedgerEntry, Message, PageBody, PageVersion, Run, State
from crawler.values import (
    CRAWLED,
    FAILED,
    LEFT_BEHIND,
    OUTCOMES,
    QUEUED,
    REDIRECTED,
    SKIPPED,
    UNCHANGED,
    Link,
    PointSettings,
    Snapshot,
)

SITE = "https://quality.example.gov"
SECRET = "swordfish"


class Maker:
    """Adds addresses to one excursion and keeps its counters as the crawler does."""

    def __init__(self, run: Run, document: Document, folder: str) -> None:
        self.run, self.document = run, document
        self.root = f"{SITE}/{folder}/"
        point = PointSettings(id=document.pk * 10, url=self.root, root=self.root, depth=2, auth_type=1, login="reader")
        snapshot = Snapshot(document.pk, (point,), (f"{self.root}print/*",))
        self.point = point
        self.excursion = Excursion.objects.create(
            run=run,
            doc_id=document.pk,
            title=document.title,
            state=run.state,
            opened=True,
            snapshot=snapshot.to_json(),
        )
        self.at: datetime = timezone.now() - timedelta(minutes=5)
        self.outcomes: Counter[str] = Counter()
        self.tallies: dict[str, Any] = {"reason": Counter(), "depth": defaultdict(lambda: [0, 0]), "status": Counter(),
                                        "type": Counter(), "left": Counter()}  # fmt: skip

    def page(
        self, path: str, depth: int, parent: str | None = None, *, links: tuple[str, ...] = (), **values: Any
    ) -> Any:
        """A stored page with its version."""
        url = self.root + path
        body = f"<html><title>{path or 'Start'} & more</title><p>Text of {url}</p></html>".encode()
        PageBody.objects.get_or_create(digest=digest_of(body), defaults={"content": body})
        version = PageVersion.objects.create(
            run_id=self.run.pk, doc_id=self.document.pk, url_key=digest_of(url), url=url, digest=digest_of(body),
            type_id=1, title=f"Title of {path or 'start'}", text=f"Text of {path}",
            metas='[["author", "A <b> person"]]',
            links=pack_links([Link(self.root + one, f"to {one}") for one in links]),
            size=len(body), charset="utf-8", content_type="text/html", found_at=self.at,
        )  # fmt: skip
        self.tallies["type"]["1"] += 1
        outcome = values.pop("outcome", CRAWLED)
        return self.decide(
            url, outcome, depth=depth, parent=parent, status=200, version_id=version.pk, size=len(body), **values
        )

    def decide(
        self, url: str, outcome: str, reason: str = "", *, depth: int = 1, parent: str | None = None, **values: Any
    ) -> Any:
        """A ledger row."""
        self.outcomes[outcome] += 1
        if reason:
            self.tallies["reason"][reason] += 1
        if values.get("status"):
            self.tallies["status"][str(values["status"])] += 1
        taken = values.pop("taken", outcome != SKIPPED or reason == "robots_disallowed")
        if taken:
            self.tallies["depth"][str(depth)][0] += 1
        if reason in LEFT_BEHIND:
            self.tallies["left"][str(depth)] += 1
        self.at += timedelta(seconds=2)
        return LedgerEntry.objects.create(
            excursion=self.excursion, doc_id=self.document.pk, url_key=digest_of(url), url=url, outcome=outcome,
            reason=reason, depth=depth, found_on=None if parent is None else digest_of(self.root + parent),
            crawl_point_id=self.point.id, at=self.at, milliseconds=120, taken=taken, **values,
        )  # fmt: skip

    def queue(self, path: str, depth: int, parent: str = "") -> Message:
        self.outcomes[QUEUED] += 1
        self.tallies["depth"][str(depth)][1] += 1
        url = self.root + path
        return Message.objects.create(
            excursion=self.excursion, url_key=digest_of(url), url=url, owner_id=self.point.id,
            reach=f"{self.point.id}:{depth}:0:0", depth=depth, found_on=digest_of(self.root + parent),
        )  # fmt: skip

    def done(self, state: str | None = None) -> Excursion:
        """Writes the counters."""
        one = self.excursion
        for outcome in OUTCOMES:
            setattr(one, outcome, self.outcomes[outcome])
        one.found = sum(self.outcomes.values())
        one.bytes = 20_000 * one.crawled
        one.tallies = {key: dict(value) for key, value in self.tallies.items()}
        one.state = state or one.state
        one.unfinished = bool(one.queued) or one.state in ("waiting", "running", "paused")
        one.started_at = self.run.started_at
        one.finished_at = None if one.unfinished else timezone.now()
        one.save()
        return one


def fill(maker: Maker, pages: int = 6, queued: int = 4, left: int = 0) -> Excursion:
    """Pages of three depths, and one of each kind of trouble."""
    names = [f"{number}.html" for number in range(1, pages)]
    maker.page("", 0, links=(*names, "missing.html", "print/7.html"))
    for number, name in enumerate(names):
        maker.page(name, 1 + number % 2, "", outcome=UNCHANGED if number % 3 else CRAWLED, links=("", "1.html"))
    root = maker.root
    maker.decide(f"{SITE}/careers/", SKIPPED, "outside_root", parent="", detail=root)
    maker.decide("https://cdn.example.net/report.pdf", SKIPPED, "outside_root", parent="1.html", depth=2, detail=root)
    # It was queued, and excluded while the crawl ran.
    maker.decide(f"{root}print/7.html", SKIPPED, "excluded", parent="", detail=f"{root}print/*", taken=True)
    maker.decide(f"{root}deep/er.html", SKIPPED, "too_deep", depth=3, parent="1.html", detail="depth 3 of 2")
    maker.decide(f"{root}private/", SKIPPED, "robots_disallowed", parent="", detail="Disallow: /private/")
    maker.decide(f"{root}missing.html", FAILED, "http_4xx", parent="", status=404)
    maker.decide(f"{root}slow.html", FAILED, "timeout", parent="1.html", depth=2, detail="60 s")
    maker.decide(f"{root}old", REDIRECTED, parent="", status=301, redirect_url=f"{root}1.html")
    for number in range(queued):
        maker.queue(f"waiting-{number}.html", 1 + number % 2)
    for number in range(left):
        maker.decide(f"{root}left-{number}.html", SKIPPED, "run_stopped", depth=2, parent="", taken=True)
    return maker.done("running" if queued else "stopped" if left else "finished")


def make_run(*documents: Document, state: str = State.RUNNING, queued: int = 4, left: int = 0) -> Run:
    """A run over these documents; with several, the last one is still waiting and the second is finished."""
    now = timezone.now()
    ended = state not in ("waiting", "running", "paused", "interrupted", "stopping")
    run = Run.objects.create(
        state=state, speed="polite", requested_by="administrator", created_at=now - timedelta(minutes=6),
        initialized=True, started_at=None if state == State.WAITING else now - timedelta(minutes=5),
        finished_at=now if ended else None,
    )  # fmt: skip
    for number, document in enumerate(documents):
        maker = Maker(run, document, ("measures", "indicators", "archive")[number % 3])
        if number == 2 and not ended:
            maker.queue("", 0)
            maker.done(State.WAITING)
        else:
            fill(maker, pages=6 + number, queued=0 if ended or number else queued, left=left)
        Event.objects.create(run=run, doc_id=document.pk, at=now, kind="start", text=f"Started {document.title}")
    Event.objects.create(run=run, at=now, kind="launch", text="Launched by administrator")
    return run


def limited_run(document: Document) -> Run:
    """Ended at its maximum of pages: a finding that warns, and needs a decision."""
    now = timezone.now()
    run = Run.objects.create(
        state="finished_at_limit", requested_by="administrator", created_at=now, started_at=now, finished_at=now,
        initialized=True,
    )  # fmt: skip
    maker = Maker(run, document, "measures")
    maker.point = replace(maker.point, max_pages=5)
    maker.excursion.snapshot = Snapshot(document.pk, (maker.point,)).to_json()
    maker.decide(f"{maker.root}late.html", "skipped", "page_limit")
    fill(maker, queued=0)
    maker.done("finished_at_limit")
    diagnose_due()
    return run
