"""The only way of these screens to a run: what the person may not see does not exist for them."""

from django.http import Http404, HttpRequest

from clearinghouse.access.policies import Action, doc_ids_for, require

from ..models import Run
from ..queries.counts import Docs
from ..queries.runs import visible_runs


def visible_docs(request: HttpRequest) -> Docs:
    require(request.user, Action.VIEW_RUNS)
    return doc_ids_for(request.user, Action.VIEW_RUNS)


def run_or_404(request: HttpRequest, run_id: int) -> tuple[Run, Docs]:
    """The run, and which of its documents this person sees."""
    docs = visible_docs(request)
    run = visible_runs(docs).filter(pk=run_id).first()
    if run is None:
        raise Http404("No such run")
    return run, docs


def number_in(request: HttpRequest, name: str) -> int | None:
    """A whole number of the query string; None when it is missing or nonsense."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
