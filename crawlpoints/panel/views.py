"""The crawl point panel: the table, its commands, exclude URLs, what runs now."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, document_or_404, may, sees_logins, who_can_grant
from clearinghouse.addresses import Refusal
from clearinghouse.addresses.patterns import compile_exclude
from clearinghouse.audit.queries import authors
from clearinghouse.library.models import Assignment, Document
from clearinghouse.web.csv_output import csv_answer
from clearinghouse.web.listing import in_order, order_by, page_of, sort_in
from crawler.findings import finding_links as findings
from crawler.launching.planned_pages import next_start_of

from .. import undo
from ..documents import crawl_facts
from ..documents.document_views import last_runs
from ..documents.tables import Ordered, PointTable, in_words_sorted, sort_keys
from ..imports.line_verdicts import VALUES
from ..imports.short_import import POINT_COLUMNS
from ..models import CrawlPoint, ExcludeUrl
from ..point_checks import SWITCHES
from ..point_warnings import cautions_for
from ..points_by_address import Neighbour
from ..queries import deleted_points_of, excludes_of, points_of
from ..templatetags.panel_urls import list_url, remember_panel

PER_PAGE = 500  # crawl points; nearly every document has fewer
_COLUMNS = {name: name for name in ("url", "root", "depth", "max_pages", "auth_type")} | {"state": "active"}
SORT_KEYS = sort_keys(PointTable)
RULE = 500  # characters of a pattern that the ledger keeps


@dataclass(slots=True)
class PointRow:
    id: int
    document_id: int
    url: str
    root: str
    depth: int
    max_pages: int
    auth_type: int
    state: str
    edit_url: str
    crawls: crawl_facts.PointCrawls | None
    selected: bool = False
    focused: bool = False
    title: str = ""  # of the document, where the list holds several
    why: str = ""  # what became of its URL, while it is failing
    runs_seen: bool = True  # whether the person may open the runs of the document

    @property
    def name(self) -> str:
        return self.url

    @property
    def max_pages_key(self) -> float:
        return self.max_pages or float("inf")

    @property
    def pages_key(self) -> int:
        return self.crawls.pages if self.crawls else -1


@require_safe
def panel(request: HttpRequest, doc_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id)
    may_edit = may(request.user, Action.EDIT, document)
    remember_panel(request, document.pk)
    points, page = _points_on_page(request, document)
    crawls = crawl_facts.newest_of(document.pk)
    last = crawls[0] if crawls else None
    rows = [row_of(document, point, crawls, request.GET) for point in points]
    runs_seen = may(request.user, Action.VIEW_RUNS, document)
    for row in rows:
        row.runs_seen = runs_seen
        row.edit_url = row.edit_url if may_edit else ""
    sort = sort_in(request.GET, SORT_KEYS, "url")
    table = PointTable(Ordered(rows if page else in_order(rows, sort, SORT_KEYS)), order_by=sort, may_edit=may_edit)
    table.caption = f"Crawl points for this document, {in_words_sorted(table)}"
    crawl_facts.say_why(rows)
    context = header_of(request, document, points, last, page) | {
        "table": table,
        "page": page,
        "total": page.paginator.count if page else len(rows),
        "rows": rows,
        "may_edit": may_edit,
        "may_test": may(request.user, Action.TEST, document),
        "may_request": may(request.user, Action.REQUEST, document),
        "may_launch": may(request.user, Action.LAUNCH, document),
        "ask": "" if may_edit else who_can_grant(Action.EDIT, document),
        "saved": saved_of(request, points) if may_edit else None,
        "undo": undo.offered(request, document.pk) if may_edit else None,
        "excludes": exclude_rows(document, last),
        "runs_seen": runs_seen,
    }
    if runs_seen:
        context |= findings.of_document(document.pk, may_edit, may(request.user, Action.LAUNCH, document))
    context["running"] = crawl_facts.running_of(document.pk)
    context["mark"] = crawl_facts.mark_of(context["running"])
    if context["saved"] and last:
        context["saved"]["unused"] = [row["exclude"] for row in context["excludes"] if row["matched"] == 0]
        context["saved"]["count"] += len(context["saved"]["unused"])
    context |= _deleted(request, document) if may_edit else {}
    return render(request, "panel/panel.html", context)


def _points_on_page(request: HttpRequest, document: Document) -> tuple[list[CrawlPoint], Page | None]:
    """All of them, as nearly always; of very many those of one page, in the order the database gives them."""
    points = points_of(document)
    found = list(points[: PER_PAGE + 1])
    if len(found) <= PER_PAGE:
        return found, None
    page = page_of(request, _in_order(points, request.GET.get("sort", "")), PER_PAGE)
    return list(page.object_list), page


def _in_order(points: QuerySet[CrawlPoint], sort: str) -> QuerySet[CrawlPoint]:
    return points.order_by(*order_by(sort, _COLUMNS, "url"), "url", "pk")


def header_of(
    request: HttpRequest,
    document: Document,
    points: list[CrawlPoint],
    last: dict[str, Any] | None,
    page: Page | None = None,
) -> dict[str, Any]:
    people = Assignment.objects.filter(document=document).order_by("person__username")
    return {
        "document": document,
        "people": list(people.values_list("person__username", flat=True)),
        "points": points,
        "all_points": page.paginator.count if page else len(points),
        "active_points": points_of(document).filter(active=1).count() if page else sum(map(_is_active, points)),
        "last": last,
        "next_start": _next_start(document, points),
        "last_pages": last["crawled"] + last["unchanged"] if last else 0,
        "list_url": list_url(request, document.pk),
    }


def _is_active(point: CrawlPoint) -> bool:
    return bool(point.active)


def _next_start(document: Document, points: list[CrawlPoint]) -> datetime | None:
    """Only a document with an active crawl point is met."""
    sheet = getattr(document, "sheet", None)
    active = any(point.active for point in points)
    return next_start_of(document.pk, sheet.project_id if sheet else None) if active else None


def row_of(document: Document, point: CrawlPoint, crawls: list[dict[str, Any]], query: QueryDict) -> PointRow:
    known = crawl_facts.point_crawls(crawls, point.pk)
    failing = bool(known and known.failing_runs)
    return PointRow(
        id=point.pk,
        document_id=document.pk,
        url=point.url,
        root=point.root,
        depth=point.depth,
        max_pages=point.max_pages or 0,
        auth_type=point.auth_type or 0,
        state=("failing" if failing else "active") if point.active else "inactive",
        edit_url=reverse("crawl-point-edit", args=[document.pk, point.pk]),
        crawls=known,
        selected=str(point.pk) == query.get("select"),
        focused=str(point.pk) in (query.get("select"), query.get("at")),
    )


def ids_in_order(document: Document, sort: str) -> list[int]:
    """The crawl points of a document, in the order in which a person has them on the screen."""
    points = points_of(document)
    if points.count() > PER_PAGE:
        return list(_in_order(points, sort).values_list("pk", flat=True))
    crawls = crawl_facts.newest_of(document.pk)
    rows = [row_of(document, point, crawls, QueryDict()) for point in points]
    return [row.id for row in in_order(rows, sort or "url", SORT_KEYS)]


def exclude_rows(document: Document, last: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Each exclude URL with its kind and what it stopped in the last run; None where it could stop nothing yet."""
    matches = crawl_facts.matches_of_excludes(last["id"]) if last else {}
    rows, excludes = [], list(excludes_of(document))
    added_by = authors("excludeurl", [exclude.pk for exclude in excludes])
    for exclude in excludes:
        compiled = compile_exclude(exclude.pattern)
        rows.append(
            {
                "exclude": exclude,
                "added_by": added_by.get(exclude.pk, exclude.updated_by),
                "kind": "not readable" if isinstance(compiled, Refusal) else compiled.kind,
                "rule": exclude.pattern[:RULE],
                "matched": matches.get(exclude.pattern[:RULE], None if _newer(exclude, last) else 0),
            }
        )
    return rows


def saved_of(request: HttpRequest, points: list[CrawlPoint]) -> dict[str, Any] | None:
    """After a save: what is odd about the crawl point now, until it is repaired."""
    point = next((one for one in points if str(one.pk) == request.GET.get("saved")), None)
    if point is None:
        return None
    others = [Neighbour(one.pk, one.url, one.root, bool(one.active)) for one in points if one.pk != point.pk]
    cautions = cautions_for(point, others)
    return {"point": point, "cautions": cautions, "unused": [], "count": len(cautions)}


def _newer(exclude: ExcludeUrl, last: dict[str, Any] | None) -> bool:
    """Whether it was added after the last run was asked for."""
    began = last["run__created_at"] if last else None
    return not began or (exclude.created_at is not None and exclude.created_at >= began)


def _deleted(request: HttpRequest, document: Document) -> dict[str, Any]:
    deleted = deleted_points_of(document)
    if request.GET.get("show") == "deleted":
        rows = list(deleted[:PER_PAGE])
        count = len(rows) if len(rows) < PER_PAGE else deleted.count()
        return {"deleted": rows, "deleted_count": count, "show_deleted": bool(rows)}
    return {"deleted": [], "deleted_count": deleted.count(), "show_deleted": False}


@require_safe
def running(request: HttpRequest, doc_id: int) -> HttpResponse:
    """The block Running now, asked for every two seconds; 204 while nothing moved."""
    document = document_or_404(request.user, doc_id)
    now = crawl_facts.running_of(document.pk)
    mark = crawl_facts.mark_of(now)
    if request.GET.get("since") == mark:
        return HttpResponse(status=204)
    context = {"document": document, "running": now, "mark": mark, "may_edit": may(request.user, Action.EDIT, document)}
    context["runs_seen"] = may(request.user, Action.VIEW_RUNS, document)
    if context["runs_seen"] and "listed" in request.GET:  # where its runs stand below, they follow
        context |= last_runs(document) | {"listed": True, "oob": True}
    return render(request, "panel/panel_running.html", context)


@require_safe
def export(request: HttpRequest, doc_id: int) -> HttpResponseBase:
    """Every column but the password."""
    document = document_or_404(request.user, doc_id)
    crawls = crawl_facts.newest_of(document.pk)
    rows = (csv_line(document, point, crawls) for point in points_of(document))
    return csv_answer(f"crawl-points-{document.pk}.csv", POINT_COLUMNS, for_eyes_of(request.user, rows))


def for_eyes_of(user: Any, lines: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """Without the user IDs, for who only reads."""
    place, shown = POINT_COLUMNS.index("user_id"), sees_logins(user)
    for line in lines:
        yield line if shown else [*line[:place], "", *line[place + 1 :]]


def _cell(point: CrawlPoint, name: str) -> Any:
    value = getattr(point, name)
    if name == "auth_type":
        return point.get_auth_type_display()
    return int(bool(value)) if name in SWITCHES else value or (0 if name == "depth" else "")


def csv_line(document: Document, point: CrawlPoint, crawls: list[dict[str, Any]]) -> list[Any]:
    known = crawl_facts.point_crawls(crawls, point.pk)
    at = known.last["finished_at"] if known else None
    return [
        document.pk, document.title, point.pk, *(_cell(point, name) for name in VALUES.values()),
        at.isoformat(timespec="seconds") if at else "", known.pages if known else "", known.errors if known else "",
    ]  # fmt: skip
