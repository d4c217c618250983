"""All runs a person may see, in tabs: Now, Waiting, Finished; and the calendar of what is planned."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, may
from clearinghouse.web.plurals import plural
from crawler.launching import quiet_hours
from crawler.launching.views.plan_views import calendar_of
from crawler.models import Hold, Run, State

from ..queries import FINISHED, NOW, WAITING, counts_by_tab, labels_of, last_finished, runs_in, waiting_before
from ..run_counts import Docs, Totals, totals_of_runs
from ..run_json import seconds_of
from ..run_status import Standing, standings
from .run_access import page_size, visible_docs
from .run_sentence import state_code, state_word

CALENDAR = "calendar"
_LABELS = {NOW: "Now", WAITING: "Waiting", FINISHED: "Finished"}


@require_safe
def crawls(request: HttpRequest) -> HttpResponse:
    docs = visible_docs(request)
    tab = request.GET.get("tab", NOW)
    tab = tab if tab in _LABELS else NOW
    counts = counts_by_tab(docs)
    label = " ".join(request.GET.get("label", "").split())
    common = {
        "tabs": [(name, label, counts[name]) for name, label in _LABELS.items()],
        "may_launch": may(request.user, Action.LAUNCH),
        "may_request": may(request.user, Action.REQUEST),
        "may_pause": may(request.user, Action.ADMINISTER),
        "silence": quiet_hours.silence(timezone.now()),
        "now": timezone.now(),
    }
    if request.GET.get("tab") == CALENDAR:
        return render(request, "runs/crawls.html", common | {"tab": CALENDAR} | calendar_of(request, docs))
    pages = Paginator(runs_in(tab, docs, label), page_size(request))
    if not label:
        pages.count = counts[tab]
    page = pages.get_page(request.GET.get("page"))
    context = common | {
        "tab": tab,
        "label": label,
        "labels": labels_of(docs, tab),
        "page": page,
        "rows": run_rows(list(page.object_list), docs),
        "last": last_line(docs) if not page.object_list and not label else None,
    }
    return render(request, "runs/crawls.html", context)


def run_rows(runs: list[Run], docs: Docs) -> list[dict[str, Any]]:
    """What a list of runs shows of each."""
    if not runs:
        return []
    now = timezone.now()
    sums = totals_of_runs(runs, docs)
    stand = standings(runs, docs, now)
    before = waiting_before(runs)
    holds = dict(Hold.objects.filter(run__in=[run.pk for run in runs]).values_list("run_id", "reason"))
    silence = quiet_hours.silence(now) if holds else None
    rows = []
    for run in runs:
        held = quiet_hours.held_by(holds.get(run.pk, ""), silence) if run.control == "pause" else ""
        rows.append(_row(run, sums.get(run.pk, Totals()), stand[run.pk], _why(run, held, before.get(run.pk, 0))))
    return rows


def _row(run: Run, sums: Totals, standing: Standing, why: str) -> dict[str, Any]:
    what = sums.title if sums.documents == 1 else plural(sums.documents, "document")
    return {
        "run": run,
        "sums": sums,
        "what": what,
        "seconds": seconds_of(run),
        "code": state_code(run, standing),
        "word": state_word(run, standing),
        "why": why,
    }


def _why(run: Run, held: str, before: int) -> str:
    """Why nothing moves, for a run that could."""
    if held:
        return held if " until " in held else f"by {held}"
    if run.state != State.WAITING:
        return ""
    return f"waiting for a free worker, {before:,} before it" if before else "waiting for a free worker"


def last_line(docs: Docs) -> dict[str, Any] | None:
    """For empty lists: the last run that ended, and how much of it could be fetched."""
    run = last_finished(docs)
    if run is None:
        return None
    sums = totals_of_runs([run], docs).get(run.pk, Totals())
    good = 100 * (sums.done - sums.failed) // sums.done if sums.done else 0
    return {"run": run, "percent": good, "ended": _ENDED.get(run.state, "finished")}


_ENDED = {State.STOPPED: "was stopped", State.CANCELLED: "was cancelled", State.FAILED: "failed"}
