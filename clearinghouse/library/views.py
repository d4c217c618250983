"""Owns: HTTP of adding, importing, editing, deleting and restoring documents. Does not: change them (services)."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from clearinghouse.library.models import Document

from ..accounts.forms import problems_of
from ..accounts.policies import Action, document_or_404, may, require
from ..database.records import StaleRecord
from . import document_import, services
from .document_csv import COLUMNS, UnreadableDocumentCsv
from .forms import DocumentForm, ImportForm


@require_http_methods(["GET", "HEAD", "POST"])
def document_new(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    form = DocumentForm(request.POST or None, user=request.user, initial={"public": True})
    if form.is_bound and form.is_valid():
        document = _add(form.cleaned_data)
        messages.success(request, f"Added {document.title}. Next, add a crawl point.")
        return redirect("crawl-points", document.pk)
    return _form_page(request, form, {"heading": "Add document"})


@transaction.atomic
def _add(given: dict[str, Any]) -> Document:
    project = given["new_project"] or (given["project"].name if given["project"] else "")
    document = services.add_document(
        given["title"],
        project=project,
        public=given["public"],
        status=given["status"].name if given["status"] else "",
        web_address=given["web_address"],
    )
    services.assign_exactly(document, list(given["people"]))
    return document


@require_http_methods(["GET", "HEAD", "POST"])
def document_edit(request: HttpRequest, doc_id: int) -> HttpResponse:
    document = _any_document(request.user, doc_id)
    if document.deleted:
        return render(request, "library/document_deleted.html", {"document": document})
    form = DocumentForm(request.POST or None, user=request.user, document=document, initial=_initial(document))
    if form.is_bound and form.is_valid():
        try:
            _update(document, form)
        except StaleRecord:
            return _conflict(request, document, form)
        messages.success(request, f"Saved {document.title}.")
        return redirect("document", document.pk)
    return _form_page(request, form, {"heading": "Edit document", "document": document})


def _any_document(user: Any, doc_id: int) -> Document:
    """Administrators reach deleted documents too, to restore them."""
    if may(user, Action.ADMINISTER):
        document = Document.everything.select_related("sheet__project", "status").filter(pk=doc_id).first()
        if document is None:
            raise Http404("No such document")
        return document
    return document_or_404(user, doc_id, Action.ASSIGN)


@transaction.atomic
def _update(document: Document, form: DocumentForm) -> None:
    given = dict(form.cleaned_data)
    if "title" in form.fields:
        document.version = given["version"]  # the one the person saw
        if given["new_project"]:
            given["project"] = services.project_named(given["new_project"])
        services.update_document(document, given)
    services.assign_exactly(document, list(given["people"]))


def _initial(document: Document) -> dict[str, Any]:
    sheet = getattr(document, "sheet", None)
    return {
        "title": sheet.title if sheet else "",
        "project": sheet.project if sheet else None,
        "status": document.status,
        "public": bool(sheet.public) if sheet else True,
        "web_address": sheet.web_address if sheet else "",
        "people": [assignment.person_id for assignment in document.assignments.all()],
        "version": document.version,
    }


def _conflict(request: HttpRequest, document: Document, form: DocumentForm) -> HttpResponse:
    """Both versions beside each other; sending the form again, now with the version shown, decides."""
    theirs = Document.everything.select_related("sheet__project", "status").get(pk=document.pk)
    stored, mine = _initial(theirs), form.cleaned_data
    rows = [
        (field.label, _words(stored.get(name)), _words(mine.get(name)))
        for name, field in form.fields.items()
        if name in ("title", "project", "status", "public", "web_address")
        and _words(stored.get(name)) != _words(mine.get(name))
    ]
    data = request.POST.copy()
    data["version"] = str(theirs.version or "")
    again = DocumentForm(data, user=request.user, document=theirs)
    context = {"document": theirs, "rows": rows, "form": again, "problems": [], "heading": "Edit document"}
    return render(request, "library/document_conflict.html", context, status=409)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return str(value) if value else "none"


@require_POST
def document_delete(request: HttpRequest, doc_id: int) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    document = document_or_404(request.user, doc_id)
    services.delete_document(document)
    messages.success(request, f"Deleted document {document.title}.")
    return redirect("document-edit", doc_id)


@require_POST
def document_restore(request: HttpRequest, doc_id: int) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    document = _any_document(request.user, doc_id)
    if document.deleted:
        services.restore_document(document)
        messages.success(request, f"Restored document {document.title}.")
    return redirect("document", doc_id)


@require_http_methods(["GET", "HEAD", "POST"])
def documents_import(request: HttpRequest) -> HttpResponse:
    """Step 1 the lines, step 2 what each would do, step 3 the import; nothing is written before step 3."""
    require(request.user, Action.ADMINISTER)
    form = ImportForm(request.POST or None, request.FILES or None)
    if form.is_bound and form.is_valid():
        try:
            return _import(request, form.cleaned_data["text"])
        except UnreadableDocumentCsv as problem:
            form.add_error("file", str(problem))
    context = {"form": form, "problems": problems_of(form) if form.is_bound else [], "columns": COLUMNS}
    return render(request, "library/import.html", context, status=422 if form.is_bound else 200)


def _import(request: HttpRequest, text: str) -> HttpResponse:
    if request.POST.get("step") != "import":
        result = document_import.preview_documents(text)
        return render(request, "library/import_preview.html", {"result": result, "text": text, **_counts(result)})
    result = document_import.import_documents(text, skip_errors=True)
    return render(request, "library/import_done.html", {"result": result, **_counts(result)})


def _counts(result: document_import.Imported) -> dict[str, int]:
    return {outcome: result.count(outcome) for outcome in ("add", "unchanged", "error")}


def _form_page(request: HttpRequest, form: DocumentForm, context: dict[str, Any]) -> HttpResponse:
    context |= {"form": form, "problems": problems_of(form) if form.is_bound else []}
    return render(request, "library/document_form.html", context, status=422 if form.is_bound else 200)
