"""Findings as lists show them: with the addresses of what they offer. Called by: screens of both apps.

`of_document` gives the findings block of a document: include findings/block.html with what it returns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from ..models import Advice, Finding
from .queries import newest_findings
from .types import CHANGES, ERRORS, LAUNCH, PAGE, PAGES, POINT, STOP, URLS, WARN, Fix

RULES = {
    "start_failed": "Start page failed",
    "start_redirects": "Start page redirects outside",
    "auth_failed": "Password refused",
    "only_start": "Only the start page",
    "tiny": "Tiny result",
    "page_limit": "Page limit reached",
    "depth_limit": "Depth limit cut a lot",
    "drop": "Fewer pages",
    "trap": "Endless addresses",
    "login_wall": "Sign-in page instead of content",
    "robots": "robots.txt",
    "throttled": "Asked to slow down",
    "duplicates": "Same content",
    "unread": "Not readable",
}
_CLASSES = {STOP: ("stop", "stop"), WARN: ("", "warn")}
ADVICE_WORDS = {
    Advice.PROPAGATE: ("ok", "ok", "Nothing speaks against propagating these results."),
    Advice.REVIEW: ("warn", "warn", "Look at the findings before you propagate these results."),
    Advice.AGAIN: ("bad", "stop", "Repair what stopped this crawl, then crawl again."),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A link, or a button when there is no address."""

    number: int
    label: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class FindingShown:
    finding: Finding
    title: str
    css: str
    icon: str
    offers: list[Offer]
    help_url: str
    may_decide: bool = False


def shown(findings: Iterable[Finding], editable: Mapping[int, bool], may_launch: bool = False) -> list[FindingShown]:
    """`editable`: the documents this person may change."""
    return [_shown(one, editable.get(one.doc_id, False), may_launch) for one in findings]


def of_document(doc_id: int, may_edit: bool, may_launch: bool = False) -> dict[str, Any]:
    """The open findings of the newest ended crawl of a document, for findings/block.html."""
    return {"findings": shown(newest_findings(doc_id), {doc_id: may_edit}, may_launch)}


def _shown(one: Finding, may_edit: bool, may_launch: bool) -> FindingShown:
    css, icon = _CLASSES.get(one.weight, ("note", "info"))
    fixes = [Fix.from_json(data) for data in one.fixes]
    offers = []
    for number, fix in enumerate(fixes):
        if fix.presses:
            if may_edit and one.state == Finding.State.OPEN:
                offers.append(Offer(number, fix.label))
        elif url := _url(one, fix, may_edit, may_launch):
            offers.append(Offer(number, fix.label, url))
    title = RULES.get(one.rule, one.rule)
    return FindingShown(
        one, title, css, icon, offers, reverse("help-topic", args=["findings"]) + f"#{one.rule}", may_edit
    )


def _url(one: Finding, fix: Fix, may_edit: bool, may_launch: bool) -> str:
    """Where a link of a finding leads; empty when it is not for this person."""
    if fix.to == LAUNCH:
        return f"{reverse('launch')}?{urlencode({'doc': one.doc_id, **fix.query})}" if may_launch else ""
    if fix.to == PAGE:
        return reverse("run-page", args=[one.run_id, fix.query["row"]])
    if fix.to in (URLS, PAGES, ERRORS, CHANGES):
        return f"{reverse('run-tab', args=[one.run_id, fix.to])}?{urlencode({'doc': one.doc_id, **fix.query})}"
    if not may_edit:
        return ""
    if fix.to == POINT and fix.point_id:
        return reverse("crawl-point-edit", args=[one.doc_id, fix.point_id])
    return reverse("crawl-points", args=[one.doc_id])
