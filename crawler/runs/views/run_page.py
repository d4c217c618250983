"""The run page: the frame that all its tabs share, and the Summary tab."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, may
from crawler.findings.queries import counts_of
from crawler.launching.control import PAUSE
from crawler.launching.quiet_hours import held_by, silence
from crawler.models import OPEN_STATES, Excursion, Run, State
from crawlpoints import undo

from ..queries import faults_of, hold_of, instances_of, labels_of, requests_of, runs_to_compare
from ..run_actions import SPEEDS, controls_of
from ..run_advice import Advised, advised
from ..run_counts import Docs, Totals, tallies, totals
from ..run_recap import aftermath_of
from ..run_status import standing_of
from . import leave_out_views, run_documents
from .advice_shown import ask_for, first_findings, loss_of, recommendation_of
from .live_numbers import mark_of
from .run_access import may_control, run_or_404
from .run_sentence import state_code, state_word, verdict
from .run_summary import limits_close, summary_of

LIVE_COOKIE = "live"
LIVE_SECONDS = 365 * 24 * 3600
# Snapshots of more documents than these are not read only to count crawl points.
COUNTED_DOCUMENTS = 200


@dataclass(frozen=True, slots=True)
class Tab:
    name: str
    label: str
    url: str
    current: bool
    count: int | None = None
    looking: bool = False  # the number is not known yet


def frame(request: HttpRequest, run: Run, docs: Docs, sums: Totals, tab: str) -> dict[str, Any]:
    """What the head and the tabs of a run need."""
    controls = run.state in OPEN_STATES and may_control(request, run)
    advice = _advice(run, docs)
    return (
        {
            "run": run,
            "sums": sums,
            "tab": tab,
            "tab_label": _LABELS[tab],
            "tabs": _tabs(run, docs, sums, tab, looking=advice["looking"]),
            "now": timezone.now(),
            "open": run.state in OPEN_STATES,
            "controls": controls_of(run) if controls else [],
            "may_ask": run.state in OPEN_STATES and not controls,
            "held": held_by(hold_of(run), silence(timezone.now())) if run.control == PAUSE else "",
            "may_launch": may(request.user, Action.LAUNCH),
            "speed": SPEEDS.get(run.speed, run.speed),
            "speeds": SPEEDS,
            "points": _count_points(run, docs, sums),
            "undo": undo.offered(request),
        }
        | advice
        | leave_out_views.of_run(request.user, run, docs)
    )


def _advice(run: Run, docs: Docs) -> dict[str, Any]:
    found = Advised() if run.state in OPEN_STATES else advised(run, docs)
    ask_for(found)
    return {
        "advised": found.counts,
        "recommendation": recommendation_of(run, found),
        "looking": run.state in OPEN_STATES or found.looking > 0,
        "loss": loss_of(found),
        "accepted_in": found.accepted_in,
        "unforeseen": len(found.outlook.unknown),
    }


def _tabs(run: Run, docs: Docs, sums: Totals, current: str, *, looking: bool) -> list[Tab]:
    found = None if looking else sum(counts_of(run.pk, docs).values())
    counted = {"findings": found, "pages": sums.pages, "urls": sums.found, "errors": sums.failed}
    return [
        Tab(name, label, tab_url(run, name), name == current, counted.get(name), looking and name == "findings")
        for name, label in _LABELS.items()
    ]


_LABELS = {"": "Summary", "findings": "Findings", "pages": "Pages", "urls": "URLs", "hosts": "Hosts",
           "errors": "Errors", "changes": "Changes", "tree": "Tree", "log": "Log",
           "settings": "Settings used"}  # fmt: skip


def tab_url(run: Run, name: str) -> str:
    if name == "findings":
        return reverse("run-findings", args=[run.pk])
    return reverse("run-tab", args=[run.pk, name]) if name else reverse("run", args=[run.pk])


def _count_points(run: Run, docs: Docs, sums: Totals) -> int | None:
    if sums.documents > COUNTED_DOCUMENTS:
        return None
    rows = Excursion.objects.filter(run=run)
    rows = rows if docs is None else rows.filter(doc_id__in=docs)
    return sum(len((snapshot or {}).get("points", [])) for snapshot in rows.values_list("snapshot", flat=True))


def tab_frame(request: HttpRequest, run_id: int, tab: str) -> tuple[Run, Docs, dict[str, Any]]:
    """For the other tabs: the frame with its verdict sentence."""
    run, docs = run_or_404(request, run_id)
    sums = totals(run, docs)
    context = frame(request, run, docs, sums, tab)
    divided = tallies(run, docs)
    standing = standing_of(run, divided.reasons, docs)
    context |= {
        "tallies": divided,
        "state_code": state_code(run, standing),
        "state_word": state_word(run, standing),
        "verdict": verdict(run, sums, 0, context["now"], aftermath_of(run, docs, divided), standing),
    }
    return run, docs, context


@require_safe
def summary(request: HttpRequest, run_id: int) -> HttpResponse:
    run, docs = run_or_404(request, run_id)
    now = timezone.now()
    context = summary_of(run, docs, now)
    context = frame(request, run, docs, context["sums"], "") | context
    context |= run_documents.listed(request, run, docs)
    live = live_wanted(request)
    context |= {
        "live": context["open"] and live,
        "may_label": (labels := may_control(request, run)),
        "labels": [label for label, _ in labels_of(docs)] if labels else [],
        "other_runs": (others := runs_to_compare(run, docs) if not context["open"] else []),
        "compared": next((one.pk for one in others if one.pk < run.pk and one.whole), None),
        "mark": mark_of(run, docs).text,
        "faults": faults_of(run, docs) if run.state == State.FAILED else [],
        "requests": requests_of(run) if context["open"] and context["controls"] else [],
        "instances": instances_of(run) if context["open"] else 0,
        "table": request.GET.get("chart") == "table",
        "nearly": limits_close(request.user, run, docs),
        "findings": [] if context["open"] else first_findings(request.user, run, docs),
        "back": request.get_full_path(),
    }
    answer = render(request, "runs/run_summary.html", context)
    if request.GET.get("live") in ("on", "off"):
        answer.set_cookie(LIVE_COOKIE, request.GET["live"], max_age=LIVE_SECONDS, samesite="Lax", httponly=True)
    return answer


def live_wanted(request: HttpRequest) -> bool:
    """The switch Live updates, remembered by the browser; nothing of it is kept on the server."""
    return (request.GET.get("live") or request.COOKIES.get(LIVE_COOKIE, "on")) != "off"
