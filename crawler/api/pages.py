"""Operations on one address of a run: why, its links both ways, its versions and how two differ, its source."""

from typing import Any

from django.http import Http404

from ..ledger.page_details import decided, links_of, links_to, source_of, text_of, two_versions, version_of, versions_of
from ..ledger.queries import Row, one
from ..ledger.views.why_views import explain
from ..ledger.views.word_diff import ADDED, LEFT_OUT, REMOVED, SAME, difference
from ..models import PageVersion, Run
from ..runs.run_counts import Docs
from ..runs.views.run_access import run_or_404
from . import shapes
from .contract import PAGING, ApiAddress, ApiRequest, ApiResponse, Operation, Schema, number
from .door import page_of
from .paths import URL
from .shapes import FLAG, INT, INT_OR_NOTHING, MOMENT, TEXT, list_of, moment, shape_of

_ROW: Schema = {"$ref": "#/components/schemas/LedgerRow"}
_RESULT: Schema = {"type": "string", "enum": ["pass", "stop", "idle"]}
_KIND: Schema = {"type": "string", "enum": [SAME, ADDED, REMOVED, LEFT_OUT]}
SCHEMAS: dict[str, Schema] = {
    "Why": shape_of(
        sentence=TEXT, checks=list_of(shape_of(result=_RESULT, text=TEXT)), path=list_of(_ROW), path_cut=FLAG,
        site=TEXT, alike=INT,
    ),
    "LinkOut": shape_of(url=TEXT, anchor=TEXT, nofollow=FLAG, outcome=TEXT, reason=TEXT, id=INT_OR_NOTHING),
    "LinksIn": shape_of(complete=FLAG, items=list_of(shape_of(id=INT, url=TEXT, anchor=TEXT))),
    "Version": shape_of(id=INT, run_id=INT, title=TEXT, size=INT, found_at=MOMENT, digest=TEXT),
    "Difference": shape_of(
        old=INT_OR_NOTHING, new=INT, words_added=INT, words_removed=INT, complete=FLAG,
        pieces=list_of(shape_of(kind=_KIND, text=TEXT)),
    ),
    "Source": shape_of(text={"type": ["string", "null"]}, cut=FLAG),
}  # fmt: skip
TWO = {"old": number("Key of the older version", least=1), "new": number("Key of the newer version", least=1)}


def why(asked: ApiRequest, run_id: int, entry_id: int) -> ApiResponse:
    """The decision in a sentence, the checks that led to it, the way from the crawl point."""
    run, docs, row = _row(asked, run_id, entry_id)
    found = explain(run, docs, row)
    return ApiResponse({
        "sentence": found.sentence,
        "checks": [{"result": step.result, "text": _words(step)} for step in found.trace],
        "path": shapes.ledger_rows(found.path),
        "path_cut": found.cut,
        "site": found.site,
        "alike": found.alike,
    })  # fmt: skip


def _words(step: Any) -> str:
    """A comparison of root string and address ends with the character that differs."""
    if step.compared is None:
        return str(step.text)
    return f"{step.text}{step.compared.address_hit or 'missing'}"


def links_out(asked: ApiRequest, run_id: int, entry_id: int) -> ApiResponse:
    _, _, row = _row(asked, run_id, entry_id)
    rows = links_of(_version(row))

    def shape(page: Any) -> list[dict[str, Any]]:
        return [_link(one.link, one.decision) for one in decided(row, page)]

    return page_of(rows, asked, shape)


def _link(link: Any, decision: Row | None) -> dict[str, Any]:
    found = {"url": link.url, "anchor": link.anchor, "nofollow": link.nofollow}
    if decision is None:
        return found | {"outcome": "", "reason": "", "id": None}
    return found | {"outcome": decision.outcome, "reason": decision.reason, "id": decision.id}


def links_in(asked: ApiRequest, run_id: int, entry_id: int) -> ApiResponse:
    """Looked for in the first thousand pages of the document; `complete` says whether those were all."""
    _, _, row = _row(asked, run_id, entry_id)
    found = links_to(row)
    items = [{"id": page.id, "url": page.url, "anchor": anchor} for page, anchor in found.rows]
    return ApiResponse({"complete": found.complete, "items": items})


def versions(asked: ApiRequest, run_id: int, entry_id: int) -> ApiResponse:
    _, _, row = _row(asked, run_id, entry_id)
    return page_of(versions_of(row), asked, lambda page: [_version_shape(one) for one in page])


def _version_shape(row: PageVersion) -> dict[str, Any]:
    found = {name: getattr(row, name) for name in ("id", "run_id", "title", "size")}
    return found | {"found_at": moment(row.found_at), "digest": bytes(row.digest).hex()}


def compare(asked: ApiRequest, run_id: int, entry_id: int) -> ApiResponse:
    """Word by word; this version with the one before unless others are named."""
    _, _, row = _row(asked, run_id, entry_id)
    old, new = two_versions(row, _version(row), asked.query.get("new"), asked.query.get("old"))
    found = difference(text_of(old) if old else "", text_of(new))
    return ApiResponse({
        "old": old.pk if old else None,
        "new": new.pk,
        "words_added": found.added,
        "words_removed": found.removed,
        "complete": found.complete,
        "pieces": [{"kind": piece.kind, "text": piece.text} for piece in found.pieces],
    })  # fmt: skip


def source(asked: ApiRequest, run_id: int, entry_id: int) -> ApiResponse:
    """The bytes as text; null for what is no text."""
    _, _, row = _row(asked, run_id, entry_id)
    found = source_of(_version(row), shapes.TEXT_LIMIT)
    return ApiResponse({"text": found[0] if found else None, "cut": bool(found and found[1])})


def _row(asked: ApiRequest, run_id: int, entry_id: int) -> tuple[Run, Docs, Row]:
    run, docs = run_or_404(asked.request, run_id)
    row = one(run, docs, entry_id)
    if row is None:
        raise Http404("No such address in this run")
    return run, docs, row


def _version(row: Row) -> PageVersion:
    version = version_of(row)
    if version is None:
        raise Http404("No page is stored under this address")
    return version


ADDRESSES = (
    ApiAddress(URL + "why/", "api-run-url-why", {
        "GET": Operation(why, "Why an address was crawled or not, and the path to it", "Why"),
    }),
    ApiAddress(URL + "links-out/", "api-run-url-links-out", {
        "GET": Operation(links_out, "The links of a stored page with what was decided about each", "LinkOut",
                         many=True, query=PAGING),
    }),
    ApiAddress(URL + "links-in/", "api-run-url-links-in", {
        "GET": Operation(links_in, "The pages that link to an address", "LinksIn"),
    }),
    ApiAddress(URL + "versions/", "api-run-url-versions", {
        "GET": Operation(versions, "Every content an address had, newest first", "Version", many=True, query=PAGING),
    }),
    ApiAddress(URL + "difference/", "api-run-url-difference", {
        "GET": Operation(compare, "Two versions of a page compared word by word", "Difference", query=TWO),
    }),
    ApiAddress(URL + "source/", "api-run-url-source", {
        "GET": Operation(source, "The source of a stored page", "Source"),
    }),
)  # fmt: skip
