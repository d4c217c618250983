"""Why is this page not in search? From the crawl point to the public server, step by step, with what to do next."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, may
from clearinghouse.addresses.address import MAX_LENGTH, Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.library.models import Document
from clearinghouse.search import public_target
from clearinghouse.web.templatetags.formats import plural
from crawler.errors import TimeUsedUp
from crawler.launching.launch import snapshot_of
from crawler.models import OPEN_STATES, Propagation
from crawler.propagation.views.step_board import NAMES
from crawler.reasons import reason_of
from crawler.runs.views.run_access import visible_docs
from crawler.values import CRAWLED, UNCHANGED, Snapshot

from ..address_status import NewestCrawl, OnTarget, Whereabouts, alike, documents_around, whereabouts
from ..explain import DEPENDS, NO, explain, sentence_of
from ..queries import row_of
from .why_views import sentence_of as decision_on

OK, STOP, INFO = "ok", "stop", "info"


@dataclass(frozen=True, slots=True)
class MissingStep:
    kind: str  # ok, stop, info
    text: str
    label: str = ""  # of what can be done next
    href: str = ""


@dataclass(frozen=True, slots=True)
class MissingAnswer:
    """One document's answer: the first step that stops the page is the reason."""

    document: Document
    steps: list[MissingStep]
    verdict: str
    there: bool


@require_safe
def missing(request: HttpRequest) -> HttpResponse:
    docs = visible_docs(request)
    url = request.GET.get("url", "").strip().replace("\x00", "")[: 2 * MAX_LENGTH]
    context: dict[str, Any] = {"url": url, "told": [], "serving": public_target.public_target()}
    if url:
        read = parse(url)
        if isinstance(read, Refusal):
            context["problem"] = "Enter a whole web address, beginning with http:// or https://"
        else:
            found = documents_around(read, docs)
            told = [_told(request, document, read.href, context["serving"]) for document in found]
            context["told"] = sorted(told, key=lambda one: not one.there)
            context["nobody"] = not found
    return render(request, "ledger/missing_page.html", context)


def _told(request: HttpRequest, document: Document, url: str, public: str) -> MissingAnswer:
    snapshot = snapshot_of(document)
    found = whereabouts(document, snapshot, url)
    here = found.targets[public]
    steps = [
        _settings(request, document, snapshot, url),
        *_crawled(request, document, found.crawl),
        *_public(request, document, public),
        *_servers(request, found, public),
        *_folded(here),
    ]
    stop = next((step for step in steps if step.kind == STOP), None)
    if here.published_id is not None and here.found:
        verdict = "It is in search." if stop is None else f"It is still in search. {stop.text}"
        return MissingAnswer(document, steps, verdict, there=True)
    verdict = stop.text if stop else "It should be there after the next propagation."
    return MissingAnswer(document, steps, verdict, there=False)


def _settings(request: HttpRequest, document: Document, snapshot: Snapshot, url: str) -> MissingStep:
    """What the crawl points and exclude URLs say now."""
    try:
        answer = explain(snapshot, url)
    except TimeUsedUp as late:
        return MissingStep(OK, f"{late}.")
    test = f"{reverse('crawl-points-test', args=[document.pk])}?{urlencode({'url': url})}"
    label = "Test this address" if may(request.user, Action.TEST, document) else ""
    said = sentence_of(answer)
    if answer["verdict"] == NO:
        stop = next((line["detail"] for line in answer["trace"] if line["result"] == "stop"), "")
        because = said.removeprefix("No, ") + (f" ({stop})" if answer["reason"] == "excluded" and stop else "")
        advice = reason_of(answer["reason"]).advice
        return MissingStep(STOP, f"With the current settings it is not crawled, {because}. {advice}", label, test)
    if answer["verdict"] == DEPENDS and answer["depth"]:
        said = "It is crawled only if a crawled page links to it."
    return MissingStep(OK, f"Crawl points and exclude URLs let it in. {said.rstrip('.')}.", label, test)


def _crawled(request: HttpRequest, document: Document, crawl: NewestCrawl | None) -> list[MissingStep]:
    if crawl is None:
        launch = reverse("launch") if may(request.user, Action.LAUNCH, document) else ""
        ask = reverse("request-crawl", args=[document.pk]) if may(request.user, Action.REQUEST, document) else ""
        label = "Launch a crawl" if launch else "Request a crawl" if ask else ""
        return [MissingStep(STOP, "This document was never crawled.", label, launch or ask)]
    run = crawl.excursion.run_id
    href = reverse("run", args=[run])
    going = " It is still going on." if crawl.excursion.state in OPEN_STATES else ""
    before = _left_out(crawl)
    if crawl.entry is None:
        text = f"Run {run}, the newest crawl, did not find this address: no crawled page links to it.{going}"
        return [*before, MissingStep(STOP, text, f"Open run {run}", href)]
    page = reverse("run-page", args=[run, crawl.entry.pk])
    kind = OK if crawl.entry.outcome in (CRAWLED, UNCHANGED) else STOP
    row = row_of(crawl.entry)
    text = f"Run {run}: {decision_on(row)}. {row.advice}".rstrip()
    steps = [*before, MissingStep(kind, f"{text}{going}", "See the decision", page)]
    if "noindex" in crawl.flags:
        steps.append(MissingStep(INFO, "The page itself asks search engines not to show it (noindex).", "", ""))
    return steps


def _left_out(crawl: NewestCrawl) -> list[MissingStep]:
    """The newest crawl, where somebody decided that it counts nowhere."""
    one = crawl.left_out
    if one is None:
        return []
    text = f"Run {one.run_id} is newer, and was left out by {one.left_out_by}: {one.left_out_reason.rstrip('.')}."
    return [MissingStep(INFO, text, f"Open run {one.run_id}", reverse("run", args=[one.run_id]))]


def _public(request: HttpRequest, document: Document, public: str) -> list[MissingStep]:
    sheet = getattr(document, "sheet", None)
    if sheet is None or sheet.public or public == "development":
        return []
    edit = reverse("document-edit", args=[document.pk]) if may(request.user, Action.ASSIGN, document) else ""
    text = "The document is not public: its pages go to content development only."
    return [MissingStep(STOP, text, "Edit the document" if edit else "", edit)]


def _servers(request: HttpRequest, found: Whereabouts, public: str) -> list[MissingStep]:
    return [_server(request, one, found.crawl, one.name == public) for one in found.targets.values()]


def _server(request: HttpRequest, one: OnTarget, crawl: NewestCrawl | None, public: bool) -> MissingStep:
    name = f"{NAMES[one.name]}{', which serves the public,' if public else ''}"
    bad = STOP if public else INFO
    door = reverse("propagation") if may(request.user, Action.VIEW_PROPAGATION) else ""
    label = "Propagation" if door else ""
    if not one.answers:
        return MissingStep(bad, f"{name} does not answer.", label, door)
    if one.published_id is not None and one.found:
        record = reverse("search-result", args=[one.published_id]) if public else ""
        return MissingStep(
            OK, f"{name} has it in generation {one.generation}.", "Open the record" if public else "", record
        )
    if one.published_id is not None:
        return MissingStep(bad, f"{name} has it in generation {one.generation}, but not in its index.", label, door)
    if one.left_in is not None:
        return MissingStep(bad, f"{name} showed it until generation {one.left_in} removed it.", label, door)
    if not one.generation:
        return MissingStep(bad, f"{name} shows nothing yet: there was no propagation.", label, door)
    return MissingStep(bad, f"{name} does not have it in generation {one.generation}{_since(crawl)}.", label, door)


def _folded(here: OnTarget) -> list[MissingStep]:
    """Results show the best of pages that are nearly the same; the others stand behind its link."""
    others = alike(here) if here.found else []
    if not others:
        return []
    url, document = others[0]
    one = f"under {url} (document {document}), which is nearly the same"
    many = f"under one of {plural(len(others), 'page')} that are nearly the same, like {url} (document {document})"
    text = f"In results it may be folded {one if len(others) == 1 else many}: the link “similar” there leads to it."
    return [MissingStep(INFO, text)]


def _since(crawl: NewestCrawl | None) -> str:
    """Whether it only waits for the next propagation."""
    if crawl is None or crawl.entry is None or crawl.entry.outcome not in (CRAWLED, UNCHANGED):
        return ""
    last = Propagation.objects.filter(state="done").order_by("-id").values_list("created_at", flat=True).first()
    ended = crawl.excursion.finished_at
    return "; it was crawled after the last propagation" if last and ended and ended > last else ""
