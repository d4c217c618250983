"""A folder of the tree is left out from now on: an exclude URL of the document, with a note that says why."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.web.listing import number_in
from crawlpoints import services, undo
from crawlpoints.bulk_changes import Changed
from crawlpoints.point_checks import Invalid

from ..models import Run
from ..runs.run_counts import excursions_of
from ..runs.views.run_access import run_or_404

_MOST = 500  # characters of a note


@require_POST
def exclude(request: HttpRequest, run_id: int) -> HttpResponse:
    """Its pages leave at the next propagation; this run and what it stored stay as they are."""
    run, docs = run_or_404(request, run_id)
    folder = request.POST.get("folder", "").strip()[:2000]
    doc_id = _chosen(request, list(excursions_of(run, docs).values_list("doc_id", flat=True)[:2]))
    if not folder.endswith("/") or not excursions_of(run, docs).filter(doc_id=doc_id).exists():
        raise Http404("No such folder, or no such document in this run")
    document = document_or_404(request.user, doc_id, Action.EDIT)
    note = request.POST.get("note", "").strip()[:_MOST]
    if not note:
        messages.error(request, "Say in the note why this folder is left out. Nothing was changed.")
        return _back(run, doc_id, exclude=folder)
    try:
        added = services.add_exclude_url(document, f"{folder}*", note=note)
    except Invalid as refusal:
        messages.error(request, f"{refusal}. Nothing was changed.")
        return _back(run, doc_id, exclude=folder)
    sentence = f"Added exclude URL {added.pattern} to {document.title}. Its pages leave at the next propagation."
    undo.offer_change(request, document.pk, Changed(excludes=[added.pk]), sentence, at=_tree(run))
    return _back(run, doc_id)


def _chosen(request: HttpRequest, doc_ids: list[int]) -> int:
    """The document named, or the only one."""
    number = number_in(request.POST, "doc")
    if number is not None:
        return number
    return doc_ids[0] if len(doc_ids) == 1 else 0


def _tree(run: Run) -> str:
    return reverse("run-tab", args=[run.pk, "tree"])


def _back(run: Run, doc_id: int, **query: str) -> HttpResponse:
    return HttpResponseRedirect(f"{_tree(run)}?{urlencode({'doc': doc_id, **query})}")
