"""Commands for all ticked rows: activate, set a limit, copy, move; those that need an answer ask on a page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from clearinghouse.accounts.policies import Action, document_or_404, documents_for
from clearinghouse.accounts.sign_in.visitor_address import safe_next
from clearinghouse.database.records import StaleRecord
from clearinghouse.library.models import Document
from clearinghouse.web.listing import whole_number
from clearinghouse.web.templatetags.formats import plural

from .. import bulk_changes, undo
from ..models import CrawlPoint
from ..point_checks import Invalid
from ..templatetags.panel_urls import back_to_panel, panel_url
from . import exclude_views
from .panel_commands import SELECT_FIRST, chosen_of

MOST_OFFERED = 300


@dataclass(frozen=True, slots=True)
class Question:
    title: str
    label: str
    hint: str
    button: str
    document: bool = False  # the answer is another document


QUESTIONS = {
    "depth": Question(
        "Set depth limit", "Depth limit", "How many clicks from the URL. 0 = only the URL itself.", "Set depth limit"
    ),
    "max_pages": Question("Set maximum pages", "Maximum pages", "Leave empty for no limit.", "Set maximum pages"),
    "copy": Question("Copy to another document", "Document", "", "Copy", document=True),
    "move": Question("Move to another document", "Document", "", "Move", document=True),
}


@require_POST
def bulk_command(request: HttpRequest, doc_id: int) -> HttpResponse:
    """Activate and Deactivate at once; the others when their question was answered."""
    document = document_or_404(request.user, doc_id, Action.EDIT)
    undo.forget(request)
    chosen = chosen_of(request, document)
    wanted = request.POST.get("do", "")
    if wanted not in {"activate", "deactivate", *QUESTIONS}:
        raise Http404("No such command")
    if not chosen:
        messages.info(request, SELECT_FIRST)
        return back_to_panel(request, document)
    if wanted in QUESTIONS and "answer" not in request.POST:
        return _ask(request, document, chosen, wanted)
    try:
        return _COMMANDS[wanted](request, document, chosen, wanted)
    except Invalid as wrong:
        return _ask(request, document, chosen, wanted, Invalid.sentences(wrong.errors))
    except StaleRecord:
        messages.error(request, undo.STALE)
        return back_to_panel(request, document)


def _ask(
    request: HttpRequest, document: Document, chosen: Sequence[CrawlPoint], wanted: str, wrong: Sequence[str] = ()
) -> HttpResponse:
    question = QUESTIONS[wanted]
    context = {
        "document": document,
        "chosen": chosen,
        "wanted": wanted,
        "question": question,
        "wrong": list(dict.fromkeys(wrong)),
        "problems": [("id_answer", message) for message in dict.fromkeys(wrong)],
        "answer": request.POST.get("answer", ""),
        "documents": _targets(request, document) if question.document else [],
        "action": reverse("crawl-points-bulk", args=[document.pk]),
        "cancel": panel_url(request, document.pk),
    }
    return render(request, "panel/bulk.html", context, status=422 if wrong else 200)


def _targets(request: HttpRequest, document: Document) -> list[Document]:
    """The documents one may copy to; the first ones only, the number of any other can be typed."""
    others = documents_for(request.user, Action.EDIT).exclude(pk=document.pk).order_by("sheet__title", "pk")
    return list(others[:MOST_OFFERED])


def _activate(request: HttpRequest, document: Document, chosen: list[CrawlPoint], wanted: str) -> HttpResponse:
    changed = bulk_changes.set_values(chosen, {"active": int(wanted == "activate")})
    word = "Activated" if wanted == "activate" else "Deactivated"
    if not changed.count:
        messages.info(
            request, f"Nothing to do: {plural(len(chosen), 'crawl point is,crawl points are')} {word.lower()} already."
        )
        return _back(request, document, chosen)
    return _offer(request, document, chosen, changed, f"{word} {plural(changed.count, 'crawl point')}.")


def _limit(request: HttpRequest, document: Document, chosen: list[CrawlPoint], wanted: str) -> HttpResponse:
    answer = request.POST.get("answer", "").strip()
    if wanted == "depth" and not answer:
        raise Invalid({"depth": ["Depth limit must be a whole number, like 3"]})
    changed = bulk_changes.set_values(chosen, {wanted: answer})
    if not changed.count:
        messages.info(request, "Nothing to do: they have this limit already.")
        return _back(request, document, chosen)
    return _offer(request, document, chosen, changed, limit_sentence(wanted, answer, changed.count))


def limit_sentence(wanted: str, answer: str, count: int) -> str:
    value = answer if answer.strip("0") or wanted == "depth" else "no limit"
    return f"Set {QUESTIONS[wanted].label.lower()} of {plural(count, 'crawl point')} to {value}."


def _copy(request: HttpRequest, document: Document, chosen: list[CrawlPoint], wanted: str) -> HttpResponse:
    target = _target(request, document)
    changed = bulk_changes.copy(chosen, target, move=wanted == "move")
    for sentence in changed.refused:
        messages.warning(request, f"{sentence}. It was not changed.")
    if not changed.added:
        return _back(request, document, chosen)
    if wanted == "copy" and any(point.password for point in chosen):
        messages.info(request, f"Passwords are not copied. Enter them again in {target.title}.")
    word = "Moved" if wanted == "move" else "Copied"
    sentence = f"{word} {plural(len(changed.added), 'crawl point')} to {target.title}."
    return _offer(request, document, chosen, changed, sentence)


def _target(request: HttpRequest, document: Document) -> Document:
    number = whole_number(request.POST.get("answer", "").strip().partition(" ")[0])
    if number is None:
        raise Invalid({"answer": ["Choose a document, or enter its number"]})
    target = documents_for(request.user, Action.EDIT).exclude(pk=document.pk).filter(pk=number).first()
    if target is None:
        raise Invalid({"answer": [f"There is no other document {number} that you may change"]})
    return target


def _offer(
    request: HttpRequest, document: Document, chosen: list[CrawlPoint], changed: bulk_changes.Changed, sentence: str
) -> HttpResponse:
    undo.offer_change(request, document.pk, changed, sentence)
    return _back(request, document, chosen)


def _back(request: HttpRequest, document: Document, chosen: list[CrawlPoint]) -> HttpResponse:
    return back_to_panel(request, document, at=chosen[0].pk if len(chosen) == 1 else None)


@require_POST
def take_back(request: HttpRequest, doc_id: int) -> HttpResponse:
    """Undo of everything that is more than a delete; answers on the screen it was pressed on."""
    document = document_or_404(request.user, doc_id, Action.EDIT)
    undo.take_back(request, document.pk)
    pressed_on = safe_next(request.POST.get("next", ""))
    return redirect(pressed_on) if pressed_on else exclude_views.back(request, document)


_COMMANDS: dict[str, Callable[[HttpRequest, Document, list[CrawlPoint], str], HttpResponse]] = {
    "activate": _activate, "deactivate": _activate, "depth": _limit, "max_pages": _limit, "copy": _copy, "move": _copy,
}  # fmt: skip
