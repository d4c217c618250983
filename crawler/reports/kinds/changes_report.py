"""Changes: what changed on the web, by document and crawl; also as an Atom feed."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from django.contrib.syndication.views import Feed
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed

from clearinghouse.web.templatetags.formats import plural, when
from crawler.models import Excursion
from crawler.runs.report_queries import changes_since
from crawler.runs.run_counts import Docs
from crawler.runs.views.run_access import visible_docs

from ..report_base import Bar, Chart, Column, Report, ReportCell, ReportRequest
from .activity import day_bars, max_of

KINDS = (("new", "Added"), ("changed", "Changed"), ("moved", "Moved"), ("gone", "Removed"), ("unchanged", "Unchanged"))
COLUMNS = (
    Column("title", "Document"),
    Column("run_id", "Run"),
    Column("finished_at", "Ended", fit=True),
    *(Column(name, label, num=True, sorts=False) for name, label in KINDS),
)
_CHANGES = ("new", "changed", "moved", "gone")
_CSS = {"new": "k-ok", "changed": "k-done", "moved": "k-warn", "gone": "k-err"}
_FEED_ENTRIES = 100


def report(asked: ReportRequest) -> Report:
    since, period = asked.since("7")
    project, by_project = asked.project()
    words, by_words = asked.words("Document contains")
    what, by_what = asked.one_of("show", "Show", (("", "With changes"), ("all", "All crawls")))
    rows = changes_since(asked.docs, since)
    rows = rows.filter(project=project) if project else rows
    rows = rows.filter(title__icontains=words) if words else rows
    sums, days = _sums(rows.values_list("finished_at", "tallies"))
    sort = asked.sort(COLUMNS, "-finished_at")
    found: Any = rows.order_by(sort, "-id")
    if not what:
        found = [row for row in found if any(counts_of(row)[name] for name in _CHANGES)]
    return Report(
        COLUMNS, found, lambda part: [_line(row) for row in part], "crawl", sort=sort,
        filters=(by_words, by_project, by_what, period), chart=_chart(days, sums),
        sentence=f"{plural(sums['new'], 'page')} added, {sums['changed']:,} changed, {sums['moved']:,} moved, "
        f"{sums['gone']:,} removed.",
        nothing="Nothing changed in this period.", extra={"feed": reverse("changes-feed")},
    )  # fmt: skip


def counts_of(row: Excursion) -> Counter[str]:
    """A first crawl has nothing to be compared with: everything is new."""
    return Counter((row.tallies or {}).get("change", {}))


def _line(row: Excursion) -> list[ReportCell]:
    counts = counts_of(row)
    tab = f"{reverse('run-tab', args=[row.run_id, 'changes'])}?doc={row.doc_id}"
    return [
        ReportCell(row.title, reverse("crawl-points", args=[row.doc_id])),
        ReportCell(f"Run {row.run_id}", reverse("run", args=[row.run_id]), value=row.run_id),
        ReportCell(when(row.finished_at), value=row.finished_at.isoformat() if row.finished_at else ""),
        *(ReportCell(counts[name], f"{tab}&kind={name}") for name, _ in KINDS),
    ]


def _sums(rows: Iterable[tuple[Any, Any]]) -> tuple[Counter[str], dict[date, Counter[str]]]:
    sums: Counter[str] = Counter()
    days: dict[date, Counter[str]] = {}
    for at, tallies in rows:
        change = {name: n for name, n in (tallies or {}).get("change", {}).items() if name in _CHANGES}
        sums.update(change)
        days.setdefault(timezone.localdate(at), Counter()).update({_CSS[name]: n for name, n in change.items()})
    return sums, days


def _chart(days: dict[date, Counter[str]], sums: Counter[str]) -> Chart | None:
    if not any(sums.values()):
        return None
    bars: list[Bar] = day_bars(days, tuple(_CSS.values()))
    words = {"new": "added", "changed": "changed", "moved": "moved", "gone": "removed"}
    parts = ", ".join(f"{sums[name]:,} {word}" for name, word in words.items())
    title = f"Pages that changed: {parts}; most in one column {max_of(bars):,}"
    return Chart("What changed", title, bars, [(_CSS[name], word) for name, word in words.items()])


class ChangesFeed(Feed):
    """The last hundred crawls that found a change, of the documents this person may see."""

    feed_type = Atom1Feed
    title = "Changes on the web - Clearinghouse"
    subtitle = "What the crawls of your documents found added, changed, moved and removed"

    def get_object(self, request: HttpRequest) -> Docs:
        return visible_docs(request)

    def link(self, docs: Docs) -> str:
        return reverse("report", args=["changes"])

    def items(self, docs: Docs) -> list[Excursion]:
        since = timezone.now() - timedelta(days=90)
        rows = changes_since(docs, since)[: 10 * _FEED_ENTRIES]
        return [row for row in rows if any(counts_of(row)[name] for name in _CHANGES)][:_FEED_ENTRIES]

    def item_title(self, item: Excursion) -> str:
        return f"{item.title}: run {item.run_id}"

    def item_description(self, item: Excursion) -> str:
        counts = counts_of(item)
        return ", ".join(f"{counts[name]:,} {label.lower()}" for name, label in KINDS)

    def item_link(self, item: Excursion) -> str:
        return f"{reverse('run-tab', args=[item.run_id, 'changes'])}?doc={item.doc_id}"

    def item_guid(self, item: Excursion) -> str:
        return f"urn:clearinghouse:excursion:{item.pk}"

    def item_updateddate(self, item: Excursion) -> Any:
        return item.finished_at

    def item_pubdate(self, item: Excursion) -> Any:
        return item.finished_at
