"""Operations that look at a site now and store nothing: fetch one address, find a sign-in form, test a sign-in."""

from dataclasses import asdict
from typing import Any

from django.http import Http404

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPoint
from crawlpoints.point_checks import Invalid
from crawlpoints.queries import points_of

from ..errors import TooManyAtOnce
from ..launching.launch import settings_of
from ..preview.drafts import saved_points
from ..preview.fetch_once import visit
from ..preview.form_detection import detect as detect_form
from ..preview.sign_in_tries import tried_with
from ..values import PointSettings
from .contract import ApiAddress, ApiRequest, ApiResponse, Operation, Schema, number, text, thing
from .drafts import UNSAVED, drafted, settings_asked
from .paths import DOCUMENT
from .shapes import FLAG, INT, TEXT, list_of, shape_of

FETCH = thing(("url",), url=text("An address", 4096), **UNSAVED)
PAGE = thing(("url",), url=text("The page with the sign-in form", 2048))
SIGN_IN = thing(
    crawl_point=number("Key of a saved crawl point; its own password is tried unless you send one", least=1),
    draft=UNSAVED["draft"],
    password=text("The password to try; it is not stored", 320),
)
_HOP = shape_of(url=TEXT, status=INT, reason=TEXT, sentence=TEXT, remote=TEXT, milliseconds=INT, leads_to=TEXT)
SCHEMAS: dict[str, Schema] = {
    "Visit": shape_of(
        verdict=TEXT, good=FLAG, type=TEXT, content_type=TEXT, size=INT, charset=TEXT, title=TEXT, sign_in_page=FLAG,
        count_in=INT, count_out=INT, robots_rule=TEXT, hops=list_of(_HOP), links_in=list_of(TEXT),
        links_out=list_of(shape_of(url=TEXT, why=TEXT)),
    ),
    "SignInPage": shape_of(url=TEXT, user_field=TEXT, password_field=TEXT, problem=TEXT),
    "SignInTest": shape_of(verdict=TEXT, good=FLAG, steps=list_of(shape_of(result=TEXT, text=TEXT))),
}  # fmt: skip


def fetch(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """As the tester does: every hop is checked as the crawler would; at most ten seconds."""
    document = document_or_404(asked.user, doc_id, Action.TEST)
    seen = visit(settings_asked(asked, document), saved_points(document), asked.body["url"].strip())
    _not_refused(seen.retry_after, seen.verdict)
    links = [{"url": url, "why": reason} for url, reason in seen.links_out]
    told = {name: value for name, value in seen.to_json().items() if name in SCHEMAS["Visit"]["properties"]}
    return ApiResponse(told | {"links_out": links})


def detect(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """Reads one page, sends nothing."""
    document_or_404(asked.user, doc_id, Action.EDIT)
    found = detect_form(asked.body["url"].strip())
    _not_refused(found.retry_after, found.problem)
    return ApiResponse({name: value for name, value in asdict(found).items() if name != "retry_after"})


def try_sign_in(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """A few tries in five minutes; a saved password goes only by the settings it was saved with."""
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    point, draft = _point(document, asked.body)
    found = tried_with(document, point, draft, asked.body.get("password", ""))
    _not_refused(found.retry_after, found.verdict)
    steps = [{"result": result, "text": sentence} for result, sentence in found.steps]
    return ApiResponse({"verdict": found.verdict, "good": found.good, "steps": steps})


def _not_refused(seconds: int, sentence: str) -> None:
    """Nobody looked, because too many would have looked at once."""
    if seconds:
        raise TooManyAtOnce(sentence, seconds)


def _point(document: Document, body: Any) -> tuple[CrawlPoint | None, PointSettings]:
    if "draft" in body:
        return drafted(document, body["draft"])
    if "crawl_point" not in body:
        raise Invalid({"crawl_point": ["Name a saved crawl point, or send a draft"]})
    point = points_of(document).filter(pk=body["crawl_point"]).first()
    if point is None:
        raise Http404("No such crawl point in this document")
    return point, settings_of(point)


ADDRESSES = (
    ApiAddress(DOCUMENT + "fetch/", "api-fetch", {
        "POST": Operation(fetch, "Fetch one address now and say what came back; stores nothing", "Visit", body=FETCH),
    }),
    ApiAddress(DOCUMENT + "sign-in/detect/", "api-sign-in-detect", {
        "POST": Operation(detect, "Find the sign-in form of a page", "SignInPage", body=PAGE),
    }),
    ApiAddress(DOCUMENT + "sign-in/test/", "api-sign-in-test", {
        "POST": Operation(try_sign_in, "Test a sign-in step by step", "SignInTest", body=SIGN_IN),
    }),
)  # fmt: skip
