"""Owns: the JSON API of looking before crawling: the explainer, one address fetched, a sign-in tried, previews.

Does not: store pages. Called by: crawler.api.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPoint
from crawlpoints.panel.api import LONGEST, POINTS, SHOWN_FIELDS, entries_of, point_or_404
from crawlpoints.point_checks import Invalid
from crawlpoints.queries import patterns_of

from ..api.contract import OF_DOCUMENT, ApiRequest, Json, page_of, router, row_or_404
from ..api.request_fields import fields, number, several, text
from ..api.response_fields import FLAG, INT, INT_OR_NOTHING, MOMENT, TEXT, JsonObject, list_of, one_of, shape_of
from ..errors import NothingToCrawl, TooManyAtOnce
from ..launching.launch import settings_of, snapshot_of
from ..ledger.explain import explain as explain_address
from ..models import Preview
from ..values import PointSettings, Snapshot
from . import preview_rows
from .drafts import draft_of, saved_points, with_draft, with_excludes
from .fetch_once import visit
from .form_detection import detect as detect_form
from .sign_in_tries import tried_with
from .timed_rules import Deadline, RulesInTime

DRAFT = fields(("url", "root"), **SHOWN_FIELDS, id=number("Key of the crawl point these values would change", least=1))
# Settings to look with instead of the saved ones; for who may save them.
UNSAVED = {
    "draft": DRAFT | {"description": "A crawl point that is not saved, or not so"},
    "excludes": several(text("An exclude URL", LONGEST), 1_000) | {"description": "Instead of the saved ones"},
    "exclude": text("One exclude URL more", LONGEST),
}
QUESTION = fields(
    ("urls",), urls=several(text("An address", 4096), 200), found_on=text("The page that links to it", 4096), **UNSAVED
)  # fmt: skip
FETCH = fields(("url",), url=text("An address", 4096), **UNSAVED)
SIGN_IN_ADDRESS = fields(("url",), url=text("The page with the sign-in form", 2048))
SIGN_IN = fields(
    crawl_point=number("Key of a saved crawl point; its own password is tried unless you send one", least=1),
    draft=UNSAVED["draft"],
    password=text("The password to try; it is not stored", 320),
)
CHOSEN = fields(crawl_points=POINTS, **UNSAVED)
_EXPLAINED = shape_of(
    asked=TEXT, url=TEXT, verdict=one_of("yes", "no", "depends"), reason=TEXT, depth=INT_OR_NOTHING,
    crawl_point_id=INT_OR_NOTHING,
    trace=list_of(shape_of(check=TEXT, result=one_of("pass", "stop", "idle"), detail=TEXT)),
)  # fmt: skip
EXPLANATION = JsonObject("Explanation", items=list_of(_EXPLAINED))
EXPLANATION.schema.pop("additionalProperties")  # more may come beside the items
_HOP = JsonObject("Hop", url=TEXT, status=INT, reason=TEXT, sentence=TEXT, remote=TEXT, milliseconds=INT, leads_to=TEXT)
VISIT = JsonObject(
    "Visit", verdict=TEXT, good=FLAG, type=TEXT, content_type=TEXT, size=INT, charset=TEXT, title=TEXT,
    sign_in_page=FLAG, count_in=INT, count_out=INT, robots_rule=TEXT, hops=list_of(_HOP.schema),
    links_in=list_of(TEXT), links_out=list_of(shape_of(url=TEXT, why=TEXT)),
)  # fmt: skip
SIGN_IN_PAGE = JsonObject("SignInPage", url=TEXT, user_field=TEXT, password_field=TEXT, problem=TEXT)
SIGN_IN_TEST = JsonObject("SignInTest", verdict=TEXT, good=FLAG, steps=list_of(shape_of(result=TEXT, text=TEXT)))
PREVIEW = JsonObject(
    "Preview", id=INT, document_id=INT, asked_by=TEXT, asked_at=MOMENT, started_at=MOMENT, finished_at=MOMENT,
    stopped=FLAG, ended=TEXT, pages=list_of(shape_of(url=TEXT, title=TEXT, status=INT, reason=TEXT, depth=INT)),
)  # fmt: skip
OF_PREVIEW = OF_DOCUMENT + "previews/<int:preview_id>/"


@router.post(
    OF_DOCUMENT + "explain/", "api-explain", "Would these addresses be crawled? Changes nothing", EXPLANATION,
    body=QUESTION,
)  # fmt: skip
def explain(asked: ApiRequest, doc_id: int) -> Json:
    """Changes nothing; POST, because 200 addresses do not fit into one."""
    snapshot = _settings(asked, document_or_404(asked.user, doc_id, Action.TEST))
    found_on = asked.body.get("found_on", "").strip()
    rules = RulesInTime(snapshot, Deadline())  # made once: a document may have a thousand exclude URLs
    answers = [
        {"asked": url} | explain_address(snapshot, url.strip(), found_on, rules=rules) for url in asked.body["urls"]
    ]
    return {"items": answers}


@router.post(
    OF_DOCUMENT + "fetch/", "api-fetch", "Fetch one address now and say what came back; stores nothing", VISIT,
    body=FETCH,
)  # fmt: skip
def fetch(asked: ApiRequest, doc_id: int) -> Json:
    """As the tester does: every hop is checked as the crawler would; at most ten seconds."""
    document = document_or_404(asked.user, doc_id, Action.TEST)
    seen = visit(_settings(asked, document), saved_points(document), asked.body["url"].strip())
    _not_refused(seen.retry_after, seen.verdict)
    links = [{"url": url, "why": reason} for url, reason in seen.links_out]
    return VISIT.of(seen, hops=[_HOP.of(hop) for hop in seen.hops], links_out=links)


@router.post(
    OF_DOCUMENT + "sign-in/detect/", "api-sign-in-detect", "Find the sign-in form of a page", SIGN_IN_PAGE,
    body=SIGN_IN_ADDRESS,
)  # fmt: skip
def detect(asked: ApiRequest, doc_id: int) -> Json:
    """Reads one page, sends nothing."""
    document_or_404(asked.user, doc_id, Action.EDIT)
    found = detect_form(asked.body["url"].strip())
    _not_refused(found.retry_after, found.problem)
    return SIGN_IN_PAGE.of(found)


@router.post(
    OF_DOCUMENT + "sign-in/test/", "api-sign-in-test", "Test a sign-in step by step", SIGN_IN_TEST, body=SIGN_IN
)
def try_sign_in(asked: ApiRequest, doc_id: int) -> Json:
    """A few tries in five minutes; a saved password goes only by the settings it was saved with."""
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    point, draft = _point_to_try(document, asked.body)
    found = tried_with(document, point, draft, asked.body.get("password", ""))
    _not_refused(found.retry_after, found.verdict)
    return SIGN_IN_TEST.of(found, steps=[{"result": result, "text": sentence} for result, sentence in found.steps])


@router.get(OF_DOCUMENT + "previews/", "api-previews", "Previews of a document, newest first", PREVIEW, many=True)
def previews(asked: ApiRequest, doc_id: int) -> Json:
    document = document_or_404(asked.user, doc_id, Action.TEST)
    return page_of(Preview.objects.filter(doc_id=document.pk).order_by("-pk"), asked, _preview_json)


@router.post(
    OF_DOCUMENT + "previews/", "api-previews", "Look at up to 25 pages; nothing is stored", PREVIEW, body=CHOSEN,
    status=201,
)  # fmt: skip
def start_preview(asked: ApiRequest, doc_id: int) -> Json:
    """A look at up to 25 pages that stores nothing, of the named crawl points, of an unsaved one, or of all active."""
    document = document_or_404(asked.user, doc_id, Action.TEST)
    wanted = set(asked.body.get("crawl_points", ()))
    snapshot = _settings(asked, document, every=bool(wanted))
    points: tuple[Any, ...] = (
        snapshot.points[:1]
        if "draft" in asked.body
        else tuple(replace(one, active=True) for one in snapshot.points if not wanted or one.id in wanted)
    )
    if not points:
        raise NothingToCrawl("There is no active crawl point to preview")
    return _preview_json(preview_rows.ask(replace(snapshot, points=points), asked.by, {}))


@router.get(OF_PREVIEW, "api-preview", "One preview with its pages", PREVIEW)
def preview(asked: ApiRequest, doc_id: int, preview_id: int) -> Json:
    return _preview_json(_preview(asked, doc_id, preview_id))


@router.post(OF_PREVIEW + "stop/", "api-preview-stop", "Stop a preview", PREVIEW)
def stop_preview(asked: ApiRequest, doc_id: int, preview_id: int) -> Json:
    row = _preview(asked, doc_id, preview_id)
    preview_rows.stop(row)
    row.refresh_from_db()
    return _preview_json(row)


def _preview(asked: ApiRequest, doc_id: int, preview_id: int) -> Preview:
    document = document_or_404(asked.user, doc_id, Action.TEST)
    found: Preview = row_or_404(Preview.objects.filter(doc_id=document.pk), preview_id, "No such preview")
    return found


def _preview_json(row: Preview) -> Json:
    result = row.result or {}
    pages = [
        {name: str(one.get(name) or "") for name in ("url", "title", "reason")}
        | {name: int(one.get(name) or 0) for name in ("status", "depth")}
        for one in result.get("pages", [])
    ]
    ended = str(result.get("ended", ""))
    return PREVIEW.of(row, document_id=row.doc_id, stopped=row.stop, ended=ended, pages=pages)


def _not_refused(seconds: int, sentence: str) -> None:
    """Nobody looked, because too many would have looked at once."""
    if seconds:
        raise TooManyAtOnce(sentence, seconds)


def _settings(asked: ApiRequest, document: Document, *, every: bool = False) -> Snapshot:
    """The saved settings with what was sent in place of them; `every`: inactive crawl points too."""
    body = asked.body
    if "draft" in body or "excludes" in body:
        document_or_404(asked.user, document.pk, Action.EDIT)
    snapshot = snapshot_of(document, include_inactive=every)
    excludes = list(body["excludes"]) if "excludes" in body else patterns_of(document)
    if "draft" in body:
        _, draft = _drafted(document, body["draft"])
        snapshot = with_draft(document, replace(draft, active=True), excludes)
    more = [body["exclude"].strip()] if body.get("exclude", "").strip() else []
    return with_excludes(snapshot, [*excludes, *more])


def _point_to_try(document: Document, body: Mapping[str, Any]) -> tuple[CrawlPoint | None, PointSettings]:
    if "draft" in body:
        return _drafted(document, body["draft"])
    if "crawl_point" not in body:
        raise Invalid({"crawl_point": ["Name a saved crawl point, or send a draft"]})
    point = point_or_404(document, body["crawl_point"])
    return point, settings_of(point)


def _drafted(document: Document, sent: Mapping[str, Any]) -> tuple[CrawlPoint | None, PointSettings]:
    """The crawl point that is meant, if there is one yet, and its unsaved settings."""
    point = point_or_404(document, sent["id"]) if "id" in sent else None
    return point, draft_of(point, entries_of(sent))
