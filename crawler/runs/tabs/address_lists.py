"""What the lists of addresses of a run share: the filter in the address, the page of rows, chips and choices."""

from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest

from clearinghouse.web.listing import page_of
from crawler.ledger import counted_lists
from crawler.ledger.queries import Filter, Row, with_documents, with_parents
from crawler.models import Run
from crawler.reasons import HTTP
from crawler.values import Reason
from crawlpoints.models import CrawlPointLink

from ..run_counts import Docs, Tallies, Totals, excursions_of, tallies, totals
from ..views.run_page import COUNTED_DOCUMENTS
from .row_hints import shown


def listed(request: HttpRequest, run: Run, docs: Docs, asked: Filter) -> tuple[Page[Row], list[Row]]:
    found, too_long = counted_lists.listed(run, docs, asked)
    page, rows = page_of_rows(request, found)
    page.unsorted = too_long  # type: ignore[attr-defined]
    return page, rows


def page_of_rows(request: HttpRequest, found: Any) -> tuple[Page[Row], list[Row]]:
    """`found` counts and slices like the QuerySet a Paginator expects."""
    page: Page[Row] = page_of(request, found)
    rows = with_documents(with_parents(list(page.object_list)))
    shown(rows, request.GET.get("why", ""))
    page.object_list = rows
    return page, rows


def chips_of(request: HttpRequest, asked: Filter, counts: list[tuple[Reason, int]]) -> list[dict[str, Any]]:
    """A chip for each reason; pressing it adds the reason to the filter, or takes it away. Its number counts all
    addresses with that reason (of the document asked for): other filters are left behind."""
    mine = {reason for reason, _ in counts}
    chosen = {reason for reason in mine if _takes(asked, reason)}
    chips = []
    for reason, count in counts:
        query = request.GET.copy()
        for name in set(query) - {"doc", "sort"}:
            query.pop(name)
        for name, values in _choosing(chosen ^ {reason}, mine, asked).items():
            query.setlist(name, values)
        chip = {"label": reason.label, "count": count, "chosen": reason in chosen}
        chips.append(chip | {"query": query.urlencode()})
    return chips


def _takes(asked: Filter, reason: Reason) -> bool:
    exact = not asked.answered or not reason.status or reason.status in asked.answered
    return reason.code in asked.reasons and exact


def _choosing(then: set[Reason], mine: set[Reason], asked: Filter) -> dict[str, list[str]]:
    """The filter by these reasons of one row of chips, and by what is chosen in the other; statuses are named only
    where not all of a reason are meant."""
    codes = {reason.code for reason in then}
    others = [code for code in asked.reasons if code not in {reason.code for reason in mine}]
    partly = any(reason.status and reason.code in codes for reason in mine - then)
    statuses = sorted({reason.status for reason in then if reason.status}) if partly else []
    if set(HTTP) & set(others):
        statuses = list(asked.answered)
    return {"reason": [*others, *sorted(codes)], "answered": [str(status) for status in statuses]}


def choices_of(run: Run, docs: Docs, context: dict[str, Any], asked: Filter) -> dict[str, Any]:
    """The documents and depths to filter by, and how the crawl point that is asked for is called. Of very many
    documents only the one asked for: the others are chosen on the Summary tab, or in a row of the list."""
    listed = excursions_of(run, docs).order_by("title").values_list("doc_id", "title")
    if context["sums"].documents > COUNTED_DOCUMENTS:
        listed = listed.filter(doc_id=asked.doc_id)
    return {
        "documents": list(listed),
        "depth_choices": sorted(context["tallies"].depths),
        "point_url": _point_url(run, docs, asked.point) if asked.point else "",
    }


def _point_url(run: Run, docs: Docs, point_id: int) -> str:
    """Its address, where one of these documents has it; else its number, which whoever asks knows already."""
    links = CrawlPointLink.objects.filter(crawl_point_id=point_id).values_list("document_id", "crawl_point__url")
    urls = dict(links)
    seen = excursions_of(run, docs).filter(doc_id__in=list(urls)).values_list("doc_id", flat=True).first()
    return urls[seen] if seen else str(point_id)


def tallies_for(run: Run, docs: Docs, asked: Filter, context: dict[str, Any]) -> Tallies:
    """How the counters divide, of the document asked for."""
    if asked.doc_id is None:
        whole: Tallies = context["tallies"]
        return whole
    return tallies(run, _only(asked.doc_id, docs))


def totals_for(run: Run, docs: Docs, asked: Filter, context: dict[str, Any]) -> Totals:
    """The counters, of the document asked for."""
    if asked.doc_id is None:
        whole: Totals = context["sums"]
        return whole
    return totals(run, _only(asked.doc_id, docs))


def _only(doc_id: int, docs: Docs) -> set[int]:
    return {doc_id} if docs is None else docs & {doc_id}
