"""All runs a person may see, in three tabs: Now, Waiting, Finished."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse.access.policies import Action, may

from ..models import Run
from ..queries.counts import Docs, Totals, totals_of_runs
from ..queries.results import seconds_of
from ..queries.runs import FINISHED, NOW, WAITING, counts_by_tab, last_finished, runs_in
from .scope import visible_docs
from .verdict import state_word

PAGE_SIZE = 50
_LABELS = {NOW: "Now", WAITING: "Waiting", FINISHED: "Finished"}


@require_safe
def crawls(request: HttpRequest) -> HttpResponse:
    docs = visible_docs(request)
    tab = request.GET.get("tab", NOW)
    tab = tab if tab in _LABELS else NOW
    counts = counts_by_tab(docs)
    pages = Paginator(runs_in(tab, docs), PAGE_SIZE)
    pages.count = counts[tab]
    page = pages.get_page(request.GET.get("page"))
    context = {
        "tabs": [(name, label, counts[name]) for name, label in _LABELS.items()],
        "tab": tab,
        "page": page,
        "rows": run_rows(list(page.object_list), docs),
        "may_launch": may(request.user, Action.LAUNCH),
        "last": last_line(docs) if not page.object_list else None,
        "now": timezone.now(),
    }
    return render(request, "crawler/crawls.html", context)


def run_rows(runs: list[Run], docs: Docs) -> list[dict[str, Any]]:
    """What a list of runs shows of each."""
    sums = totals_of_runs(runs, docs) if runs else {}
    return [_row(run, sums.get(run.pk, Totals())) for run in runs]


def _row(run: Run, sums: Totals) -> dict[str, Any]:
    what = sums.title if sums.documents == 1 else f"{sums.documents:,} documents"
    return {"run": run, "sums": sums, "what": what, "seconds": seconds_of(run), "word": state_word(run)}


def last_line(docs: Docs) -> dict[str, Any] | None:
    """For empty lists: the last run that ended, and how much of it could be fetched."""
    run = last_finished(docs)
    if run is None:
        return None
    sums = totals_of_runs([run], docs).get(run.pk, Totals())
    good = 100 * (sums.done - sums.failed) // sums.done if sums.done else 0
    return {"run": run, "percent": good}
