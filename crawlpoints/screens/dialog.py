"""The crawl point dialog: over the panel with htmx, a full page without; the same form, the same answers."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from clearinghouse.access.policies import Action, document_or_404
from clearinghouse.addresses import Address
from clearinghouse.addresses.parse import parse
from clearinghouse.library.models import Document
from clearinghouse.records import StaleRecord
from crawler.preview import rows as previews

from .. import services
from ..checks import Invalid, comparable_root, suggested_root, suggested_url
from ..models import CrawlPoint
from ..queries import patterns_of, points_of
from . import conflict, hits, names, sign_ins, tester, undo
from .forms import PointForm, excludes_initial, initial_of, opened_lines, starting

TARGET = "dialog"


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
    return _show(request, document, None, PointForm(initial=initial), {"from_document": bool(address) and not asked})


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, doc_id: int, point_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id, Action.EDIT)
    point = points_of(document).filter(pk=point_id).first()
    if point is None:
        raise Http404("No such crawl point")
    if request.method == "POST":
        return _post(request, document, point)
    initial = initial_of(point, patterns_of(document))
    if asked := request.GET.get("root", "").strip()[:2048]:
        initial["root"] = asked
    return _show(request, document, point, PointForm(initial=initial))


def _post(request: HttpRequest, document: Document, point: CrawlPoint | None) -> HttpResponse:
    data = conflict.merged(request.POST, point) if point else request.POST
    wanted = request.POST.get("do", "save")
    if wanted in {"save", "again"}:
        undo.forget(request)
        return _save(request, document, point, PointForm(data))
    if wanted == "preview":
        return _preview(request, document, point, data)
    form = PointForm(_repaired(data, wanted))
    extra = {}
    if wanted in _LOOKS:
        extra = _LOOKS[wanted](document, point, form.entries(), data.get("test", ""))
    return _show(request, document, point, form, extra | {"test": data.get("test", "")})


@sensitive_variables("data")
def _preview(request: HttpRequest, document: Document, point: CrawlPoint | None, data: QueryDict) -> HttpResponse:
    """The entries as they are, in a preview of their own; they come back from there. A password never goes along."""
    form = PointForm(data)
    entries = form.entries()
    draft = tester.draft_snapshot(document, point, entries)
    kept = {name: value for name, value in data.items() if name in form.fields and name not in _STAYS_HERE}
    row = previews.ask(
        replace(draft, points=(replace(draft.points[0], active=True),)),
        request.user.get_username(), kept, point.pk if point else None,
    )  # fmt: skip
    url = reverse("preview", args=[document.pk, row.pk])
    return HttpResponseClientRedirect(url) if _htmx(request) else redirect(url)


_STAYS_HERE = {"password", "forget_password"}
_LOOKS = {
    "test": tester.answer_for_form, "fetch": tester.visit_for_form, "sign_in": sign_ins.tried, "hits": hits.of_form,
}  # fmt: skip


def _repaired(data: QueryDict, wanted: str) -> QueryDict:
    """The entries with one press of a repair button."""
    data = data.copy()
    if wanted != "sign_in":  # it is tried, and never shown again
        data.pop("password", None)
    url, root, tested = (str(data.get(name, "")).strip() for name in ("url", "root", "test"))
    if wanted == "use_root":
        data["root"] = suggested_root(url) or root
    elif wanted == "use_url":
        data["url"] = suggested_url(f"https://{url}")
        data["root"] = root or suggested_root(f"https://{url}")
    elif wanted == "use_tested_root":
        data["root"] = suggested_root(tested) or root
    elif wanted == "exclude_tested" and tested:
        data["excludes"] = f"{str(data.get('excludes', '')).rstrip()}\n{tested}".lstrip()
    elif wanted == "detect":
        sign_ins.fill_in(data)
    return data


@sensitive_variables("values")
def _save(request: HttpRequest, document: Document, point: CrawlPoint | None, form: PointForm) -> HttpResponse:
    values = form.entries()
    values["excludes_opened"] = opened_lines(form.cleaned_data.get("excludes_opened", ""))
    values["private_address"] = names.private_address_of(values["url"], point.url if point else "")
    if form.errors:  # a NUL in the text: nothing a person can type
        return _show(request, document, point, form, status=422)
    try:
        if point is None:
            saved, cautions = services.add_crawl_point(document, values)
        else:
            saved, cautions = services.update_crawl_point(point, values, _version(form))
    except Invalid as wrong:
        form.refuse(wrong)
        extra = {"fixes": wrong.fixes, "twin": wrong.twin}
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
    text = form.cleaned_data.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _fresh(point: CrawlPoint) -> CrawlPoint:
    """The row as stored: a refused save has left its values on the object."""
    return CrawlPoint.everything.get(pk=point.pk)


def _done(request: HttpRequest, document: Document, point: CrawlPoint, again: bool) -> HttpResponse:
    if again:
        messages.success(request, f"Saved crawl point {point.url}.")
        url = reverse("crawl-point-new", args=[document.pk])
    else:
        url = f"{reverse('crawl-points', args=[document.pk])}?saved={point.pk}&at={point.pk}"
    return HttpResponseClientRedirect(url) if _htmx(request) else redirect(url)


def _conflict(request: HttpRequest, document: Document, point: CrawlPoint, form: PointForm) -> HttpResponse:
    if point.deleted:
        messages.error(
            request, f"{point.updated_by} deleted this crawl point meanwhile; restore it under Show deleted."
        )
        url = reverse("crawl-points", args=[document.pk]) + "?show=deleted"
        return HttpResponseClientRedirect(url) if _htmx(request) else redirect(url)
    context = _context(document, point, form) | conflict.comparison(point, form)
    template = "crawlpoints/conflict_dialog.html" if _in_dialog(request) else "crawlpoints/conflict_page.html"
    return render(request, template, context, status=409)


def _show(
    request: HttpRequest,
    document: Document,
    point: CrawlPoint | None,
    form: PointForm,
    extra: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    context = _context(document, point, form) | (extra or {})
    context["repairs"] = _repairs(form, context.get("fixes", {}))
    template = "crawlpoints/point_dialog.html" if _in_dialog(request) else "crawlpoints/point_page.html"
    return render(request, template, context, status=status)


def _in_dialog(request: HttpRequest) -> bool:
    return bool(_htmx(request)) and _htmx(request).target == TARGET


def _htmx(request: HttpRequest) -> Any:
    """Set by the middleware of django-htmx; false for an ordinary request."""
    return getattr(request, "htmx", None)


def _context(document: Document, point: CrawlPoint | None, form: PointForm) -> dict[str, Any]:
    points = list(points_of(document).values_list("pk", flat=True))
    entries = form.data if form.is_bound else form.initial
    name = "crawl-point-edit" if point else "crawl-point-new"
    return {
        "document": document,
        "point": point,
        "form": form,
        "place": points.index(point.pk) + 1 if point and point.pk in points else 0,
        "points": len(points),
        "scope": scope_words(str(entries.get("url") or ""), str(entries.get("root") or "")),
        "lines": len([line for line in str(entries.get("excludes") or "").splitlines() if line.strip()]),
        "action": reverse(name, args=[document.pk, *([point.pk] if point else [])]),
        "panel_url": reverse("crawl-points", args=[document.pk]) + (f"?at={point.pk}" if point else ""),
        "more_open": _more_open(form),
    }


def _more_open(form: PointForm) -> bool:
    names = ("append", "accept_bad_certificate", "merge_schemes", "ignore_query", "obey_nofollow", "ignore_robots")
    wrong = {"append", "ignore_robots_reason"} & set(form.errors if form.is_bound else ())
    return bool(wrong) or any(form[name].value() for name in names)


def _repairs(form: PointForm, fixes: dict[str, str]) -> dict[str, SafeString]:
    """The buttons under URL and root string."""
    made = {}
    problem = str(form.data.get("detect_problem", "")) if form.is_bound else ""
    if "url" in fixes:
        made["url"] = _button("use_url", f"Use {fixes['url']}")
    url = str((form.data if form.is_bound else form.initial).get("url") or "")
    root = str((form.data if form.is_bound else form.initial).get("root") or "")
    made["sign_in_url"] = format_html(
        '<button class="btn s" name="do" value="detect">Detect the form</button>{}',
        format_html(' <span class="small err-text" role="alert">{}</span>', problem) if problem else "",
    )
    if "root" in fixes:
        made["root"] = _button("use_root", f"Use {fixes['root']}")
    elif (folder := suggested_root(url)) and folder != root:
        made["root"] = _button("use_root", f"Use this folder, {folder}")
    return made


def _button(value: str, label: str) -> SafeString:
    return format_html('<button class="btn s" name="do" value="{}">{}</button>', value, label)


def scope_words(url: str, root: str) -> dict[str, Any] | None:
    """Examples of what is in scope and what is not; None while the entries cannot be read."""
    address, start = parse(url.strip()), parse(root.strip())
    if not isinstance(address, Address) or not isinstance(start, Address) or not address.href.startswith(start.href):
        return None
    base = comparable_root(root.strip())
    inside = f"{base}list.html" if base.endswith("/") else f"{base}-list.html"
    other = "http" if start.scheme == "https" else "https"
    outside = [] if start.path == "/" else [(f"{start.origin}/about/", "")]
    outside.append((f"{other}{base[len(start.scheme) :]}", f"{other}, not {start.scheme}"))
    return {"inside": inside, "outside": outside}
