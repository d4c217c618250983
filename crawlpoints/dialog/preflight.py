"""After a save: what the start page says when it is asked once, within three seconds. Never blocks the save."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.accounts.policies import Action, document_or_404, who_can_grant
from clearinghouse.database.records import StaleRecord
from clearinghouse.library.models import Document
from crawler.launching.launch import settings_of, snapshot_of
from crawler.preview.fetch_once import FetchedOnce, visit
from crawler.reasons import reason_of

from .. import services, undo
from ..models import CrawlPoint
from ..point_checks import Invalid, suggested_root
from ..point_warnings import Caution, to_https
from ..queries import points_of
from ..templatetags.panel_urls import back_to_panel
from . import wait_answer

SECONDS = 3.0
SALT = "crawlpoints.preflight"
TRIES = 3  # of the panel, when the person or others wait for a site just then; after them there is a link
_UNDECIDED = {"timeout", "run_limit"}


@never_cache
@require_safe
def preflight(request: HttpRequest, doc_id: int, point_id: int) -> HttpResponse:
    """A fragment for the panel, a page without JavaScript. Nobody has asked for the fragment: where it finds a look
    under way it is no error, and the panel asks again."""
    document, point = _found(request, doc_id, point_id)
    settings = settings_of(point)
    snapshot = replace(snapshot_of(document, include_inactive=True), points=(replace(settings, active=True),))
    seen = visit(snapshot, {point.pk: settings}, point.url, SECONDS)
    cautions = [{"caution": one, "token": _token(point, one)} for one in cautions_of(point, seen)]
    context = {"document": document, "point": point, "seen": seen, "cautions": cautions}
    if any(one["caution"].link for one in cautions):
        context["ask"] = who_can_grant(Action.ADMINISTER)
    if not getattr(request, "htmx", None):
        return wait_answer.marked(render(request, "dialog/preflight.html", context), seen.retry_after)
    tried = len(request.GET.getlist("tried"))
    return render(request, "dialog/preflight_part.html", context | {"again": _again(seen.retry_after, tried)})


def _again(seconds: int, tried: int) -> dict[str, Any]:
    """When the panel asks once more, and what tells it how often it has; empty when it does not."""
    if not seconds or tried >= TRIES:
        return {}
    return {"seconds": seconds, "query": "&".join(["tried=1"] * (tried + 1))}


def cautions_of(point: CrawlPoint, seen: FetchedOnce) -> list[Caution]:
    """Pure: what a look at the start page means for this crawl point."""
    last = seen.hops[-1] if seen.hops else None
    if last is None:
        return []
    if last.reason == "redirect_outside_root":
        return [_redirected(point, last.leads_to)]
    if last.reason == "robots_disallowed":
        parts = urlsplit(last.url)
        text = f"robots.txt of {parts.netloc} forbids {parts.path}. Its rule: {seen.robots_rule}"
        return [Caution("robots", text, "Open robots.txt", link=f"{parts.scheme}://{parts.netloc}/robots.txt")]
    if last.reason == "address_refused":
        return [Caution("network", f"{seen.verdict}. Ask an administrator to allow its network")]
    if last.reason and last.reason not in _UNDECIDED:
        reason = reason_of(last.reason, last.status, start=True)
        return [Caution("start", f"The start page cannot be stored now: {reason.label}. {reason.advice}".rstrip(". "))]
    if seen.sign_in_page and not point.auth_type:
        return [Caution("sign_in", "The start page looks like a sign-in page. Set Authentication with Update")]
    return []


def _redirected(point: CrawlPoint, target: str) -> Caution:
    values = {"url": target, "root": suggested_root(target)}
    if target == "https:" + point.url.partition(":")[2]:
        text = "The site redirects http to https; https pages are outside this root string"
        return Caution("redirect", text, "Change both to https", to_https(point))
    text = f"{point.url} redirects to {target}, which is outside the root string, so only 0 pages would be stored"
    return Caution("redirect", text, "Use the new address", values)


def _token(point: CrawlPoint, caution: Caution) -> str:
    """The values of a repair come from the site, so they travel signed, for this crawl point only."""
    return signing.dumps([point.pk, caution.values], salt=SALT) if caution.values else ""


@require_POST
def use(request: HttpRequest, doc_id: int, point_id: int) -> HttpResponse:
    """The one-press repair of what the look has found."""
    document, point = _found(request, doc_id, point_id)
    undo.forget(request)
    try:
        pk, values = signing.loads(request.POST.get("token", ""), salt=SALT, max_age=3600)
    except signing.BadSignature:
        raise Http404("No such repair") from None
    if pk != point.pk:
        raise Http404("No such repair")
    try:
        _, after = services.update_crawl_point(point, values)
        messages.success(request, f"Changed the crawl point to {point.url}.")
        for one in after:
            if one.code == "password_cleared":
                messages.warning(request, f"{one.text}.")
    except (Invalid, StaleRecord) as wrong:
        messages.error(request, f"{wrong}.")
    return back_to_panel(request, document, saved=point.pk, at=point.pk)


def _found(request: HttpRequest, doc_id: int, point_id: int) -> tuple[Document, CrawlPoint]:
    document = document_or_404(request.user, doc_id, Action.EDIT)
    point: Any = points_of(document).filter(pk=point_id).first()
    if point is None:
        raise Http404("No such crawl point")
    return document, point
