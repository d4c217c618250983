"""Owns: crawls that are left out: somebody decided that what they found counts nowhere, and may take them in again.

A crawl is the excursion of one document in one run. Until it is taken in again no generation is made of it, it says of
no page that it is missing, and no other crawl is compared with it; nothing of it is deleted.
Does not: change what is published (the next propagation does), ask who may.
Called by: rollback, the screens, the API, the commands.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable

from django.db.models import QuerySet
from django.utils import timezone

from clearinghouse.database.records import acting_as
from crawler.errors import WrongMoment
from crawler.models import Excursion
from crawlpoints.point_checks import Invalid

from ..bulk_sql import chunks
from ..launching.audited_change import record, together
from ..launching.control import note
from .pinned_scope import COUNT_WHEN_ASKED

REASON = 500  # characters
LISTED = 20


def kept() -> QuerySet[Excursion]:
    """Crawls there is something to decide about: they ended, and what they stored is there."""
    rows = Excursion.objects.filter(state__in=COUNT_WHEN_ASKED, unfinished=False)
    return rows.exclude(run__origin="preview").select_related("run").defer("snapshot", "tallies", "error")


def of_run(run_id: int, doc_ids: Collection[int] = ()) -> list[int]:
    """Those of a run, of all its documents or of these; WrongMoment where one of these has none."""
    rows = kept().filter(run_id=run_id)
    found = {row.doc_id: row.pk for row in (rows.filter(doc_id__in=doc_ids) if doc_ids else rows)}
    if missing := sorted(set(doc_ids) - found.keys()):
        raise WrongMoment(f"Run {run_id} has no results of document {missing[0]} that were kept")
    return sorted(found.values())


def lately() -> list[Excursion]:
    """The crawls that are left out, those decided last first."""
    return list(kept().exclude(left_out_at=None).order_by("-left_out_at", "-id")[:LISTED])


@together()
def leave_out(excursions: Collection[int], reason: str, *, by: str) -> int:
    """How many are left out now that were not before; given again it changes nothing."""
    reason = " ".join(reason.split())[:REASON]
    if not reason:
        raise Invalid({"reason": ["Say why this crawl is left out"]})
    rows = _known(excursions)
    now = timezone.now()
    values = {"left_out_reason": reason, "left_out_by": by, "left_out_at": now}
    changed = _changed([row for row in rows if row.left_out_at is None], values)
    _tell(changed, "leave_out", f"left out of what is published ({reason})", by, {"left_out_reason": reason})
    return len(changed)


@together()
def take_in(excursions: Collection[int], *, by: str) -> int:
    """They count again, as if they had never been left out."""
    rows = [row for row in _known(excursions) if row.left_out_at is not None]
    changed = _changed(rows, {"left_out_reason": "", "left_out_by": "", "left_out_at": None})
    _tell(changed, "take_in", "taken in again", by, {"left_out_reason": ""})
    return len(changed)


def _known(excursions: Collection[int]) -> list[Excursion]:
    wanted = sorted({int(one) for one in excursions})
    rows = [row for part in chunks(wanted) for row in kept().filter(pk__in=part).order_by("pk")]
    if len(rows) < len(wanted) or not wanted:
        raise WrongMoment("Only a crawl that has ended, with results that were kept, can be left out or taken in again")
    return rows


def _changed(rows: list[Excursion], values: dict[str, object]) -> list[Excursion]:
    for part in chunks([row.pk for row in rows]):
        Excursion.objects.filter(pk__in=part).update(**values)
    return rows


def _tell(rows: Iterable[Excursion], action: str, done: str, by: str, after: dict[str, str]) -> None:
    """A line in the log of each run, and one in the audit."""
    by_run: dict[int, list[Excursion]] = defaultdict(list)
    for row in rows:
        by_run[row.run_id].append(row)
    for run_id, mine in by_run.items():
        only = mine[0] if len(mine) == 1 else None
        what = only.title if only else f"{len(mine)} documents"
        doc_id = only.doc_id if only else None
        note(run_id, action, f"{what}: {done} by {by}", doc_id)
        told = {"documents": [row.doc_id for row in mine[:REASON]]}
        before = {"left_out_reason": mine[0].left_out_reason}  # as it was read
        sentence = f"Run {run_id}, {what}: {done}"
        with acting_as(by):
            record(action, mine[0].run, sentence, document_id=doc_id, before=told | before, after=told | after)
