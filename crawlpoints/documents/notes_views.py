"""Notes on a document: what colleagues should know of it, beside the notes of its crawl points and runs."""

from typing import Any

from django import forms
from django.contrib import messages
from django.forms.renderers import DjangoTemplates
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from clearinghouse.accounts.policies import Action, document_or_404, may, who_can_grant
from clearinghouse.library.models import Document
from clearinghouse.web.listing import number_in, page_of
from crawler.runs.queries import excursions_of_document

from .. import undo
from ..point_checks import Invalid
from ..templatetags.panel_urls import list_url
from . import document_notes as kept

ROWS = 50
RUNS_SHOWN = 20


class NoteForm(forms.Form):
    default_renderer = DjangoTemplates

    text = forms.CharField(
        label="Note",
        help_text="What colleagues should know about this document. Everybody who can see the document can read it.",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def notes(request: HttpRequest, doc_id: int) -> HttpResponse:
    if request.method != "POST":
        return _show(request, document_or_404(request.user, doc_id), NoteForm())
    document = document_or_404(request.user, doc_id, Action.EDIT)
    undo.forget(request)
    form = NoteForm(request.POST)
    form.is_valid()
    try:
        kept.add_note(document, form.cleaned_data.get("text", ""))
    except Invalid as wrong:
        for message in Invalid.sentences(wrong.errors):
            form.add_error("text", message)
        return _show(request, document, form, 422)
    messages.success(request, "Added the note.")
    return redirect("document-notes", document.pk)


def _show(request: HttpRequest, document: Document, form: NoteForm, status: int = 200) -> HttpResponse:
    may_edit = may(request.user, Action.EDIT, document)
    context: dict[str, Any] = {
        "document": document,
        "page": page_of(request, kept.notes_of(document), ROWS),
        "points": list(kept.points_with_notes(document)),
        "runs": [],
        "form": form,
        "problems": [("id_text", message) for message in form.errors.get("text", [])] if form.is_bound else [],
        "may_edit": may_edit,
        "ask": "" if may_edit else who_can_grant(Action.EDIT, document),
        "undo": undo.offered(request, document.pk) if may_edit else None,
        "deleted": list(kept.deleted_notes_of(document)[:ROWS]) if may_edit else [],
        "list_url": list_url(request, document.pk),
    }
    context["runs_seen"] = may(request.user, Action.VIEW_RUNS, document)
    if context["runs_seen"]:
        told = excursions_of_document(document.pk).exclude(run__note="")
        context["runs"] = [one.run for one in told[:RUNS_SHOWN]]
    return render(request, "documents/document_notes.html", context, status=status)


@require_POST
def delete(request: HttpRequest, doc_id: int) -> HttpResponse:
    """One press, no question; Undo stays in the status region."""
    document = document_or_404(request.user, doc_id, Action.EDIT)
    undo.forget(request)
    note = kept.notes_of(document).filter(pk=number_in(request.POST, "note")).first()
    if note is not None:
        kept.delete_note(note)
        undo.offer(request, "note", document.pk, [note.pk], "Deleted the note.")
    return redirect("document-notes", document.pk)


@require_POST
def restore(request: HttpRequest, doc_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id, Action.EDIT)
    undo.forget(request)
    wanted = set(request.POST.getlist("note"))
    for note in kept.deleted_notes_of(document):
        if str(note.pk) in wanted:
            kept.restore_note(note)
            messages.success(request, "Restored the note.")
    return redirect("document-notes", document.pk)
