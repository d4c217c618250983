"""Everything the first tab of a run shows, gathered once: for the page and for its live parts."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.urls import reverse

from clearinghouse.accounts.policies import Action, doc_ids_for, may
from clearinghouse.web.templatetags.formats import duration, plural
from crawler.launching.control import PAUSE
from crawler.ledger.views.why_views import site_of
from crawler.models import OPEN_STATES, Excursion, Run, State
from crawler.sites.queries import Served, fetching_now, waited_for
from crawler.values import FAILED, SKIPPED, Reason

from ..crawl_pace import pace_of
from ..latest_crawls import KEPT
from ..near_limit import Nearly, nearly_full
from ..queries import documents_before
from ..run_counts import Docs, Tallies, Totals, scope_key, tallies, totals
from ..run_recap import aftermath_of
from ..run_status import Standing, limits_met, slow_word, slow_words, standing_of
from . import run_charts
from .run_sentence import PENDING, state_code, state_word, verdict

_TOP = 6
_MANY = 500


def summary_of(run: Run, docs: Docs, now: datetime) -> dict[str, Any]:
    """The context of the progress card and the three charts."""
    sums, divided, standing = _counters(run, docs)
    pace = pace_of(run, docs, now) if run.state == State.RUNNING else None
    per_minute = pace.per_minute if pace else 0
    lines = run_charts.status_lines(divided)
    shown = _now(run, docs, now)
    standing = replace(standing, slow=slow_words({one["origin"]: one["word"] for one in shown["slow_sites"]}))
    return shown | {
        "run": run,
        "now": now,
        "open": run.state in OPEN_STATES,
        "sums": sums,
        "wanted": sums.wanted,
        "percent": sums.percent,
        "verdict": verdict(run, sums, per_minute, now, aftermath_of(run, docs, divided), standing),
        "state_code": state_code(run, standing),
        "state_word": state_word(run, standing),
        "remarks": _remarks(sums, divided, per_minute),
        "chart": run_charts.live_chart(pace.minutes, pace.per_minute) if pace else None,
        "minutes": list(enumerate(reversed(pace.minutes))) if pace else [],
        "depths": run_charts.depth_bars(divided),
        "left_behind": divided.left.total(),
        "statuses": lines,
        "status_parts": run_charts.stack([(line.css, line.count) for line in lines]),
        "status_title": run_charts.status_title(lines),
        "answers": sum(line.count for line in lines),
        "why_not": _why_not(divided),
    }


def _counters(run: Run, docs: Docs) -> tuple[Totals, Tallies, Standing]:
    """Of a run over very many documents they may be a second old: its viewers share them."""
    key = f"counters:{run.pk}:{run.created_at:%s}:{run.state}:{scope_key(docs)}"
    known: tuple[Totals, Tallies, Standing] | None = cache.get(key)
    if known is None:
        divided = tallies(run, docs)
        known = totals(run, docs), divided, standing_of(run, divided.reasons, docs)
        if known[0].documents > _MANY:
            cache.set(key, known, 1)
    return known


def limits_close(user: Any, run: Run, docs: Docs) -> list[dict[str, Any]]:
    """The crawl points about to be cut off, with the dialog that raises the limit for who may do that."""
    if run.state != State.RUNNING:
        return []
    found = nearly_full(run, docs)
    mine = doc_ids_for(user, Action.EDIT) if found and may(user, Action.EDIT) else set()
    return [{"point": one, "href": _raise(one) if mine is None or one.doc_id in mine else ""} for one in found]


def _raise(one: Nearly) -> str:
    return f"{reverse('crawl-point-edit', args=[one.doc_id, one.point_id])}?max_pages={one.enough}"


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
    at = now.timestamp()
    lines = [(one, slow_word(one.wait_until, one.failing_since, at)) for one in waited_for(run, now)]
    return [{"origin": one.origin, "word": word, "since": _since(one, at)} for one, word in lines if word]


def _since(one: Served, now: float) -> str:
    if one.failing_since:
        return f"since {duration(max(now - one.failing_since, 0))}"
    return f"another {duration(one.wait_until - now)}"


def _remarks(sums: Totals, divided: Tallies, per_minute: int) -> dict[str, str]:
    waiting = ""
    if sums.queued and per_minute:
        waiting = f"{max(round(sums.queued / per_minute), 1):,} min at this pace"
    in_documents = f", in {plural(sums.trouble, 'document')}" if sums.trouble else ""
    return {
        "pages": f"{sums.crawled:,} with new content" if sums.pages else "",
        "waiting": waiting,
        "skipped": _most(divided.in_words(SKIPPED)),
        "failed": _most(divided.in_words(FAILED)) + in_documents,
    }


def _most(reasons: list[tuple[Reason, int]]) -> str:
    """The most frequent reason: "986 outside the root string"."""
    if not reasons:
        return ""
    reason, count = reasons[0]
    return f"all {reason.label}" if len(reasons) == 1 and count > 1 else f"{count:,} {reason.label}"


def _why_not(divided: Tallies) -> list[dict[str, Any]]:
    both = [*divided.in_words(SKIPPED), *divided.in_words(FAILED)]
    most = sorted(both, key=lambda item: -item[1])[:_TOP]
    return [{"reason": reason, "count": count} for reason, count in most]


def document_word(run: Run, one: Excursion, before: int = 0) -> str:
    """The state of one document of a run in words; `before`: how many documents are taken before it."""
    if one.state == State.RUNNING and run.control == PAUSE:
        return PENDING[PAUSE]
    if one.state == State.WAITING and before:
        return f"Waiting, {before:,} before it"
    return one.word


def _before(run: Run, excursions: list[Excursion]) -> dict[int, int]:
    """Of those that wait, how many are taken before each."""
    if not any(one.state == State.WAITING for one in excursions):
        return {}
    return {pk: place for place, pk in enumerate(documents_before(run))}


def _limits(excursions: list[Excursion]) -> dict[int, str]:
    """Of those that were cut off, by which limit."""
    cut = [one.pk for one in excursions if one.state == State.FINISHED_AT_LIMIT]
    rows = Excursion.objects.filter(pk__in=cut).annotate(limits=limits_met())
    return dict(rows.values_list("pk", "limits")) if cut else {}


def _command(run: Run, one: Excursion) -> str:
    """What can be asked of one document of a run that goes on: pause, resume."""
    if not one.unfinished or one.state == State.STOPPING or run.control or run.state not in OPEN_STATES:
        return ""
    return "resume" if one.control == PAUSE else "pause"


def document_rows(run: Run, excursions: list[Excursion]) -> list[dict[str, Any]]:
    """A row of the documents table: its numbers with their lists, its bar."""
    pages, urls, errors = (reverse("run-tab", args=[run.pk, name]) for name in ("pages", "urls", "errors"))
    before, limits = _before(run, excursions), _limits(excursions)
    rows = []
    for one in excursions:
        one.limits = limits.get(one.pk, "")
        done = one.crawled + one.unchanged + one.redirected + one.failed
        rows.append(
            {
                "excursion": one,
                "pages": one.crawled + one.unchanged,
                "done": done,
                "wanted": done + one.queued + one.left,
                "word": document_word(run, one, before.get(one.pk, 0)),
                "command": _command(run, one),
                "kept": run.state not in OPEN_STATES and one.state in KEPT,
                "pages_url": f"{pages}?doc={one.doc_id}",
                "skipped_url": f"{urls}?outcome=skipped&doc={one.doc_id}",
                "errors_url": f"{errors}?doc={one.doc_id}",
            }
        )
    return rows
