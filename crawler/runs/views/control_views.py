"""Pause, Resume, Stop and keep, Cancel and discard, Speed: each a form of its own, each said back in a sentence."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from clearinghouse.accounts.policies import Action, NotAllowed
from crawler.errors import WrongMoment
from crawler.launching import control
from crawler.models import OPEN_STATES, Run

from ..latest_crawls import KEPT
from ..queries import ASKED
from ..run_actions import SPEEDS, controls_of
from ..run_counts import excursions_of, totals_by_state
from .run_access import may_control_document, run_or_404, run_to_control_or_404

_ACTS: dict[str, tuple[Callable[[Run, str], object], str]] = {
    "pause": (control.pause, "Pausing run {}. What is being fetched is finished first."),
    "resume": (control.resume, "Run {} goes on."),
    "stop": (control.stop, "Stopping run {}. The pages stored so far are kept."),
}


@require_POST
def act(request: HttpRequest, run_id: int, action: str) -> HttpResponse:
    run = _run_to_control(request, run_id)
    if action not in _ACTS:
        raise Http404("No such command")
    ask, sentence = _ACTS[action]
    return _asked(request, run, lambda by: ask(run, by), sentence.format(run.pk))


_OF_DOCUMENTS: dict[str, tuple[Callable[[Run, int, str], object], str]] = {
    "pause": (control.pause_document, "Pausing {}. What is being fetched is finished first."),
    "resume": (control.resume_document, "{} goes on."),
}


@require_POST
def document(request: HttpRequest, run_id: int, doc_id: int, action: str) -> HttpResponse:
    """One document of the run rests, the others go on."""
    run, docs = run_or_404(request, run_id)
    excursion = excursions_of(run, docs).filter(doc_id=doc_id).first()
    if excursion is None or action not in _OF_DOCUMENTS:
        raise Http404("No such document in this run, or no such command")
    if not may_control_document(request, doc_id):
        raise NotAllowed(Action.CONTROL)
    ask, sentence = _OF_DOCUMENTS[action]
    return _asked(request, run, lambda by: ask(run, doc_id, by), sentence.format(excursion.title))


@require_POST
def ask(request: HttpRequest, run_id: int) -> HttpResponse:
    """For those who may see a run but not stop it: a line in its log, which administrators see on its page."""
    run, docs = run_or_404(request, run_id)
    if run.state not in OPEN_STATES:
        messages.warning(request, "This run has ended already.")
    else:
        # With the documents of the person, so that others of the run do not read it.
        doc_id = None if docs is None else excursions_of(run, docs).values_list("doc_id", flat=True).first()
        control.note(run.pk, ASKED, f"{request.user.get_username()} asks to stop this run", doc_id)
        messages.success(request, "Administrators see on the page of this run that you ask to stop it.")
    return redirect("run", run.pk)


@require_POST
def speed(request: HttpRequest, run_id: int) -> HttpResponse:
    run = _run_to_control(request, run_id)
    chosen = request.POST.get("speed", "")
    if chosen not in SPEEDS:
        raise Http404("No such speed")
    sentence = f"Run {run.pk} goes on at speed {SPEEDS[chosen]}."
    return _asked(request, run, lambda by: control.set_speed(run, chosen, by), sentence)


@require_POST
def label(request: HttpRequest, run_id: int) -> HttpResponse:
    """Also of a run that has ended."""
    run = _run_to_control(request, run_id)
    chosen = request.POST.get("label", "").replace("\0", "")
    control.set_label(run, chosen, request.user.get_username())
    messages.success(
        request, f"Saved the label of run {run.pk}." if chosen.strip() else f"Removed the label of run {run.pk}."
    )
    return redirect("run", run.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    """Asks first, because it destroys."""
    run = _run_to_control(request, run_id)
    if request.method != "POST":
        context = {"run": run, "possible": controls_of(run)} | _at_stake(run)
        return render(request, "runs/cancel.html", context)
    sentence = f"Cancelling run {run.pk}. Its results are being discarded."
    return _asked(request, run, lambda by: control.cancel(run, by), sentence)


def _at_stake(run: Run) -> dict[str, int]:
    """What is stored of the documents that have not finished; the others are kept."""
    by_state = totals_by_state(run, None)
    going = [one for state, one in by_state.items() if state in OPEN_STATES]
    kept = sum(by_state[state].documents for state in KEPT if state in by_state)
    return {"pages": sum(one.pages for one in going), "documents": sum(one.documents for one in going), "kept": kept}


def _run_to_control(request: HttpRequest, run_id: int) -> Run:
    return run_to_control_or_404(request, run_id)[0]


def _asked(request: HttpRequest, run: Run, ask: Callable[[str], object], sentence: str) -> HttpResponse:
    try:
        ask(request.user.get_username())
    except WrongMoment as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, sentence)
    return redirect("run", run.pk)
