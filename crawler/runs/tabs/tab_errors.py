"""The tab Errors: failed addresses in groups of one trouble, and the list of all of them."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from clearinghouse.accounts.policies import Action, may
from crawler.ledger.error_groups import FailureGroup, Failures, failures_of, ids_of, seen_of
from crawler.ledger.queries import Filter, LedgerSlice
from crawler.ledger.views.why_views import why_of
from crawler.models import Run
from crawler.values import FAILED

from ..report_queries import error_trends
from ..run_counts import Docs, excursions_of
from .address_lists import chips_of, choices_of, listed, page_of_rows, tallies_for

_GROUPS_SHOWN = 100
_NAMED = 50  # documents in an address; with more, all that have the group are meant


def errors(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    """Groups first; ?group= or a filter opens the list of addresses."""
    asked = Filter.read(request.GET).but(outcomes=(FAILED,))
    wanted = request.GET.get("group", "")
    listing = bool(wanted) or request.GET.get("list") == "all" or _narrowed(asked)
    failures = failures_of(run, docs, asked) if wanted or not listing else Failures([], [])
    group = next((one for one in failures.groups if one.key == wanted), None)
    page, rows = _rows(request, run, docs, asked, group) if listing else (None, [])
    chips = chips_of(request, asked, tallies_for(run, docs, asked, context).in_words(FAILED))
    return (
        {
            "page": page,
            "asked": asked,
            "group": group,
            "listing": listing,
            "noun": "error",
            "chip_rows": [("fail-h", "Failed because", chips)] if chips else [],
            "may_mark": may(request.user, Action.EDIT),
        }
        | why_of(request, run, docs, rows)
        | _grouped(run, docs, failures)
        | choices_of(run, docs, context, asked)
    )


def _narrowed(asked: Filter) -> bool:
    narrow = asked.reasons or asked.text or asked.site or asked.rule
    return bool(narrow) or any(one is not None for one in (asked.depth, asked.doc_id, asked.point, asked.status))


def _rows(request: HttpRequest, run: Run, docs: Docs, asked: Filter, group: FailureGroup | None) -> tuple[Any, Any]:
    if group is None:
        return listed(request, run, docs, asked)
    return page_of_rows(request, LedgerSlice(run, docs, ids_of(group, run, docs, asked)))


def _grouped(run: Run, docs: Docs, failures: Failures) -> dict[str, Any]:
    shown = failures.groups[:_GROUPS_SHOWN]
    solved = failures.solved[:_GROUPS_SHOWN]
    documents = {doc_id for group in (*shown, *solved) for doc_id in group.documents}
    titles = dict(excursions_of(run, docs).filter(doc_id__in=documents).values_list("doc_id", "title"))
    again = reverse("launch")
    known, trends = seen_of(shown, docs), error_trends(docs, [group.digest for group in shown])
    return {
        "groups": [
            {
                "group": group,
                "titles": _titles(group, titles),
                "again": _again(again, group),
                "seen": known.get(group.digest, (group.first, group.last)),
                "trend": trends.get(group.digest, []),
            }
            for group in shown
        ],
        "all_groups": len(failures.groups),
        "more_groups": len(failures.groups) - len(shown),
        "solved": [(group, _titles(group, titles)) for group in solved],
        "complete": failures.complete,
        "grouped": failures.grouped,
        "failed": failures.failed,
    }


def _titles(group: FailureGroup, titles: dict[int, str]) -> list[str]:
    return sorted(titles.get(doc_id, "") for doc_id in group.documents)


def _again(launch: str, group: FailureGroup) -> str:
    """The launch form with the documents of the group chosen, for the pages that failed."""
    few = sorted(group.documents) if len(group.documents) <= _NAMED else []
    documents = "".join(f"&doc={doc_id}" for doc_id in few)
    return f"{launch}?only=failed&group={group.key}{documents}"
