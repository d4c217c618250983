"""Everything the first tab of a run shows, gathered once: for the page and for its live parts."""

from datetime import datetime
from typing import Any

from django.urls import reverse

from clearinghouse.access.templatetags.pieces import duration, plural

from ..models import OPEN_STATES, Excursion, Run, State
from ..queries.aftermath import aftermath_of
from ..queries.counts import Docs, Tallies, Totals, tallies, totals
from ..queries.hosts import Served, served_now
from ..queries.pace import pace_of
from ..values import REASONS
from . import charts
from .verdict import state_word, verdict

_TOP = 6


def summary_of(run: Run, docs: Docs, now: datetime) -> dict[str, Any]:
    """The context of the progress card and the three charts."""
    sums, divided = totals(run, docs), tallies(run, docs)
    working = run.state == State.RUNNING
    pace = pace_of(run, docs, now) if working else None
    lines = charts.status_lines(divided)
    return {
        "run": run,
        "now": now,
        "open": run.state in OPEN_STATES,
        "sums": sums,
        "verdict": verdict(run, sums, pace.per_minute if pace else 0, now, aftermath_of(run, docs, sums)),
        "state_word": state_word(run, divided.reasons),
        "remarks": _remarks(sums, divided, pace.per_minute if pace else 0),
        "chart": charts.live_chart(pace.minutes, pace.per_minute) if pace else None,
        "minutes": list(enumerate(reversed(pace.minutes))) if pace else [],
        "depths": charts.depth_bars(divided),
        "statuses": lines,
        "status_parts": charts.stack([(line.css, line.count) for line in lines]),
        "status_title": charts.status_title(lines),
        "answers": sum(line.count for line in lines),
        "why_not": _why_not(divided),
        # Sites of documents a person may not see are nobody's business: shown to those who see the whole run.
        "sites_now": _sites_now(run, now) if working and docs is None else None,
    }


def _sites_now(run: Run, now: datetime) -> list[dict[str, str]]:
    """The sites being fetched from, each with what holds it up."""
    return [{"origin": one.origin, "word": _pace_word(one, now.timestamp())} for one in served_now(run)]


def _pace_word(one: Served, now: float) -> str:
    if one.failing_since:
        return f"does not answer since {duration(max(now - one.failing_since, 0))}"
    if one.wait_until > now + 1:
        return f"asked to wait another {duration(one.wait_until - now)}"
    return plural(one.flying, "request") if one.flying else ""


def _remarks(sums: Totals, divided: Tallies, per_minute: int) -> dict[str, str]:
    waiting = ""
    if sums.queued and per_minute:
        waiting = f"{max(round(sums.queued / per_minute), 1):,} min at this pace"
    return {
        "pages": f"{sums.crawled:,} new or changed" if sums.pages else "",
        "waiting": waiting,
        "skipped": _most(divided.skipped),
        "failed": _most(divided.failed) + (f", in {_documents(sums.trouble)}" if sums.trouble else ""),
    }


def _documents(count: int) -> str:
    return "1 document" if count == 1 else f"{count:,} documents"


def _most(reasons: dict[str, int]) -> str:
    """The most frequent reason: "986 outside the root string"."""
    if not reasons:
        return ""
    code, count = next(iter(reasons.items()))
    label = REASONS[code].label
    return f"all {label}" if len(reasons) == 1 and count > 1 else f"{count:,} {label}"


def _why_not(divided: Tallies) -> list[dict[str, Any]]:
    both = {**divided.skipped, **divided.failed}
    most = sorted(both.items(), key=lambda item: -item[1])[:_TOP]
    return [{"reason": REASONS[code], "count": count} for code, count in most]


def document_rows(run: Run, excursions: list[Excursion]) -> list[dict[str, Any]]:
    """A row of the documents table: its numbers with their lists, its bar."""
    pages, urls, errors = (reverse("run-tab", args=[run.pk, name]) for name in ("pages", "urls", "errors"))
    rows = []
    for one in excursions:
        done = one.crawled + one.unchanged + one.redirected + one.failed
        rows.append(
            {
                "excursion": one,
                "pages": one.crawled + one.unchanged,
                "done": done,
                "wanted": done + one.queued,
                "pages_url": f"{pages}?doc={one.doc_id}",
                "skipped_url": f"{urls}?outcome=skipped&doc={one.doc_id}",
                "errors_url": f"{errors}?doc={one.doc_id}",
            }
        )
    return rows
