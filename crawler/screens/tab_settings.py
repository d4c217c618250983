"""The tab Settings used: the snapshot a run works on, and how the settings differ now."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from clearinghouse.library.models import Document
from crawlpoints.models import AuthType

from ..intake import snapshot_of
from ..models import Excursion, Run
from ..queries.counts import Docs, excursions_of
from .run import COUNTED_DOCUMENTS
from .scope import page_size


def settings(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    rows = excursions_of(run, docs).order_by("title", "id").only("id", "doc_id", "title", "snapshot")
    size = COUNTED_DOCUMENTS if context["sums"].documents <= COUNTED_DOCUMENTS else page_size(request)
    page = Paginator(rows, size).get_page(request.GET.get("page"))
    listed = [
        (row, used_points(row.snapshot or {}), (row.snapshot or {}).get("excludes", [])) for row in page.object_list
    ]
    return {
        "page": page,
        "listed": listed,
        "no_excludes": not any(excludes for _, _, excludes in listed),
        "comparing": request.GET.get("compare") == "1",
        "differences": _differences(list(page.object_list)) if request.GET.get("compare") == "1" else [],
    }


def _differences(excursions: list[Excursion]) -> list[tuple[str, str, str, str]]:
    """Document, what, as it was at the launch, as it is now; a user ID or password is never part of it."""
    documents = Document.objects.in_bulk([one.doc_id for one in excursions])
    lines = []
    for excursion in excursions:
        document = documents.get(excursion.doc_id)
        now = snapshot_of(document).to_json() if document else {}
        lines += [(excursion.title, *line) for line in differing(excursion.snapshot or {}, now)]
    return lines


def differing(then: dict[str, Any], now: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Pure: the lines of a snapshot that differ."""
    before = {point["id"]: point for point in then.get("points", [])}
    after = {point["id"]: point for point in now.get("points", [])}
    lines = [(before[pk]["url"], "active crawl point", "deleted or inactive") for pk in before if pk not in after]
    lines += [(after[pk]["url"], "not there or inactive", "active crawl point") for pk in after if pk not in before]
    for pk in before.keys() & after.keys():
        for name, label in _COMPARED.items():
            old, new = (_said(name, point.get(name)) for point in (before[pk], after[pk]))
            if old != new:
                lines.append((f"{label} of {before[pk]['url']}", old, new))
    old_excludes, new_excludes = set(then.get("excludes", [])), set(now.get("excludes", []))
    lines += [(f"Exclude URL {pattern}", "there", "deleted") for pattern in sorted(old_excludes - new_excludes)]
    lines += [(f"Exclude URL {pattern}", "not there", "added") for pattern in sorted(new_excludes - old_excludes)]
    return lines


def _said(name: str, value: Any) -> str:
    if name == "auth_type":
        return AuthType(value or 0).label
    if name == "max_pages":
        return f"{value:,}" if value else "No limit"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "") else str(value)


_COMPARED = {
    "url": "URL", "root": "Root string", "depth": "Depth limit", "max_pages": "Maximum pages",
    "auth_type": "Authentication", "append": "Append text", "sign_in_url": "Sign-in page",
    "accept_bad_certificate": "Accept a bad certificate", "merge_schemes": "Treat http and https as one",
    "ignore_query": "Ignore query strings", "drop_sessions": "Drop session parameters",
    "obey_nofollow": "Obey nofollow", "stop_traps": "Stop endless addresses", "ignore_robots": "Ignore robots.txt",
}  # fmt: skip
_OPTIONS = {
    "accept_bad_certificate": "accepts a bad certificate",
    "merge_schemes": "http and https are one",
    "ignore_query": "ignores query strings",
    "obey_nofollow": "obeys nofollow",
    "ignore_robots": "ignores robots.txt",
}


def used_points(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    """The crawl points as the run used them; neither user ID nor password is shown here."""
    return [
        {
            "url": point["url"],
            "root": point["root"],
            "depth": point.get("depth", 0),
            "max_pages": point.get("max_pages", 0),
            "auth": AuthType(point.get("auth_type") or 0).label,
            "active": point.get("active", True),
            "options": ", ".join(words for name, words in _OPTIONS.items() if point.get(name)),
        }
        for point in snapshot.get("points", [])
    ]
