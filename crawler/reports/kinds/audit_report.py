"""Audit: who changed what, with the values before and after. Never a password: see clearinghouse/audit."""

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDate
from django.urls import reverse

from clearinghouse.accounts.policies import sees_logins
from clearinghouse.audit.models import Entry
from clearinghouse.audit.queries import without_login
from clearinghouse.library.models import Document
from clearinghouse.web.templatetags.formats import plural, when
from crawlpoints.models import AuthType
from crawlpoints.point_checks import SWITCHES

from ..report_base import Chart, Column, Report, ReportCell, ReportRequest
from .activity import day_bars, max_of

COLUMNS = (
    Column("at", "When", fit=True),
    Column("actor", "Person"),
    Column("action", "Action"),
    Column("sentence", "What", sorts=False),
    Column("document_id", "Document"),
    Column("values", "Before and after", sorts=False),
)
_NAMES = {
    "url": "URL", "root": "root string", "max_pages": "maximum pages", "depth": "depth limit",
    "auth_type": "authentication", "login": "user ID", "has_saved_pw": "password saved",
}  # fmt: skip
_KINDS = {
    "crawlpoint": "crawl point", "excludeurl": "exclude URL", "documentnote": "note", "apikey": "key",
    "errorgroup": "error", "schedule": "planned crawl", "quietweek": "quiet hours", "publicswitch": "propagation",
    "searchrule": "search rule",
}  # fmt: skip


def report(asked: ReportRequest) -> Report:
    since, period = asked.since()
    rows = _visible(asked, since)
    actors = [("", "Anybody"), *((name, name) for name in _distinct(rows, "actor"))]
    kinds = [("", "Anything"), *((name, _KINDS.get(name, name)) for name in _distinct(rows, "kind"))]
    actor, by_actor = asked.one_of("actor", "Person", actors)
    kind, by_kind = asked.one_of("kind", "Thing", kinds)
    words, by_words = asked.words("Text contains")
    rows = rows.filter(actor=actor) if actor else rows
    rows = rows.filter(kind=kind) if kind else rows
    rows = rows.filter(Q(sentence__icontains=words)) if words else rows
    sort = asked.sort(COLUMNS, "-at")
    logins = sees_logins(asked.request.user)
    return Report(
        COLUMNS, rows.order_by(sort, "-id"), lambda part: _cells(part, logins), "entry,entries", sort=sort,
        filters=(by_words, by_actor, by_kind, period),
        chart=_chart(rows), sentence=f"{plural(rows.count(), 'change')} in this period.",
        nothing="Nobody changed anything in this period.",
    )  # fmt: skip


def _visible(asked: ReportRequest, since: datetime) -> QuerySet[Entry]:
    """Entries of no document (people, projects, settings) are for administrators."""
    rows = Entry.objects.filter(at__gte=since)
    return rows if asked.docs is None else rows.filter(document_id__in=asked.docs)


def _distinct(rows: QuerySet[Entry], column: str) -> list[str]:
    return list(rows.order_by(column).values_list(column, flat=True).distinct())


def _cells(rows: list[Entry], logins: bool) -> list[list[ReportCell]]:
    ids = {row.document_id for row in rows if row.document_id}
    titles = dict(Document.everything.filter(pk__in=ids).values_list("pk", "sheet__title"))
    return [_line(row, titles, logins) for row in rows]


def _line(row: Entry, titles: dict[int, str], logins: bool) -> list[ReportCell]:
    doc = row.document_id
    title = (titles.get(doc) or f"Document {doc}") if doc else ""
    return [
        ReportCell(when(row.at), value=row.at.isoformat()),
        ReportCell(row.actor),
        ReportCell(row.action),
        ReportCell(row.sentence),
        ReportCell(title, reverse("crawl-points", args=[doc]) if doc else ""),
        ReportCell(
            difference(row.before, row.after) if logins else difference(*map(without_login, (row.before, row.after)))
        ),
    ]


def difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    """depth: 3 → 4; only what differs, and only the new values of something added."""
    parts = []
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old == new or (new in (None, "", 0) and not before):
            continue
        was, now = _short(name, old), _short(name, new)
        parts.append(f"{_named(name)}: {was} → {now}" if before else f"{_named(name)}: {now}")
    return "; ".join(parts)


def _named(name: str) -> str:
    return _NAMES.get(name) or name.replace("_", " ")


def _short(name: str, value: Any) -> str:
    if isinstance(value, bool) or name in SWITCHES:
        text = "yes" if value else "no"
    elif name == "auth_type":
        text = str(AuthType(value or 0).label)
    elif isinstance(value, list):
        text = ", ".join(map(str, value)) or "none"
    else:
        text = "nothing" if value in (None, "") else str(value)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _chart(rows: QuerySet[Entry]) -> Chart | None:
    days = rows.order_by().annotate(day=TruncDate("at")).values("day").annotate(n=Count("id")).order_by("day")
    found = {row["day"]: Counter({"k-done": row["n"]}) for row in days}
    if not found:
        return None
    bars = day_bars(found, ("k-done",))
    whole = sum(bar.total for bar in bars)
    return Chart("Changes", f"Changes by people: {plural(whole, 'change')}; most in one column {max_of(bars):,}", bars)
