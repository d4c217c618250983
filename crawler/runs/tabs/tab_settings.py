"""The tab Settings used: the snapshot a run works on, and how the settings differ now."""

from dataclasses import fields
from typing import Any

from django.http import HttpRequest

from clearinghouse.library.models import Document
from clearinghouse.web.listing import page_of, page_size
from clearinghouse.web.templatetags.formats import plural
from crawler.launching.launch import snapshot_of
from crawler.launching.launch_subset import ONE_POINT, ONLY_FAILED, ONLY_NEW
from crawler.models import Excursion, Run
from crawler.values import OWN_MAXIMUM, PointSettings
from crawlpoints.models import OPTIONS, AuthType

from ..run_actions import SPEEDS
from ..run_counts import Docs, excursions_of
from ..views.run_page import COUNTED_DOCUMENTS


def settings(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    rows = excursions_of(run, docs).order_by("title", "id").only("id", "doc_id", "title", "snapshot", "part")
    size = COUNTED_DOCUMENTS if context["sums"].documents <= COUNTED_DOCUMENTS else page_size(request)
    page = page_of(request, rows, size)
    listed = [
        (row, used_points(row.snapshot or {}), (row.snapshot or {}).get("excludes", [])) for row in page.object_list
    ]
    return {
        "page": page,
        "listed": listed,
        "no_excludes": not any(excludes for _, _, excludes in listed),
        "used": run.used | {"pause": f"{run.used.get('pause', 0):g}"},
        "launched_at_speed": SPEEDS.get(run.used.get("speed", ""), ""),
        "comparing": request.GET.get("compare") == "1",
    } | (_compared(run, list(page.object_list)) if request.GET.get("compare") == "1" else {})


def _compared(run: Run, excursions: list[Excursion]) -> dict[str, Any]:
    parts = {one.part for one in excursions}
    said = [words for part, words in NOT_COMPARED.items() if part in parts]
    if run.used.get("max_pages"):
        said.append(f"The maximum of {plural(run.used['max_pages'], 'page')} was of this run only.")
    return {"differences": _differences(excursions), "not_compared": said}


def _differences(excursions: list[Excursion]) -> list[tuple[str, str, str, str]]:
    """Document, what, as it was at the launch, as it is now; a user ID or password is never part of it."""
    documents = Document.objects.in_bulk([one.doc_id for one in excursions])
    lines = []
    for excursion in excursions:
        document = documents.get(excursion.doc_id)
        now = snapshot_of(document).to_json() if document else {}
        lines += [(excursion.title, *line) for line in differing(excursion.snapshot or {}, now, excursion.part)]
    return lines


# What a launch over a part of a document changed itself, and nobody on the crawl points.
NOT_COMPARED = {
    ONLY_FAILED: "This run fetched only what had failed, and followed no links: depth limits are not compared.",
    ONLY_NEW: "This run crawled only crawl points that were new or changed: the others are not compared.",
    ONE_POINT: "This run crawled one crawl point of its document: the others are not compared.",
}


def differing(then: dict[str, Any], now: dict[str, Any], part: str = "") -> list[tuple[str, str, str]]:
    """Pure: the lines of a snapshot that differ; what the launch itself narrowed is not among them."""
    before = {point["id"]: point for point in then.get("points", [])}
    after = {point["id"]: point for point in now.get("points", [])}
    lines = [(before[pk]["url"], "active crawl point", "deleted or inactive") for pk in before if pk not in after]
    if part not in (ONLY_NEW, ONE_POINT):
        lines += [(after[pk]["url"], "not there or inactive", "active crawl point") for pk in after if pk not in before]
    for pk in before.keys() & after.keys():
        own = before[pk] | {"max_pages": before[pk].get(OWN_MAXIMUM, before[pk].get("max_pages"))}
        for name, label in _COMPARED.items():
            old, new = (_said(name, point.get(name)) for point in (own, after[pk]))
            if old != new and not (name == "depth" and part == ONLY_FAILED):
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


# What a run obeys; a user ID, or where it is entered, is shown to nobody here.
_UNSAID = {"active", "login", "sign_in_user_field", "sign_in_password_field", "signed_in_text"}
_OBEYED = {item.name for item in fields(PointSettings)} - _UNSAID
_COMPARED = {name: option.label for name, option in OPTIONS.items() if name in _OBEYED} | {
    "append": "Append text", "obey_nofollow": "Obey nofollow",
}  # fmt: skip
_SUMMARIES = {name: option.summary for name, option in OPTIONS.items() if option.summary}


def used_points(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    """The crawl points as the run used them; neither user ID nor password is shown here."""
    return [
        {
            "url": point["url"],
            "root": point["root"],
            "depth": point.get("depth", 0),
            "max_pages": point.get("max_pages", 0),
            "less": OWN_MAXIMUM in point and point[OWN_MAXIMUM] != point.get("max_pages"),
            "own_max_pages": point.get(OWN_MAXIMUM, 0),
            "auth": AuthType(point.get("auth_type") or 0).label,
            "active": point.get("active", True),
            "options": ", ".join(words for name, words in _SUMMARIES.items() if point.get(name)),
        }
        for point in snapshot.get("points", [])
    ]
