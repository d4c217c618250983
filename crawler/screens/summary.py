"""Everything the first tab of a run shows, gathered once: for the page and for its live parts."""

from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.urls import reverse

from clearinghouse.access.templatetags.pieces import duration

from ..control import PAUSE
from ..models import OPEN_STATES, Excursion, Run, State
from ..queries.aftermath import aftermath_of
from ..queries.counts import Docs, Tallies, Totals, tallies, totals
from ..queries.hosts import Served, fetching_now, waited_for
from ..queries.pace import pace_of
from ..queries.runs import cause_of
from ..values import REASONS
from . import charts
from .verdict import state_word, verdict
from .why import site_of

_TOP = 6
_MANY = 500


def summary_of(run: Run, docs: Docs, now: datetime) -> dict[str, Any]:
    """The context of the progress card and the three charts."""
    sums, divided = _counters(run, docs)
    working = run.state == State.RUNNING
    pace = pace_of(run, docs, now) if working else None
    lines = charts.status_lines(divided)
    context: dict[str, Any] = {
        "run": run,
        "now": now,
        "open": run.state in OPEN_STATES,
        "sums": sums,
        "verdict": verdict(run, sums, pace.per_minute if pace else 0, now, aftermath_of(run, docs, sums)),
        "state_word": state_word(run, divided.reasons, cause_of(run)),
        "remarks": _remarks(sums, divided, pace.per_minute if pace else 0),
        "chart": charts.live_chart(pace.minutes, pace.per_minute) if pace else None,
        "minutes": list(enumerate(reversed(pace.minutes))) if pace else [],
        "depths": charts.depth_bars(divided),
        "statuses": lines,
        "status_parts": charts.stack([(line.css, line.count) for line in lines]),
        "status_title": charts.status_title(lines),
        "answers": sum(line.count for line in lines),
        "why_not": _why_not(divided),
    }
    return context | _now_and_word(run, docs, now, context["state_word"])


def _counters(run: Run, docs: Docs) -> tuple[Totals, Tallies]:
    """Of a run over very many documents they may be a second old: its viewers share them."""
    scope = "all" if docs is None else hash(frozenset(docs))
    key = f"counters:{run.pk}:{run.created_at:%s}:{run.state}:{scope}"
    known: tuple[Totals, Tallies] | None = cache.get(key)
    if known is None:
        known = totals(run, docs), tallies(run, docs)
        if known[0].documents > _MANY:
            cache.set(key, known, 1)
    return known


def _now_and_word(run: Run, docs: Docs, now: datetime, word: str) -> dict[str, Any]:
    """What is being fetched, and whether a site holds the run up: Running slowly."""
    shown = _now(run, docs, now)
    slow = shown["slow_sites"]
    if not slow or word:
        return shown
    reason = slow[0]["origin"] if len(slow) == 1 else f"{len(slow)} sites"
    return shown | {"state_word": f"Running slowly ({reason})"}


def _now(run: Run, docs: Docs, now: datetime) -> dict[str, Any]:
    """What is being fetched, and which sites hold it up; nothing of documents a person may not see."""
    if run.state != State.RUNNING:
        return {"fetching": None, "slow_sites": [], "requests_now": 0}
    count, flights = fetching_now(run, docs)
    lines = [
        {"site": site, "path": flight.url.removeprefix(site), "seconds": max(now.timestamp() - flight.begun, 0)}
        for flight in flights
        for site in [site_of(flight.url)]
    ]
    return {"fetching": lines, "requests_now": count, "slow_sites": _slow_sites(run, now) if docs is None else []}


def _slow_sites(run: Run, now: datetime) -> list[dict[str, str]]:
    """The sites that hold the run up, and how."""
    lines = [{"origin": one.origin, "word": _pace_word(one, now.timestamp())} for one in waited_for(run, now)]
    return [line for line in lines if line["word"]]


def _pace_word(one: Served, now: float) -> str:
    if one.failing_since:
        return f"does not answer since {duration(max(now - one.failing_since, 0))}"
    if one.wait_until > now + 1:
        return f"asked to wait another {duration(one.wait_until - now)}"
    return ""


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


def document_word(one: Excursion) -> str:
    """What was asked of the document and has not happened yet."""
    return "Pausing" if one.control == PAUSE and one.state == State.RUNNING else ""


def _command(run: Run, one: Excursion) -> str:
    """What can be asked of one document of a run that goes on: pause, resume."""
    if not one.unfinished or one.state == State.STOPPING or run.control or run.state not in OPEN_STATES:
        return ""
    return "resume" if one.control == PAUSE else "pause"


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
                "word": document_word(one),
                "command": _command(run, one),
                "pages_url": f"{pages}?doc={one.doc_id}",
                "skipped_url": f"{urls}?outcome=skipped&doc={one.doc_id}",
                "errors_url": f"{errors}?doc={one.doc_id}",
            }
        )
    return rows
