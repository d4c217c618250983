"""Operations on the figures of a run: counts by reason, depth and status, folders, settings then and now."""

from typing import Any

from django.http import Http404

from clearinghouse.library.models import Document
from clearinghouse.published.types import PAGE_TYPES

from ..launching.launch import snapshot_of
from ..ledger.site_folders import SiteFolder, by_folder, by_site
from ..runs.run_advice import advised
from ..runs.run_counts import tallies, totals
from ..runs.tabs.tab_settings import differing
from ..runs.views.run_access import run_or_404
from . import result_shapes
from .contract import PAGING, ApiAddress, ApiRequest, ApiResponse, Operation, Schema, number, text
from .door import page_of
from .paths import OF_RUN, RUN
from .results import excursion_or_404
from .shapes import COUNTERS, INT, TEXT, list_of, shape_of

DOCUMENT_QUERY = {"document": number("Key of a document", least=1)}
FOLDER_QUERY = DOCUMENT_QUERY | {"folder": text("The folder to look into, with its slash; none: the sites", 2048)}
_COUNTS = ("found", "redirected", *result_shapes.HOST_COUNTS)
_BY_NAME: Schema = {"type": "object", "additionalProperties": INT}
SCHEMAS: dict[str, Schema] = {
    "Counts": shape_of(
        **dict.fromkeys((*COUNTERS, "documents", "bytes"), INT), skipped_by_reason=_BY_NAME, failed_by_reason=_BY_NAME,
        statuses=_BY_NAME, types=_BY_NAME, recommendation=_BY_NAME, still_looking=INT,
        depths=list_of(shape_of(depth=INT, done=INT, waiting=INT, left=INT)),
    ),
    "Folder": shape_of(folder=TEXT, **dict.fromkeys(_COUNTS, INT)),
    "SettingsDifference": shape_of(what=TEXT, then=TEXT, now=TEXT),
}  # fmt: skip


def counts(asked: ApiRequest, run_id: int) -> ApiResponse:
    """The figures of the run page: how many addresses had which decision, depth, status, type; what is advised for how
    many documents (propagate, review, again), once they were looked through; still_looking: how many were not yet."""
    run, docs = run_or_404(asked.request, run_id)
    doc_id = asked.query.get("document")
    if doc_id is not None:
        docs = {doc_id} if docs is None else docs & {doc_id}
    sums, divided, found = totals(run, docs), tallies(run, docs), advised(run, docs)
    figures: dict[str, Any] = {name: getattr(sums, name) for name in (*COUNTERS, "documents", "bytes")}
    return ApiResponse(figures | {
        "skipped_by_reason": divided.skipped,
        "failed_by_reason": divided.failed,
        "statuses": {f"{first}xx": count for first, count in sorted(divided.statuses.items())},
        "recommendation": found.counts,
        "still_looking": found.looking,
        "types": {PAGE_TYPES.get(kind, str(kind)): count for kind, count in sorted(divided.types.items())},
        "depths": [
            {"depth": depth, "done": done, "waiting": waiting, "left": divided.left[depth]}
            for depth, (done, waiting) in sorted(divided.depths.items())
        ],
    })  # fmt: skip


def folders(asked: ApiRequest, run_id: int) -> ApiResponse:
    """The folders right below one; the one with its own name holds the pages right in it."""
    run, docs = run_or_404(asked.request, run_id)
    folder, doc_id = asked.query.get("folder", ""), asked.query.get("document")
    rows = by_folder(run, docs, folder, doc_id) if folder else by_site(run, docs, doc_id)
    return page_of(rows, asked, lambda page: [_folder(row) for row in page])


def _folder(row: SiteFolder) -> dict[str, Any]:
    return {"folder": row.start} | {name: getattr(row, name) for name in _COUNTS}


def differences(asked: ApiRequest, run_id: int, doc_id: int) -> ApiResponse:
    """What of a document's settings is not as it was at the launch; neither user ID nor password is in it."""
    excursion = excursion_or_404(asked, run_id, doc_id)
    document = Document.objects.filter(pk=doc_id).first()
    if document is None:
        raise Http404("This document was deleted")
    rows = differing(excursion.snapshot or {}, snapshot_of(document).to_json())
    return page_of(rows, asked, lambda page: [dict(zip(("what", "then", "now"), row, strict=True)) for row in page])


ADDRESSES = (
    ApiAddress(RUN + "counts/", "api-run-counts", {
        "GET": Operation(counts, "Addresses of a run by reason, depth, status and type", "Counts",
                         query=DOCUMENT_QUERY),
    }),
    ApiAddress(RUN + "folders/", "api-run-folders", {
        "GET": Operation(folders, "The tree of a run, one folder at a time", "Folder", many=True,
                         query=PAGING | FOLDER_QUERY),
    }),
    ApiAddress(OF_RUN + "settings/differences/", "api-run-settings-differences", {
        "GET": Operation(differences, "Settings used against those of now", "SettingsDifference", many=True,
                         query=PAGING),
    }),
)  # fmt: skip
