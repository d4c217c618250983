"""The answer to "Why?": the decision on one address in a sentence, the checks it went through, the way to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.http import HttpRequest
from django.urls import reverse

from clearinghouse.accounts.policies import Action, may
from clearinghouse.library.models import Document
from crawler.models import Excursion, Run
from crawler.reasons import HTTP, reason_of
from crawler.runs.run_counts import Docs
from crawler.values import FAILED, QUEUED, REDIRECTED, SKIPPED, Snapshot

from ..page_details import path_to
from ..queries import Filter, Row, rows_of
from .checks_in_words import CheckStep, steps_of


@dataclass(frozen=True, slots=True)
class Why:
    row: Row
    sentence: str
    trace: list[CheckStep]
    path: list[Row]
    cut: bool  # the beginning of the path was left out
    alike: int  # addresses of the same site with the same decision
    site: str

    @property
    def live_url(self) -> str:
        """The address itself, when it is one that a browser should open."""
        return self.row.url if self.row.url.startswith(("http://", "https://")) else ""


def why_of(request: HttpRequest, run: Run, docs: Docs, rows: Sequence[Row]) -> dict[str, Any]:
    """For the row of the list that was asked about; empty when it is not on this page of the list."""
    row = next((one for one in rows if one.key == request.GET.get("why", "")), None)
    if row is None:
        return {"why": None}
    why = explain(run, docs, row)
    return {"why": why, "why_commands": commands_of(request.user, row, why.live_url)}


def commands_of(user: Any, row: Row, live_url: str) -> list[tuple[str, str]]:
    """What this person can do about an address: label and door. What they may never do is absent."""
    document = Document.objects.filter(pk=row.doc_id).first()
    if document is None:
        return []
    doors = []
    query = "?" + urlencode({"url": live_url})
    if may(user, Action.TEST, document) and live_url:
        doors.append(("Test with the current settings", reverse("crawl-points-test", args=[row.doc_id]) + query))
    if may(user, Action.EDIT, document) and live_url:
        if row.reason in ("outside_root", "redirect_outside_root"):
            doors.append(("Add as crawl point", reverse("crawl-point-new", args=[row.doc_id]) + query))
        elif row.reason != "excluded":
            exclude = "?" + urlencode({"pattern": live_url})
            doors.append(("Exclude", reverse("exclude-urls", args=[row.doc_id]) + exclude))
    if row.reason == "excluded":
        doors.append(("Exclude URLs of the document", reverse("exclude-urls", args=[row.doc_id])))
    return [*doors, ("Crawl points of the document", reverse("crawl-points", args=[row.doc_id]))]


def explain(run: Run, docs: Docs, row: Row) -> Why:
    path, cut = path_to(row)
    site = site_of(row.url)
    alike = 0
    if row.reason and site:
        answered = (row.status,) if row.reason in HTTP else ()
        asked = Filter(outcomes=(row.outcome,), reasons=(row.reason,), answered=answered, text=site)
        alike = rows_of(run, docs, asked).count()
    return Why(row, sentence_of(row), trace_of(row), path, cut, alike, site)


def site_of(url: str) -> str:
    """The beginning that all addresses of a site share."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/" if parts.netloc else ""


def sentence_of(row: Row) -> str:
    """What became of this address and why, in one sentence."""
    if row.outcome == QUEUED:
        return "Not crawled yet: it waits in the queue"
    if row.outcome == REDIRECTED:
        return f"Redirected to {row.redirect_url}, which is reached at the same depth"
    if row.outcome in (SKIPPED, FAILED):
        return _not_crawled(row)
    return "Crawled: stored as new or changed" if row.outcome == "crawled" else "Crawled: the same as last time"


def _not_crawled(row: Row) -> str:
    return f"Not crawled, because {reason_of(row.reason, row.status).because}"


def trace_of(row: Row) -> list[CheckStep]:
    """The checks of this address under the settings this run used."""
    snapshot = Excursion.objects.filter(pk=row.excursion_id).values_list("snapshot", flat=True).first()
    return steps_of(row, Snapshot.from_json(snapshot)) if snapshot else []
