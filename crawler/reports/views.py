"""The doors to the reports: the list, one report as a page, the same rows as CSV; marking groups of errors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.accounts.policies import Action, RoleScope, doc_ids_for, scope_of
from clearinghouse.accounts.sign_in.visitor_address import safe_next
from clearinghouse.web.csv_output import csv_answer
from clearinghouse.web.listing import page_of
from clearinghouse.web.templatetags.formats import plural
from crawlpoints import saved_views
from crawlpoints.documents.saved_views_page import delete_view_of, plain_query, save_view_of

from ..runs.views.run_access import visible_docs
from .error_marks import mark_group
from .kinds import (
    activity,
    audit_report,
    broken_links_report,
    changes_report,
    coverage,
    errors_report,
    exclusions,
    hosts_report,
    propagation_report,
    schedules_report,
    search_use,
)
from .report_base import Report, ReportRequest, who_sees


@dataclass(frozen=True, slots=True)
class ReportKind:
    title: str
    question: str
    make: Callable[[ReportRequest], Report]
    action: Action = Action.VIEW_RUNS  # without it the report does not exist


REPORTS = {
    "coverage": ReportKind("Coverage", "Which documents are fresh, stale, never crawled?", coverage.report),
    "activity": ReportKind("Crawl activity", "What did the crawler do in this period?", activity.report),
    "hosts": ReportKind("Hosts", "Where do pages, blocks and errors come from?", hosts_report.report),
    "errors": ReportKind("Errors", "What is broken, and for how long?", errors_report.report),
    "broken-links": ReportKind(
        "Broken links", "Which links lead nowhere, and on which pages are they?", broken_links_report.report
    ),
    "changes": ReportKind("Changes", "What changed on the web?", changes_report.report),
    "schedules": ReportKind("Schedules", "What will run, and when?", schedules_report.report),
    "exclusions": ReportKind("Exclusions", "Which exclude URLs work?", exclusions.report),
    "search-use": ReportKind("Search use", "What do the public look for?", search_use.report),
    "propagation": ReportKind("Propagation", "What is live where?", propagation_report.report, Action.VIEW_PROPAGATION),
    "audit": ReportKind("Audit", "Who changed what?", audit_report.report),
}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    visible_docs(request)
    return render(
        request, "reports/index.html", {"reports": _open_to(request.user).items(), "who": who_sees(request.user)}
    )


@require_safe
def report(request: HttpRequest, name: str) -> HttpResponse:
    kind, made = _made(request, name)
    page = page_of(request, made.source)
    raw = list(page.object_list)
    rows = [(list(zip(made.columns, cells, strict=True)), one) for cells, one in zip(made.cells(raw), raw, strict=True)]
    context = {
        "name": name,
        "kind": kind,
        "report": made,
        "page": page,
        "rows": rows,
        "others": [(other, one.title) for other, one in _open_to(request.user).items()],
        "who": who_sees(request.user),
        "filtered": any(key not in ("page", "sort") for key in request.GET),
        "csv": reverse("report-csv", args=[name]),
        "back": request.get_full_path(),
        "may_mark": doc_ids_for(request.user, Action.EDIT) != set(),
    }
    return render(request, "reports/report.html", context | _own_views(request, name) | made.extra)


@require_safe
def export(request: HttpRequest, name: str) -> HttpResponse:
    """The rows of the report with the filters of the address, all of them, as they are written."""
    if name == "broken-links":
        return csv_answer(
            "broken-links.csv", broken_links_report.CSV_HEAD, broken_links_report.csv_lines(_asked(request))
        )
    _, made = _made(request, name)
    return csv_answer(f"{name}.csv", [column.label for column in made.columns], made.lines())


def _own_views(request: HttpRequest, name: str) -> dict[str, Any]:
    query = plain_query(request)
    views = [(one, one.query == query) for one in saved_views.views_of(request.user, name)]
    return {"own_views": views, "query": query}


def _open_to(user: Any) -> dict[str, ReportKind]:
    return {name: kind for name, kind in REPORTS.items() if scope_of(user, kind.action) is not RoleScope.NOTHING}


def _asked(request: HttpRequest) -> ReportRequest:
    return ReportRequest(request, visible_docs(request))


def _made(request: HttpRequest, name: str) -> tuple[ReportKind, Report]:
    asked = _asked(request)
    kind = _open_to(request.user).get(name)
    if kind is None:
        raise Http404("No such report")
    return kind, kind.make(asked)


@require_POST
def save_view(request: HttpRequest, name: str) -> HttpResponse:
    return save_view_of(request, _known(request, name))


@require_POST
def forget_view(request: HttpRequest, name: str) -> HttpResponse:
    return delete_view_of(request, _known(request, name))


def _known(request: HttpRequest, name: str) -> str:
    visible_docs(request)
    if name not in _open_to(request.user):
        raise Http404("No such report")
    return name


@require_POST
def mark(request: HttpRequest, key: str) -> HttpResponse:
    """Known, solved or new again, in the documents of this person that have this error."""
    state = request.POST.get("state", "")
    count = mark_group(request.user, visible_docs(request), key, state)
    word = state or "new again"
    messages.success(request, f"This error is {word} in {plural(count, 'document')}.")
    there = reverse("report", args=["errors"])
    return HttpResponseRedirect(safe_next(request.POST.get("next", ""), there))
