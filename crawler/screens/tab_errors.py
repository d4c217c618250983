"""The tab Errors: failed addresses in groups of one trouble, and the list of all of them."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from ..models import Run
from ..queries.counts import Docs, excursions_of
from ..queries.failures import MOST, Chosen, Failures, Group, failures_of
from ..queries.ledger import Filter
from ..values import FAILED
from .lists import asked_of, chips_of, choices_of, listed, page_of, tallies_for
from .why import why_of

_GROUPS_SHOWN = 100


def errors(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    """Groups first; ?group= or a filter opens the list of addresses."""
    asked = asked_of(request).but(outcomes=(FAILED,))
    failures = failures_of(run, docs, asked)
    group = next((one for one in failures.groups if one.key == request.GET.get("group")), None)
    listing = group is not None or request.GET.get("list") == "all" or _narrowed(asked)
    page, rows = _rows(request, run, docs, asked, group) if listing else (None, [])
    chips = chips_of(request, asked, tallies_for(run, docs, asked, context).failed)
    return (
        {
            "page": page,
            "asked": asked,
            "group": group,
            "listing": listing,
            "noun": "error",
            "chip_rows": [("fail-h", "Failed because", chips)] if chips else [],
        }
        | why_of(request, run, docs, rows)
        | _grouped(run, docs, failures)
        | choices_of(run, docs, context)
    )


def _narrowed(asked: Filter) -> bool:
    return bool(asked.reasons or asked.text or asked.site or asked.depth is not None or asked.doc_id is not None)


def _rows(request: HttpRequest, run: Run, docs: Docs, asked: Filter, group: Group | None) -> tuple[Any, Any]:
    return listed(request, run, docs, asked) if group is None else page_of(request, Chosen(run, docs, group.ids))


def _grouped(run: Run, docs: Docs, failures: Failures) -> dict[str, Any]:
    shown = failures.groups[:_GROUPS_SHOWN]
    solved = failures.solved[:_GROUPS_SHOWN]
    documents = {doc_id for group in (*shown, *solved) for doc_id in group.documents}
    titles = dict(excursions_of(run, docs).filter(doc_id__in=documents).values_list("doc_id", "title"))
    again = reverse("launch")
    return {
        "groups": [(group, _titles(group, titles), _again(again, group)) for group in shown],
        "more_groups": len(failures.groups) - len(shown),
        "solved": [(group, _titles(group, titles)) for group in solved],
        "complete": failures.complete,
        "most": MOST,
    }


def _titles(group: Group, titles: dict[int, str]) -> list[str]:
    return sorted(titles.get(doc_id, "") for doc_id in group.documents)


def _again(launch: str, group: Group) -> str:
    """The launch form with the documents of the group chosen."""
    return f"{launch}?" + "&".join(f"doc={doc_id}" for doc_id in sorted(group.documents)[:50])
