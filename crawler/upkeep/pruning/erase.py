"""Owns: removing one excursion with all that hangs on it, in short transactions, and the run with its last one.

Called by: pruning.
"""

import time
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from clearinghouse.database.aliases import WEBCRAWL
from crawler.launching import control
from crawler.ledger.ledger_check import PRUNING
from crawler.models import (
    Diagnosis,
    ErrorGroup,
    Event,
    ExcludeHit,
    Excursion,
    Finding,
    FolderFigure,
    HostFigure,
    Instance,
    LedgerEntry,
    PageHead,
    PageVersion,
    Run,
)

Rows = QuerySet[Any]
_ROWS = 400  # fewer than the parameters of a statement on any server
_BREATH = 0.02  # seconds between transactions: who waits for the lock comes first
_HANGING = (Finding, Diagnosis, HostFigure, FolderFigure, ErrorGroup, ExcludeHit)


def excursion(number: int) -> Iterator[tuple[int, int]]:
    """How many lines of the ledger and versions went with each step."""
    row = Excursion.objects.get(pk=number)
    Excursion.objects.filter(pk=number).update(control=PRUNING)  # from here on it is not whole
    while (step := _some_addresses(row)) is not None:
        yield step
        time.sleep(_BREATH)
    for model in _HANGING:
        in_steps(model.objects.filter(excursion=row), _ROWS)
    text = f"{row.title[:250]}: the results of its crawl were removed, older than results are kept"
    with transaction.atomic(using=WEBCRAWL):
        control.note(row.run_id, "pruned", text, row.doc_id)
        row.delete()
    _run_without_documents(row.run_id)
    yield 0, 0


def _some_addresses(row: Excursion) -> tuple[int, int] | None:
    with transaction.atomic(using=WEBCRAWL):
        lines = list(LedgerEntry.objects.filter(excursion=row).order_by("id")[:_ROWS])
        if not lines:
            return None
        LedgerEntry.objects.filter(pk__in=[line.pk for line in lines]).delete()
        return len(lines), _versions_nobody_names(row.doc_id, lines)


def _versions_nobody_names(doc_id: int, lines: list[LedgerEntry]) -> int:
    """Those of these addresses that no head shows and no other line names, as its own or as the one before."""
    keys = {line.url_key for line in lines}
    named = {number for line in lines for number in (line.version_id, line.previous_version_id) if number}
    of_these = {"doc_id": doc_id, "url_key__in": keys}
    named -= set(PageHead.objects.filter(**of_these).values_list("version_id", flat=True))
    for pair in LedgerEntry.objects.filter(**of_these).values_list("version_id", "previous_version_id"):
        named -= set(pair)
    return _delete(PageVersion.objects.filter(pk__in=named)) if named else 0


def _run_without_documents(run_id: int) -> None:
    """A run of which nothing is left goes with its log and its processes; a notice of it says what it was."""
    run = Run.objects.filter(pk=run_id).exclude(excursions__isnull=False).first()
    if run is None:
        return
    Run.objects.filter(pk=run_id).update(driver=None)
    in_steps(Event.objects.filter(run=run), _ROWS)
    in_steps(Instance.objects.filter(run=run, alive=False), _ROWS)
    run.delete()


def in_steps(rows: Rows, size: int) -> int:
    """Deletes them, so many in a transaction; how many."""
    gone = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:size]):
        with transaction.atomic(using=WEBCRAWL):
            rows.model._default_manager.filter(pk__in=keys).delete()
        gone += len(keys)
        time.sleep(_BREATH)
    return gone


def _delete(rows: Rows) -> int:
    return int(rows.delete()[0])
