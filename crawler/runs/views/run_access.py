"""The only way of these screens to a run: what the person may not see does not exist for them."""

from django.http import Http404, HttpRequest

from clearinghouse.accounts.policies import Action, NotAllowed, doc_ids_for, may, require
from crawler.models import Run

from ..queries import visible_run
from ..run_counts import Docs, excursions_of


def visible_docs(request: HttpRequest) -> Docs:
    require(request.user, Action.VIEW_RUNS)
    return doc_ids_for(request.user, Action.VIEW_RUNS)


def run_or_404(request: HttpRequest, run_id: int) -> tuple[Run, Docs]:
    """The run, and which of its documents this person sees."""
    docs = visible_docs(request)
    run = visible_run(docs, run_id)
    if run is None:
        raise Http404("No such run")
    return run, docs


def run_to_control_or_404(request: HttpRequest, run_id: int) -> tuple[Run, Docs]:
    """The same for who wants to pause or end it: that takes the right over every document of the run."""
    run, docs = run_or_404(request, run_id)
    if not may_control(request, run):
        raise NotAllowed(Action.CONTROL)
    return run, docs


def may_control(request: HttpRequest, run: Run) -> bool:
    if not may(request.user, Action.CONTROL):
        return False
    mine = doc_ids_for(request.user, Action.CONTROL)
    return mine is None or not excursions_of(run).exclude(doc_id__in=mine).exists()


def may_control_document(request: HttpRequest, doc_id: int) -> bool:
    mine = doc_ids_for(request.user, Action.CONTROL) if may(request.user, Action.CONTROL) else set()
    return mine is None or doc_id in mine
