"""Owns: the JSON API of addresses: the ledger of a run, its sites, folders and errors; of one address why, links,
versions, source.

Does not: change rows itself. Called by: crawler.api.
"""

import json
from typing import Any

from django.http import Http404

from clearinghouse.published.types import PAGE_TYPES

from ..api.contract import DOCUMENT_QUERY, OF_RUN, ApiRequest, Json, page_at_once, page_of, router
from ..api.request_fields import choice, fields, number, switch, text
from ..api.response_fields import FLAG, INT, INT_OR_NOTHING, MOMENT, TEXT, JsonObject, list_of, one_of, shape_of
from ..models import ErrorMark, PageVersion, Run
from ..reports.error_marks import mark_group
from ..runs.api import LEDGER_ROW, ledger_rows
from ..runs.run_counts import Docs
from ..runs.views.run_access import run_or_404, visible_docs
from ..values import OUTCOMES, QUEUED, REASONS
from . import queries
from .error_groups import failures_of
from .page_details import decided, links_of, links_to, source_of, text_of, two_versions, version_of, versions_of
from .site_folders import by_folder, by_site
from .views.why_views import explain
from .views.word_diff import ADDED, LEFT_OUT, REMOVED, SAME, difference

NEW = "new"
TEXT_LIMIT = 100_000
_COUNTS = ("pages", "new", "changed", "unchanged", "robots", "outside", "excluded", "other", "errors", "queued", "left",
           "bytes")  # fmt: skip
LEDGER_QUERY = {
    "outcome": choice("What became of it", *OUTCOMES, QUEUED),
    "reason": choice("Why", *REASONS),
    "document": number("Key of a document", least=1),
    "text": text("Part of the address", 200),
    "depth": number("Clicks from the crawl point", most=999),
    "status": number("First digit of the status the site answered with: 2 for 200 to 299", least=1, most=9),
    "site": text("How the address begins, letter for letter: a site or a folder", 2048),
    "point": number("Key of the crawl point that is nearest", least=1),
    "rule": text("What decided, letter for letter: an exclude URL, a root string", 500),
    "fresh": choice("Stored pages that no crawl before had, or that differ", queries.NEW, queries.CHANGED),
    "taken": switch("Only what was once taken from the queue"),
    "sort": choice("Order", *queries.SORTS, *(f"-{name}" for name in queries.SORTS)),
}
PAGES_QUERY = {name: one for name, one in LEDGER_QUERY.items() if name not in ("outcome", "taken")}
FOLDER_QUERY = DOCUMENT_QUERY | {"folder": text("The folder to look into, with its slash; none: the sites", 2048)}
TWO = {"old": number("Key of the older version", least=1), "new": number("Key of the newer version", least=1)}
MARK = fields(("state",), state=choice("What people say of it", *ErrorMark.State.values, NEW))
PAGE = JsonObject(
    "Page", id=INT, url=TEXT, title=TEXT, type=TEXT, language=TEXT, size=INT, found_at=MOMENT, text=TEXT, text_cut=FLAG,
    metas=list_of(list_of(TEXT)),
)  # fmt: skip
HOST = JsonObject("Host", host=TEXT, milliseconds=INT_OR_NOTHING, **dict.fromkeys(_COUNTS, INT))
FOLDER = JsonObject("Folder", folder=TEXT, **dict.fromkeys(("found", "redirected", *_COUNTS), INT))
ERROR_GROUP = JsonObject(
    "ErrorGroup", key=TEXT, name=TEXT, reason=TEXT, site=TEXT, pattern=TEXT, state=TEXT, count=INT,
    statuses=list_of(INT), documents=list_of(INT), first_at=MOMENT, last_at=MOMENT,
)  # fmt: skip
MARKED = JsonObject("Marked", documents=INT)
WHY = JsonObject(
    "Why", sentence=TEXT, checks=list_of(shape_of(result=one_of("pass", "stop", "idle"), text=TEXT)),
    path=list_of(LEDGER_ROW.reference), path_cut=FLAG, site=TEXT, alike=INT,
)  # fmt: skip
LINK_OUT = JsonObject(
    "LinkOut", url=TEXT, anchor=TEXT, nofollow=FLAG, outcome=TEXT, reason=TEXT, id=INT_OR_NOTHING
)  # fmt: skip
LINKS_IN = JsonObject("LinksIn", complete=FLAG, items=list_of(shape_of(id=INT, url=TEXT, anchor=TEXT)))
VERSION = JsonObject("Version", id=INT, run_id=INT, title=TEXT, size=INT, found_at=MOMENT, digest=TEXT)
DIFFERENCE = JsonObject(
    "Difference", old=INT_OR_NOTHING, new=INT, words_added=INT, words_removed=INT, complete=FLAG,
    pieces=list_of(shape_of(kind=one_of(SAME, ADDED, REMOVED, LEFT_OUT), text=TEXT)),
)  # fmt: skip
SOURCE = JsonObject("Source", text={"type": ["string", "null"]}, cut=FLAG)
OF_URL = OF_RUN + "urls/<int:entry_id>/"


@router.get(
    OF_RUN + "urls/", "api-run-urls", "The decision ledger: every address, what became of it, why", LEDGER_ROW,
    many=True, query=LEDGER_QUERY,
)  # fmt: skip
def urls(asked: ApiRequest, run_id: int) -> Json:
    """The decision ledger: every address found, with what became of it and why."""
    outcome = asked.query.get("outcome")
    return _ledger(asked, run_id, (outcome,) if outcome else ())


@router.get(
    OF_RUN + "pages/", "api-run-pages", "Stored pages of a run", LEDGER_ROW, many=True, query=PAGES_QUERY
)  # fmt: skip
def pages(asked: ApiRequest, run_id: int) -> Json:
    return _ledger(asked, run_id, queries.PAGE_OUTCOMES)


def _ledger(asked: ApiRequest, run_id: int, outcomes: tuple[str, ...]) -> Json:
    run, docs = run_or_404(asked.request, run_id)
    query, reason = asked.query, asked.query.get("reason")
    named = ("text", "depth", "status", "site", "point", "rule", "fresh", "taken", "sort")
    wanted = queries.Filter(
        outcomes=outcomes, reasons=(reason,) if reason else (), doc_id=query.get("document"),
        **{name: query[name] for name in named if name in query},
    )  # fmt: skip
    return page_at_once(queries.rows_of(run, docs, wanted), asked, ledger_rows)


@router.get(OF_RUN + "pages/<int:entry_id>/", "api-run-page", "One stored page with its text and meta tags", PAGE)
def page(asked: ApiRequest, run_id: int, entry_id: int) -> Json:
    row = queries.one(*run_or_404(asked.request, run_id), entry_id)
    version = version_of(row) if row else None
    if row is None or version is None:
        raise Http404("No such page in this run")
    return PAGE.of(
        version, id=row.id, url=row.url, type=PAGE_TYPES.get(version.type_id, ""), text=version.text[:TEXT_LIMIT],
        text_cut=len(version.text) > TEXT_LIMIT,
        metas=[[str(part) for part in meta] for meta in json.loads(version.metas or "[]")],
    )  # fmt: skip


@router.get(
    OF_RUN + "hosts/", "api-run-hosts", "What each site gave, and what kept the crawler from more of it", HOST,
    many=True, query=DOCUMENT_QUERY,
)  # fmt: skip
def hosts(asked: ApiRequest, run_id: int) -> Json:
    rows = by_site(*run_or_404(asked.request, run_id), asked.query.get("document"))
    return page_of(rows, asked, lambda row: HOST.of(row, host=row.start, milliseconds=row.median))


@router.get(
    OF_RUN + "folders/", "api-run-folders", "The tree of a run, one folder at a time", FOLDER, many=True,
    query=FOLDER_QUERY,
)  # fmt: skip
def folders(asked: ApiRequest, run_id: int) -> Json:
    """The folders right below one; the one with its own name holds the pages right in it."""
    run, docs = run_or_404(asked.request, run_id)
    folder, doc_id = asked.query.get("folder", ""), asked.query.get("document")
    rows = by_folder(run, docs, folder, doc_id) if folder else by_site(run, docs, doc_id)
    return page_of(rows, asked, lambda row: FOLDER.of(row, folder=row.start))


@router.get(
    OF_RUN + "errors/", "api-run-errors", "Failed addresses, those of one kind together", ERROR_GROUP, many=True,
    query=DOCUMENT_QUERY,
)  # fmt: skip
def errors(asked: ApiRequest, run_id: int) -> Json:
    """Failed addresses in groups of one kind; those of the crawl before that are met no more are `solved`."""
    run, docs = run_or_404(asked.request, run_id)
    found = failures_of(run, docs, queries.Filter(doc_id=asked.query.get("document")))
    return page_of([*found.groups, *found.solved], asked, _error_group)


def _error_group(row: Any) -> Json:
    statuses, documents = sorted(row.statuses), sorted(row.documents)
    return ERROR_GROUP.of(row, statuses=statuses, documents=documents, first_at=row.first, last_at=row.last)


@router.post(
    "errors/<slug:key>/mark/", "api-error-mark", "Call a group of errors (by its name) known, solved or new again",
    MARKED, body=MARK,
)  # fmt: skip
def mark_error(asked: ApiRequest, key: str) -> Json:
    """In all documents you may change that have it; met again by a later crawl, a solved one is new."""
    state = asked.body["state"]
    return {"documents": mark_group(asked.user, visible_docs(asked.request), key, "" if state == NEW else state)}


@router.get(OF_URL + "why/", "api-run-url-why", "Why an address was crawled or not, and the path to it", WHY)
def why(asked: ApiRequest, run_id: int, entry_id: int) -> Json:
    """The decision in a sentence, the checks that led to it, the way from the crawl point."""
    run, docs, row = _row(asked, run_id, entry_id)
    found = explain(run, docs, row)
    checks = [{"result": step.result, "text": _check_text(step)} for step in found.trace]
    return WHY.of(found, checks=checks, path=ledger_rows(found.path), path_cut=found.cut)


def _check_text(step: Any) -> str:
    """A comparison of root string and address ends with the character that differs."""
    if step.compared is None:
        return str(step.text)
    return f"{step.text}{step.compared.address_hit or 'missing'}"


@router.get(
    OF_URL + "links-out/", "api-run-url-links-out", "The links of a stored page with what was decided about each",
    LINK_OUT, many=True,
)  # fmt: skip
def links_out(asked: ApiRequest, run_id: int, entry_id: int) -> Json:
    _, _, row = _row(asked, run_id, entry_id)

    def shape(page: Any) -> list[Json]:
        return [_link(one.link, one.decision) for one in decided(row, page)]

    return page_at_once(links_of(_version(row)), asked, shape)


def _link(link: Any, decision: queries.Row | None) -> Json:
    if decision is None:
        return LINK_OUT.of(link, outcome="", reason="", id=None)
    return LINK_OUT.of(link, outcome=decision.outcome, reason=decision.reason, id=decision.id)


@router.get(OF_URL + "links-in/", "api-run-url-links-in", "The pages that link to an address", LINKS_IN)
def links_in(asked: ApiRequest, run_id: int, entry_id: int) -> Json:
    """Looked for in the first thousand pages of the document; `complete` says whether those were all."""
    _, _, row = _row(asked, run_id, entry_id)
    found = links_to(row)
    items = [{"id": page.id, "url": page.url, "anchor": anchor} for page, anchor in found.rows]
    return {"complete": found.complete, "items": items}


@router.get(
    OF_URL + "versions/", "api-run-url-versions", "Every content an address had, newest first", VERSION, many=True
)  # fmt: skip
def versions(asked: ApiRequest, run_id: int, entry_id: int) -> Json:
    _, _, row = _row(asked, run_id, entry_id)
    return page_of(versions_of(row), asked, lambda one: VERSION.of(one, digest=bytes(one.digest).hex()))


@router.get(
    OF_URL + "difference/", "api-run-url-difference", "Two versions of a page compared word by word", DIFFERENCE,
    query=TWO,
)  # fmt: skip
def compare_versions(asked: ApiRequest, run_id: int, entry_id: int) -> Json:
    """Word by word; this version with the one before unless others are named."""
    _, _, row = _row(asked, run_id, entry_id)
    old, new = two_versions(row, _version(row), asked.query.get("new"), asked.query.get("old"))
    found = difference(text_of(old) if old else "", text_of(new))
    return DIFFERENCE.of(
        found, old=old.pk if old else None, new=new.pk, words_added=found.added, words_removed=found.removed,
        pieces=[{"kind": piece.kind, "text": piece.text} for piece in found.pieces],
    )  # fmt: skip


@router.get(OF_URL + "source/", "api-run-url-source", "The source of a stored page", SOURCE)
def source(asked: ApiRequest, run_id: int, entry_id: int) -> Json:
    """The bytes as text; null for what is no text."""
    _, _, row = _row(asked, run_id, entry_id)
    found = source_of(_version(row), TEXT_LIMIT)
    return {"text": found[0] if found else None, "cut": bool(found and found[1])}


def _row(asked: ApiRequest, run_id: int, entry_id: int) -> tuple[Run, Docs, queries.Row]:
    run, docs = run_or_404(asked.request, run_id)
    row = queries.one(run, docs, entry_id)
    if row is None:
        raise Http404("No such address in this run")
    return run, docs, row


def _version(row: queries.Row) -> PageVersion:
    version = version_of(row)
    if version is None:
        raise Http404("No page is stored under this address")
    return version
