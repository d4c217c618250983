"""Looking an ended excursion through: its figures and findings are written once, in one transaction.

Doing it again changes nothing; doing it twice at once writes once. Called by: the job diagnose, the findings tab.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from statistics import median
from typing import Any

from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.database.digests import digest_of

from ..bulk_sql import chunks
from ..ledger.duplicates import unread_pdfs
from ..models import (
    BY_PEOPLE,
    OPEN_STATES,
    Diagnosis,
    ErrorGroup,
    ExcludeHit,
    Excursion,
    Finding,
    FolderFigure,
    HostFigure,
    State,
)
from ..values import CRAWLED, FAILED, OWN_MAXIMUM, SKIPPED, UNCHANGED, Snapshot
from . import queries as read
from .diagnosis_rules import advice, links_inside, look
from .ledger_figures import MOST_FOLDERS, Figures, alike, repeated
from .types import ExcursionFacts, FoundProblem, Start

AT_ONCE = 200  # excursions of one call
# Rules that judge a document as a whole: silent when only a part of it was crawled.
_OF_THE_WHOLE = {"only_start", "tiny", "page_limit", "depth_limit", "drop"}
LARGEST_COMPARED = 200_000  # pages whose contents are compared with each other


def diagnose_due() -> int:
    """Everything that ended and was not looked through; how many that were."""
    done = 0
    for excursion_id in read.undiagnosed(AT_ONCE):
        done += diagnose(excursion_id)
    return done


def diagnose_run(run_id: int) -> int:
    ended = Excursion.objects.filter(run=run_id, diagnosis=None, unfinished=False).exclude(state__in=OPEN_STATES)
    return sum(diagnose(excursion_id) for excursion_id in ended.order_by("id").values_list("id", flat=True)[:AT_ONCE])


def diagnose(excursion_id: int) -> bool:
    """True when this call wrote the diagnosis."""
    excursion = Excursion.objects.select_related("run").filter(pk=excursion_id, unfinished=False).first()
    if excursion is None or excursion.state in OPEN_STATES or Diagnosis.objects.filter(pk=excursion_id).exists():
        return False
    figures = Figures()
    if excursion.state == State.CANCELLED:
        return _write(excursion, figures, [], "")  # its results were discarded: nothing to say about them
    for line in read.lines_of(excursion):
        figures.add(line)
    facts = _facts(excursion, figures)
    found = [one for one in look(facts) if not (excursion.part and one.rule in _OF_THE_WHOLE)]
    return _write(excursion, figures, found, "" if excursion.state in BY_PEOPLE else advice(facts, found))


def _facts(excursion: Excursion, figures: Figures) -> ExcursionFacts:
    snapshot = Snapshot.from_json(excursion.snapshot)
    before = read.before(excursion)
    pages = excursion.crawled + excursion.unchanged
    contents = list(read.contents_of(excursion)) if pages <= LARGEST_COMPARED else []
    return ExcursionFacts(
        state=excursion.state,
        pages=pages,
        bytes=figures.stored_bytes + read.bytes_not_sent_again(excursion),
        before=before[1] if before else None,
        before_run=before[0] if before else None,
        failed=excursion.failed,
        fetched=pages + excursion.redirected + excursion.failed,
        reasons=Counter((excursion.tallies or {}).get("reason", {})),
        slow_down=(excursion.tallies or {}).get("slow_down", 0),
        throttled=figures.throttled,
        speed=excursion.run.speed,
        starts=tuple(_starts(excursion, snapshot)),
        cut=figures.cut,
        of_the_run=frozenset(_limited_by_the_run(excursion.snapshot)),
        deep=figures.deep,
        alike=tuple(alike(contents)),
        dated=figures.dated.total(),
        calendar=max(figures.dated.items(), key=lambda item: item[1], default=("", 0)),
        same_text=repeated(digest for _, digest in contents),
        unread=unread_pdfs(excursion).count(),
        only_page=read.only_page(excursion) if pages == 1 else None,
    )


def _limited_by_the_run(snapshot: dict[str, Any]) -> Iterator[int]:
    for point in snapshot["points"]:
        if point.get(OWN_MAXIMUM, point.get("max_pages")) != point.get("max_pages"):
            yield point["id"]


def _starts(excursion: Excursion, snapshot: Snapshot) -> list[Start]:
    result = []
    for point, row in read.starts_of(excursion, snapshot):
        outcome = row["outcome"]
        stored = outcome in (CRAWLED, UNCHANGED)
        target = row["redirect_url"] or (row["detail"] if row["reason"] == "redirect_outside_root" else "")
        result.append(
            Start(
                point=point,
                outcome=outcome,
                reason=row["reason"],
                status=row["status"],
                redirect_url=target if outcome == SKIPPED else "",
                links_inside=links_inside(point, read.links_of(row["version_id"])) if stored else None,
                failing_runs=read.failing_runs(excursion, row["key"]) if outcome == FAILED else 0,
            )
        )
    return result


def _write(excursion: Excursion, figures: Figures, found: list[FoundProblem], advised: str) -> bool:
    accepted = read.decided_before(excursion)
    folders = _write_folders(excursion, figures)
    new = sum(site.new for site in figures.whole.values())
    ended = excursion.finished_at or timezone.now()
    own = {"excursion": excursion, "doc_id": excursion.doc_id}
    of_run = own | {"run_id": excursion.run_id}
    try:
        with transaction.atomic(using=WEBCRAWL):
            Diagnosis.objects.create(**of_run, advice=advised, folders=folders, new=new, at=timezone.now())
            Finding.objects.bulk_create([_row(one, of_run, accepted) for one in found])
            HostFigure.objects.bulk_create(
                [
                    HostFigure(
                        **own, host=host, ended_at=ended, new=site.new, changed=site.changed, unchanged=site.unchanged,
                        bytes=site.bytes, robots=site.robots, outside=site.outside, excluded=site.excluded,
                        failed=site.failed, waiting=site.waiting, median_ms=site.median_ms,
                    )
                    for host, site in figures.top_sites()
                ]
            )  # fmt: skip
            ErrorGroup.objects.bulk_create(
                [
                    ErrorGroup(
                        **of_run, ended_at=ended, key=group.key, reason=group.reason, site=group.site[:300],
                        pattern=group.pattern[:300], status=group.status, count=group.count,
                        example=group.example,
                    )
                    for group in figures.top_groups()
                ]
            )  # fmt: skip
            hits = figures.excludes.most_common()
            ExcludeHit.objects.bulk_create([ExcludeHit(**of_run, pattern=text[:2048], count=n) for text, n in hits])
    except IntegrityError:
        return False  # somebody else was faster
    return True


def _write_folders(excursion: Excursion, figures: Figures) -> bool:
    """In short transactions before the diagnosis that makes them count; repeated, they are the same rows."""
    if not 0 < len(figures.folders) <= MOST_FOLDERS:
        return False
    rows = [
        FolderFigure(
            excursion=excursion, run_id=excursion.run_id, key=digest_of(folder), folder=folder, whole=whole,
            found=one.found, new=one.new, changed=one.changed, unchanged=one.unchanged, redirected=one.redirected,
            robots=one.robots, outside=one.outside, excluded=one.excluded, other=one.other, left=one.left,
            errors=one.errors, bytes=one.bytes, answers=len(one.times),
            median_ms=round(median(one.times)) if one.times else 0,
        )
        for whole, counted in ((False, figures.folders), (True, figures.whole))
        for folder, one in counted.items()
    ]  # fmt: skip
    for part in chunks(rows):
        _add_new(part, excursion)
    return True


def _add_new(rows: list[FolderFigure], excursion: Excursion) -> None:
    if connections[WEBCRAWL].features.supports_ignore_conflicts:
        FolderFigure.objects.bulk_create(rows, ignore_conflicts=True)
        return
    # SQL Server knows no such INSERT: it is told the new ones, and if somebody else tells them as well, the same.
    with suppress(IntegrityError):
        there = set(FolderFigure.objects.filter(excursion=excursion).values_list("whole", "key"))
        FolderFigure.objects.bulk_create([row for row in rows if (row.whole, row.key) not in there])


def _row(one: FoundProblem, of_run: dict[str, object], accepted: dict[tuple[str, str], Finding]) -> Finding:
    row = Finding(
        **of_run, rule=one.rule, subject=one.subject, weight=one.weight, sentence=one.sentence[:500],
        fixes=[fix.to_json() for fix in one.fixes],
    )  # fmt: skip
    before = accepted.get((one.rule, one.subject))
    if before is not None:  # known and accepted last time: no decision is needed again
        row.state, row.note = Finding.State.ACCEPTED, before.note
        row.decided_by, row.decided_at = before.decided_by, before.decided_at
    return row
