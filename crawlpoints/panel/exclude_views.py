"""The exclude URLs of a document: the list with its Add and Remove."""

from django import forms
from django.contrib import messages
from django.forms.renderers import DjangoTemplates
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from clearinghouse.accounts.policies import Action, document_or_404, may, who_can_grant
from clearinghouse.library.models import Document
from clearinghouse.web.listing import number_in
from clearinghouse.web.templatetags.formats import plural
from crawler.errors import WrongMoment
from crawler.launching.control import apply_excludes

from .. import services, undo
from ..bulk_changes import Changed
from ..documents import crawl_facts
from ..point_checks import Invalid, exclude_lines
from ..queries import deleted_excludes_of, excludes_of, patterns_of
from ..templatetags.panel_urls import panel_url
from . import exclude_hits
from .views import exclude_rows

HINT = (
    "One address per line. These apply to every crawl point of this document. End with * to exclude everything that "
    "begins with the text; * elsewhere stands for anything; regex: starts a regular expression."
)


PLACE = "#excludes"  # on the panel


class ExcludeForm(forms.Form):
    default_renderer = DjangoTemplates

    pattern = forms.CharField(
        label="Address or pattern",
        help_text=HINT,
        required=False,
        widget=forms.Textarea(attrs={"class": "url-in", "rows": 3, "spellcheck": "false", "autocomplete": "off"}),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def excludes(request: HttpRequest, doc_id: int) -> HttpResponse:
    if request.method != "POST":
        asked = request.GET.get("pattern", "").replace("\x00", "").strip()[:2048]
        return _show(request, document_or_404(request.user, doc_id), ExcludeForm(initial={"pattern": asked}))
    document = document_or_404(request.user, doc_id, Action.EDIT)
    form = ExcludeForm(request.POST)
    form.is_valid()
    lines = exclude_lines(form.cleaned_data.get("pattern", "")) or [""]
    if request.POST.get("do") == "hits":
        return _show(request, document, form, seen=exclude_hits.preview(document.pk, lines))
    undo.forget(request)
    added, wrong = [], []
    for line in lines:
        try:
            added.append(services.add_exclude_url(document, line))
        except Invalid as refusal:
            wrong.append(line)
            # Only the wrong lines come back, so these are counted.
            place = f"Line {len(wrong)}: " if len(lines) > 1 else ""
            form.add_error("pattern", f"{place}{refusal}")
    if added:
        text = (
            f"Added exclude URL {added[0].pattern}."
            if len(added) == 1
            else f"Added {plural(len(added), 'exclude URL')}."
        )
        changed = Changed(excludes=[one.pk for one in added])
        undo.offer_change(request, document.pk, changed, text + _later(document))
    if wrong:
        form.data = {"pattern": "\n".join(wrong)}
        return _show(request, document, form, status=422)
    return back(request, document, PLACE)


def _later(document: Document) -> str:
    return " The running crawl does not use them until you apply them." if crawl_facts.running_of(document.pk) else ""


def _show(
    request: HttpRequest,
    document: Document,
    form: ExcludeForm,
    status: int = 200,
    seen: exclude_hits.ExcludeHits | None = None,
) -> HttpResponse:
    may_edit = may(request.user, Action.EDIT, document)
    crawls = crawl_facts.newest_of(document.pk)
    last = crawls[0] if crawls else None
    context = {
        "document": document,
        "form": form,
        "problems": [("id_pattern", message) for message in form.errors.get("pattern", [])] if form.is_bound else [],
        "may_edit": may_edit,
        "ask": "" if may_edit else who_can_grant(Action.EDIT, document),
        "excludes": exclude_rows(document, last),
        "last": last,
        "undo": undo.offered(request, document.pk) if may_edit else None,
        "deleted": list(deleted_excludes_of(document)) if may_edit else [],
        "back": "list",
        "seen": seen,
        "running": crawl_facts.running_of(document.pk),
        "runs_seen": may(request.user, Action.VIEW_RUNS, document),
    }
    return render(request, "panel/excludes.html", context, status=status)


@require_POST
def delete(request: HttpRequest, doc_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id, Action.EDIT)
    undo.forget(request)
    exclude = excludes_of(document).filter(pk=number_in(request.POST, "exclude")).first()
    if exclude is not None:
        services.delete_exclude_url(exclude)
        undo.offer(request, "exclude", document.pk, [exclude.pk], f"Deleted exclude URL {exclude.pattern}.")
    return back(request, document, PLACE)


@require_POST
def restore(request: HttpRequest, doc_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id, Action.EDIT)
    undo.forget(request)
    wanted = set(request.POST.getlist("exclude"))
    for exclude in deleted_excludes_of(document):
        if str(exclude.pk) not in wanted:
            continue
        try:
            services.restore_exclude_url(exclude)
            messages.success(request, f"Restored exclude URL {exclude.pattern}.")
        except Invalid as duplicate:
            messages.error(request, f"{duplicate}.")
    return back(request, document, PLACE)


@require_POST
def apply(request: HttpRequest, doc_id: int) -> HttpResponse:
    """The list as it is now counts for the running crawl, too."""
    document = document_or_404(request.user, doc_id, Action.EDIT)
    running = crawl_facts.running_of(document.pk)
    if running is None:
        messages.info(request, "No crawl of this document is running; the next one uses the list as it is.")
        return back(request, document, PLACE)
    patterns = patterns_of(document)
    try:
        apply_excludes(running.run, document.pk, patterns, request.user.get_username())
        text = (
            f"Applied {plural(len(patterns), 'exclude URL')} to run {running.run_id}; the run uses them within seconds."
        )
        messages.success(request, text)
    except WrongMoment as moment:
        messages.info(request, f"{moment}.")
    return back(request, document, PLACE)


def back(request: HttpRequest, document: Document, fragment: str = "") -> HttpResponse:
    """To the screen the command was pressed on."""
    if request.POST.get("back") == "list":
        return redirect("exclude-urls", document.pk)
    return redirect(panel_url(request, document.pk) + fragment)
