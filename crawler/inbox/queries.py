"""What needs somebody: the tasks of a person, and what they were told."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from clearinghouse.accounts.policies import Action, doc_ids_for, may

from ..findings.finding_links import RULES
from ..findings.queries import open_findings
from ..findings.types import WARN
from ..models import CrawlRequest, Delivery, Excursion, Finding, Propagation, TaskClaim
from ..propagation.services import OPEN_STATES
from ..runs.report_queries import seen
from ..runs.run_counts import Docs

MOST = 500
TOLD = 50


@dataclass(slots=True)
class Task:
    kind: str  # request, failing, finding, propagation
    id: int
    what: str
    title: str
    since: datetime
    doc_id: int | None = None
    run_id: int | None = None
    claimed_by: str = ""
    thing: Any = None

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.id}"


def tasks(editable: Docs, launchable: Docs | Collection[int], propagates: bool) -> list[Task]:
    """What this person could do something about, oldest first; requests before the rest."""
    found = [*_requests(launchable), *_findings(editable)]
    if propagates:
        found += _propagations()
    claims = dict(TaskClaim.objects.filter(task__in=[task.name for task in found]).values_list("task", "person"))
    for task in found:
        task.claimed_by = claims.get(task.name, "")
    return sorted(found, key=lambda task: (_ORDER.index(task.kind), task.since))


_ORDER = ("request", "propagation", "failing", "finding")


def waiting_for(user: Any) -> int:
    """How many tasks this person has, without reading them."""
    editable, launchable = doc_ids_for(user, Action.EDIT), doc_ids_for(user, Action.LAUNCH)
    number = _asked_for(launchable).count()
    if editable is None or editable:
        number += open_findings(editable, WARN).count()
    if may(user, Action.PROPAGATE):
        number += Propagation.objects.filter(state__in=OPEN_STATES).count()
    return number


def _asked_for(launchable: Docs | Collection[int]) -> QuerySet[CrawlRequest]:
    rows = CrawlRequest.objects.filter(state=CrawlRequest.State.WAITING)
    return seen(rows, launchable) if launchable is None or launchable else rows.none()


def _requests(launchable: Docs | Collection[int]) -> list[Task]:
    rows = _asked_for(launchable)
    return [
        Task("request", row.pk, f"Crawl requested by {row.asked_by}" + (f": {row.note}" if row.note else ""),
             row.title, row.asked_at, row.doc_id, thing=row)
        for row in rows.order_by("asked_at")[:MOST]
    ]  # fmt: skip


def _findings(editable: Docs) -> list[Task]:
    if editable is not None and not editable:
        return []
    return [_finding(row) for row in open_findings(editable, WARN).order_by("id")[:MOST]]


def _finding(row: Finding) -> Task:
    """A start page that failed in three runs is a failing crawl point: deactivating it is offered."""
    failing = row.rule == "start_failed" and any("active" in fix.get("change", {}) for fix in row.fixes)
    what = f"{'Crawl point failing' if failing else RULES.get(row.rule, row.rule)}: {row.sentence}"
    since = row.excursion.finished_at or timezone.now()
    return Task("failing" if failing else "finding", row.pk, what, row.excursion.title, since, row.doc_id, row.run_id)


def _propagations() -> list[Task]:
    rows = Propagation.objects.filter(state__in=OPEN_STATES).order_by("id")
    return [
        Task("propagation", row.pk, f"Propagation {row.pk} is {row.state}", f"asked for by {row.requested_by}",
             row.created_at)
        for row in rows[:MOST]
    ]  # fmt: skip


# -- notifications ----------------------------------------------------------------------------------------------


def told(person_id: int, docs: Docs) -> QuerySet[Delivery]:
    """What a person was told, newest first; of documents and runs only while they may see these."""
    rows = Delivery.objects.filter(person_id=person_id).select_related("notice").order_by("-notice__at", "-id")
    if docs is None:
        return rows
    of_a_run = Q(notice__run_id__in=Excursion.objects.filter(doc_id__in=docs).values("run_id"))
    of_nothing = Q(notice__run_id=None)
    return rows.filter(Q(notice__doc_id__in=docs) | Q(Q(notice__doc_id=None), of_a_run | of_nothing))


def unread(person_id: int, docs: Docs) -> int:
    return told(person_id, docs).filter(read_at=None).count()


def by_day(deliveries: Collection[Delivery]) -> list[tuple[datetime, list[Delivery]]]:
    groups = groupby(deliveries, key=lambda one: timezone.localdate(one.notice.at))
    return [(part[0].notice.at, part) for part in (list(rows) for _, rows in groups)]
