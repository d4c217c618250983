"""The Findings tab of a run, and what people do about a finding."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.accounts.sign_in.visitor_address import safe_next
from clearinghouse.database.records import StaleRecord
from clearinghouse.library.models import Document
from clearinghouse.web.listing import choice_in, number_in, page_of, whole_number
from crawlpoints import undo
from crawlpoints.bulk_changes import Changed
from crawlpoints.point_checks import Invalid

from ..errors import WrongMoment
from ..models import Finding, Run
from ..runs.run_counts import Docs
from ..runs.views.advice_shown import shown_to
from ..runs.views.run_access import run_or_404, visible_docs
from ..runs.views.run_page import tab_frame
from ..runs.views.run_sentence import NEEDING
from . import finding_links
from .decisions import decide as write_decision
from .decisions import repair
from .diagnosis import diagnose_run
from .queries import counts_of, findings_of, needing, undiagnosed_of


@require_safe
def tab(request: HttpRequest, run_id: int) -> HttpResponse:
    run, docs, context = tab_frame(request, run_id, "findings")
    found = {} if context["looking"] else context["advised"]
    return render(request, "findings/run.html", context | _list(request, run, docs, found))


def _list(request: HttpRequest, run: Run, docs: Docs, advised: dict[str, int]) -> dict[str, Any]:
    state = choice_in(request.GET, "state", (NEEDING, *Finding.State.values))
    doc_id = number_in(request.GET, "doc")
    rows = needing(run.pk, docs) if state == NEEDING else findings_of(run.pk, docs, state)
    rows = rows.filter(doc_id=doc_id) if doc_id is not None else rows
    page = page_of(request, rows)
    found = list(page.object_list)
    counts = counts_of(run.pk, docs)
    return {
        "page": page,
        "findings": shown_to(request.user, found),
        "chips": [("", "All", sum(counts.values())), (NEEDING, "Needs attention", needing(run.pk, docs).count())]
        + [(one.value, one.label, counts[one]) for one in Finding.State],
        "state": state,
        "pending": undiagnosed_of(run.pk, docs),
        "advised": [
            (label, advised[value], *finding_links.ADVICE_WORDS[value])
            for value, label in finding_links.Advice.choices
            if value in advised
        ],
        "back": request.get_full_path(),
    }


@require_POST
def derive(request: HttpRequest, run_id: int) -> HttpResponse:
    """Look the ended documents of the run through now; the tick does the same."""
    run, _ = run_or_404(request, run_id)
    diagnose_run(run.pk)
    return HttpResponseRedirect(reverse("run-findings", args=[run.pk]))


@require_POST
def decide(request: HttpRequest, finding_id: int) -> HttpResponse:
    finding, _ = _to_change(request, finding_id)
    state = request.POST.get("state", "")
    if state not in Finding.State.values:
        raise Http404("No such state")
    note = request.POST.get("note", "").strip()
    write_decision(finding, state, request.user.get_username(), note)
    messages.success(request, f"{Finding.State(state).label}: {finding.sentence}")
    return _back(request, finding)


@require_POST
def fix(request: HttpRequest, finding_id: int) -> HttpResponse:
    """One press: the repair is carried out as the dialog would, and the finding is solved."""
    finding, document = _to_change(request, finding_id)
    number = whole_number(request.POST.get("number"), 3)
    try:
        done, changed = repair(finding, -1 if number is None else number, document, _name(request))
    except (Invalid, WrongMoment, StaleRecord) as refusal:
        messages.error(request, f"{refusal}. Nothing was changed.")
    else:
        _say_done(request, finding, f"{done}. It applies to the next crawl.", changed)
    return _back(request, finding)


def _say_done(request: HttpRequest, finding: Finding, sentence: str, changed: Changed) -> None:
    if not changed.anything:  # it was that way already
        messages.success(request, sentence)
        return
    shown_at = _back(request, finding).url.partition("?")[0]
    undo.offer_change(request, finding.doc_id, changed, sentence, at=shown_at, finding=finding.pk)


@require_POST
def take_back(request: HttpRequest, finding_id: int) -> HttpResponse:
    """Undo of a repair: the settings as they were, and the finding open again."""
    finding, document = _to_change(request, finding_id)
    if undo.take_back(request, document.pk):
        write_decision(finding, Finding.State.OPEN, _name(request))
    return _back(request, finding)


def _to_change(request: HttpRequest, finding_id: int) -> tuple[Finding, Document]:
    """404 for who may not see it, refused for who may not change its document."""
    docs = visible_docs(request)
    finding = Finding.objects.filter(pk=finding_id).first()
    if finding is None or (docs is not None and finding.doc_id not in docs):
        raise Http404("No such finding")
    return finding, document_or_404(request.user, finding.doc_id, Action.EDIT)


def _name(request: HttpRequest) -> str:
    return str(request.user.get_username())


def _back(request: HttpRequest, finding: Finding) -> HttpResponseRedirect:
    there = reverse("run-findings", args=[finding.run_id])
    return HttpResponseRedirect(safe_next(request.POST.get("next", ""), there))
