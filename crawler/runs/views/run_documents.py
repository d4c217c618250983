"""The documents of a run as its table lists them: which group, in which order. For the page and for its live parts.

While somebody looks, rows stay where they are; what is said is that others belong there now.
"""

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page
from django.http import HttpRequest
from django.urls import reverse

from clearinghouse.accounts.policies import Action, may
from clearinghouse.web.listing import choice_in, page_of
from crawler.models import OPEN_STATES, Excursion, Run

from ..queries import TABS, documents_by_tab, documents_of
from ..run_counts import Docs
from .run_summary import document_rows

_GROUPS = (("now", "Running"), ("waiting", "Waiting"), ("finished", "Finished"))
_CHOOSE = ("state", "sort", "page", "size")  # what a list was asked for


def listed(request: HttpRequest, run: Run, docs: Docs) -> dict[str, Any]:
    """The page of the table that was asked for."""
    counts = documents_by_tab(run, docs)
    page = _page(request, run, docs, counts)
    rows = document_rows(run, list(page.object_list))
    return _groups(counts, every=run.state in OPEN_STATES) | {
        "group": choice_in(request.GET, "state", TABS),
        "sort": _sort(request),
        "page": page,
        "rows": rows,
        "row_commands": _row_commands(request, run, sum(counts.values())),
        "row_ids": ",".join(str(row["excursion"].pk) for row in rows),
        "list_query": list_query(request),
    }


def moved(request: HttpRequest, run: Run, docs: Docs) -> dict[str, Any]:
    """For a table that is shown: the counts of its groups, and the address of the list as it is now, if it differs."""
    counts = documents_by_tab(run, docs)
    present = _page(request, run, docs, counts).object_list
    ids = ",".join(str(pk) for pk in present.values_list("pk", flat=True))
    here = f"{reverse('run', args=[run.pk])}?{list_query(request)}#docs-h"
    return _groups(counts, every=True) | {"moved": "" if ids == request.GET.get("rows", "") else here}


def _groups(counts: dict[str, int], *, every: bool) -> dict[str, Any]:
    """How many documents are in each group; while a run goes on also in those that have none yet."""
    groups = [(name, label, counts[name]) for name, label in _GROUPS if counts[name] or every]
    return {"groups": groups, "all_documents": sum(counts.values())}


def list_query(request: HttpRequest) -> str:
    return urlencode({name: request.GET[name] for name in _CHOOSE if request.GET.get(name)})


def _page(request: HttpRequest, run: Run, docs: Docs, counts: dict[str, int]) -> Page[Excursion]:
    group = choice_in(request.GET, "state", TABS)
    known = counts[group] if group else sum(counts.values())
    return page_of(request, documents_of(run, docs, group, _sort(request)), count=known)


def _sort(request: HttpRequest) -> str:
    return request.GET.get("sort", "state")


def _row_commands(request: HttpRequest, run: Run, documents: int) -> bool:
    """Of a run that goes on, pause and resume; of one that ended with several documents, leave out."""
    if run.state in OPEN_STATES:
        return may(request.user, Action.CONTROL)
    return documents > 1 and may(request.user, Action.PROPAGATE)
