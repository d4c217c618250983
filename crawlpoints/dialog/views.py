"""The crawl point dialog: over the panel with htmx, a full page without; the same form, the same answers."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.database.records import StaleRecord
from clearinghouse.library.models import Document
from clearinghouse.web.listing import number_in, whole_number
from crawler.errors import TooManyAtOnce
from crawler.preview import preview_rows as previews

from .. import services, undo
from ..models import AuthType, CrawlPoint
from ..panel import exclude_hits
from ..panel import views as panel
from ..point_checks import Invalid, check_preview, suggested_root
from ..queries import deleted_points_of, patterns_of, points_of
from ..templatetags.panel_urls import panel_url
from ..tester import views as tester
from . import conflict_views, repairs, sign_in_views, wait_answer
from . import host_names as names
from .forms import PointForm, excludes_initial, initial_of, opened_lines, starting

TARGET = "dialog"
_DONE = 200  # a button did what it says; nothing is wrong with the entries
_DIGITS = 7  # of a maximum that is proposed
LOST = "Enter the new password again; it was not kept"


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, doc_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id, Action.EDIT)
    if request.method == "POST":
        return _post(request, document, None)
    sheet = getattr(document, "sheet", None)
    asked = request.GET.get("url", "").strip()[:2048]
    address = asked or (sheet.web_address if sheet and not points_of(document).exists() else "")
    initial = starting() | excludes_initial(patterns_of(document)) | {"url": address, "root": suggested_root(address)}
    extra = {"from_document": bool(address) and not asked, "saved": panel.saved_of(request, list(points_of(document)))}
    return _show(request, document, None, PointForm(initial=initial), extra)


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, doc_id: int, point_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id, Action.EDIT)
    point = points_of(document).filter(pk=point_id).first()
    if point is None:
        return _gone(request, document, deleted_points_of(document).filter(pk=point_id).first())
    if request.method == "POST":
        return _post(request, document, point)
    initial = initial_of(point, patterns_of(document))
    if asked := request.GET.get("root", "").strip()[:2048]:
        initial["root"] = asked
    if (most := whole_number(request.GET.get("max_pages"), _DIGITS)) is not None:
        initial["max_pages"] = most
    return _show(request, document, point, PointForm(initial=initial))


def _post(request: HttpRequest, document: Document, point: CrawlPoint | None) -> HttpResponse:
    data = repairs.with_root(conflict_views.merged(request.POST, point) if point else request.POST)
    wanted = request.POST.get("do", "save")
    if wanted in {"save", "again"}:
        undo.forget(request)
        return _save(request, document, point, PointForm(data))
    if wanted == "preview":
        return _preview(request, document, point, data)
    data, problems, retry_after = repairs.repaired(data, wanted)
    form = PointForm(data)
    extra = _looked(wanted, document, point, form) if wanted in _LOOKS else {}
    for name, problem in problems.items():
        form.add_error(name, problem)
    extra["test"] = data.get("test", "")
    shown = _show(request, document, point, form, extra, status=422 if problems or "fixes" in extra else _DONE)
    return wait_answer.marked(
        shown, retry_after or max((wait_answer.seconds_of(one) for one in extra.values()), default=0)
    )


def _looked(wanted: str, document: Document, point: CrawlPoint | None, form: PointForm) -> dict[str, Any]:
    """What the button shows; entries with which nobody may look are refused as Save refuses them."""
    try:
        return dict(_LOOKS[wanted](document, point, form.entries(), str(form.data.get("test", ""))))
    except Invalid as wrong:
        form.refuse(wrong)
        return {"fixes": wrong.fixes}


@sensitive_variables("data")
def _preview(request: HttpRequest, document: Document, point: CrawlPoint | None, data: QueryDict) -> HttpResponse:
    """The entries as they are, in a preview of their own; they come back from there. A password never goes along."""
    form = PointForm(data)
    entries = form.entries()
    try:
        check_preview(entries | {"private": names.is_private(entries["url"], point.url if point else "")})
    except Invalid as wrong:
        form.refuse(wrong)
        return _show(request, document, point, form, {"fixes": wrong.fixes}, status=422)
    draft = tester.draft_snapshot(document, point, entries)
    kept = {name: value for name, value in data.items() if name in form.fields and name not in _STAYS_HERE}
    if data.get("password"):
        kept["password_lost"] = "1"
    alone = replace(draft, points=draft.points[:1])
    try:
        row = previews.ask(alone, request.user.get_username(), kept, point.pk if point else None)
    except TooManyAtOnce as refusal:
        form.add_error(None, str(refusal))
        return wait_answer.marked(_show(request, document, point, form), refusal.seconds)
    url = reverse("preview", args=[document.pk, row.pk])
    return HttpResponseClientRedirect(url) if _htmx(request) else redirect(url)


_STAYS_HERE = {"password", "forget_password"}
_LOOKS = {
    "test": tester.answer_for_form,
    "fetch": tester.visit_for_form,
    "sign_in": sign_in_views.tried,
    "hits": exclude_hits.of_form,
}


@sensitive_variables("values")
def _save(request: HttpRequest, document: Document, point: CrawlPoint | None, form: PointForm) -> HttpResponse:
    values = form.entries()
    values["excludes_opened"] = opened_lines(form.cleaned_data.get("excludes_opened", ""))
    values["private"] = names.is_private(values["url"], point.url if point else "")
    if form.errors or (_password_lost(request, form) and not values["password"]):
        return _show(request, document, point, form, status=422)
    try:
        if point is None:
            saved, cautions = services.add_crawl_point(document, values)
        else:
            saved, cautions = services.update_crawl_point(point, values, _version(form))
    except Invalid as wrong:
        form.refuse(wrong)
        extra = {"fixes": wrong.fixes, "duplicate": wrong.duplicate}
        return _show(request, document, point and _fresh(point), form, extra, status=422)
    except StaleRecord:
        if point is None:
            raise
        return _conflict(request, document, _fresh(point), form)
    for caution in cautions:
        if caution.code == "password_cleared":
            messages.warning(request, f"{caution.text}.")
    return _done(request, document, saved, again=request.POST.get("do") == "again")


def _version(form: PointForm) -> int | None:
    return number_in(form.cleaned_data, "version")


def _fresh(point: CrawlPoint) -> CrawlPoint:
    """The row as stored: a refused save has left its values on the object."""
    return CrawlPoint.everything.get(pk=point.pk)


def _done(request: HttpRequest, document: Document, point: CrawlPoint, again: bool) -> HttpResponse:
    if again:
        url = f"{reverse('crawl-point-new', args=[document.pk])}?saved={point.pk}"
    else:
        url = panel_url(request, document.pk, saved=point.pk, at=point.pk)
    return HttpResponseClientRedirect(url) if _htmx(request) else redirect(url)


def _conflict(request: HttpRequest, document: Document, point: CrawlPoint, form: PointForm) -> HttpResponse:
    if point.deleted:
        return _gone(request, document, point)
    context = _context(request, document, point, form) | conflict_views.comparison(point, form)
    template = "dialog/conflict_dialog.html" if _in_dialog(request) else "dialog/conflict_page.html"
    return render(request, template, context, status=409)


def _gone(request: HttpRequest, document: Document, point: CrawlPoint | None) -> HttpResponse:
    """Somebody deleted it meanwhile: the entries stay, to be saved as a new one."""
    if point is None or request.method != "POST":
        raise Http404("No such crawl point")
    form = PointForm(request.POST)
    form.entries()
    who = point.updated_by or "Somebody"
    said = f"{who} deleted this crawl point meanwhile; restore it under Show deleted, or save these entries again"
    form.add_error(None, said)
    return _show(request, document, None, form, {"gone": True}, status=409)


def _password_lost(request: HttpRequest, form: PointForm) -> bool:
    """A form never holds a password when it comes back, unless only a part of it is fetched anew."""
    whole = not _htmx(request) or _in_dialog(request)
    typed = request.POST.get("password") or request.POST.get("password_lost")
    return bool(typed) and whole and form.data.get("auth_type") not in (None, "", str(AuthType.NONE.value))


def _show(
    request: HttpRequest,
    document: Document,
    point: CrawlPoint | None,
    form: PointForm,
    extra: dict[str, Any] | None = None,
    status: int = _DONE,
) -> HttpResponse:
    lost = form.is_bound and _password_lost(request, form) and "password" not in form.errors
    if lost and status == _DONE:
        form["password"].help_text = f"{LOST}."
    elif lost:
        form.add_error("password", LOST)
    context = _context(request, document, point, form) | (extra or {})
    context["lost"] = LOST if lost and status == _DONE else ""
    context["in_dialog"] = bool(_htmx(request))
    context["repairs"] = repairs.buttons_of(context.get("fixes", {}), context["action"])
    template = "dialog/point_dialog.html" if _in_dialog(request) else "dialog/point_page.html"
    return render(request, template, context, status=status)


def _in_dialog(request: HttpRequest) -> bool:
    return bool(_htmx(request)) and _htmx(request).target == TARGET


def _htmx(request: HttpRequest) -> Any:
    """Set by the middleware of django-htmx; false for an ordinary request."""
    return getattr(request, "htmx", None)


def _context(request: HttpRequest, document: Document, point: CrawlPoint | None, form: PointForm) -> dict[str, Any]:
    points = list(points_of(document).values_list("pk", flat=True))
    entries = form.data if form.is_bound else form.initial
    name = "crawl-point-edit" if point else "crawl-point-new"
    return {
        "document": document,
        "point": point,
        "form": form,
        "place": points.index(point.pk) + 1 if point and point.pk in points else 0,
        "points": len(points),
        "scope": repairs.scope_words(
            str(entries.get("url") or ""), str(entries.get("root") or ""), bool(entries.get("merge_schemes"))
        ),
        "lines": len([line for line in str(entries.get("excludes") or "").splitlines() if line.strip()]),
        "action": reverse(name, args=[document.pk, *([point.pk] if point else [])]),
        "panel_url": panel_url(request, document.pk, at=point.pk if point else ""),
    }
