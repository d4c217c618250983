"""Would this address be crawled? The crawler's own answer, for saved settings and for entries not saved yet."""

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from clearinghouse.accounts.policies import Action, document_or_404, may
from clearinghouse.library.models import Document
from clearinghouse.web.csv_output import safe_cell
from crawler.errors import TimeUsedUp
from crawler.launching.launch import snapshot_of
from crawler.ledger.explain import explain
from crawler.preview.drafts import draft_of, saved_points, with_draft
from crawler.preview.fetch_once import FetchedOnce, visit
from crawler.preview.timed_rules import Deadline, RulesInTime
from crawler.values import Snapshot

from ..dialog import wait_answer
from ..documents.csv_answers import csv_answer
from ..models import CrawlPoint
from ..point_checks import exclude_lines, numbered_lines, suggested_root
from ..queries import points_of
from .explanation_text import SettingNames, answer_of

MAX_LINES = 200
CSV_HEAD = ("address", "canonical_address", "crawled", "reason", "sentence")


@require_http_methods(["GET", "HEAD", "POST"])
def tester(request: HttpRequest, doc_id: int) -> HttpResponse:
    """With the saved settings; one address or up to 200, one in a line. Changes nothing; POST, because 200 addresses
    do not fit into a request line. Unless it says do=test, a POST fetches the one address, too.
    """
    document = document_or_404(request.user, doc_id, Action.TEST)
    snapshot = snapshot_of(document)
    asked = request.POST if request.method == "POST" else request.GET
    lines, cut = _lines(asked.get("url", ""))
    answers, late = _answers(document, snapshot, lines, asked)
    one = answers[0] if len(lines) == len(answers) == 1 else None
    seen = None
    if request.method == "POST" and one and asked.get("do") != "test":
        seen = visit(snapshot, saved_points(document), one["url"])
        again, late = _answers(document, snapshot, lines, asked, seen)
        one = again[0] if again else one
    may_edit = may(request.user, Action.EDIT, document)
    context = {
        "document": document,
        "asked": "\n".join(lines),
        "found_on": asked.get("found_on", ""),
        "answer": one,
        "answers": answers if len(lines) > 1 else [],
        "late": late,
        "seen": seen,
        "points": len(snapshot.points),
        "may_edit": may_edit,
        "cut": cut,
        "folder": suggested_root(one["url"]) if one and may_edit else "",
        "edited": list(points_of(document)) if one and may_edit else [],
    }
    answer = render(request, "tester/tester.html", context)
    return wait_answer.marked(answer, seen.retry_after if seen else 0)


@require_http_methods(["GET", "HEAD", "POST"])
def export(request: HttpRequest, doc_id: int) -> HttpResponseBase:
    """The answers of many lines as CSV."""
    document = document_or_404(request.user, doc_id, Action.TEST)
    asked = request.POST if request.method == "POST" else request.GET
    answers, late = _answers(document, snapshot_of(document), _lines(asked.get("url", ""))[0], asked)
    rows = [_csv_line(one) for one in answers] + ([["", "", "", "", late]] if late else [])
    return csv_answer(f"tested-urls-{document.pk}.csv", CSV_HEAD, rows)


def _csv_line(answer: Mapping[str, Any]) -> list[Any]:
    return [answer[name] for name in ("line", "url", "verdict", "code", "sentence")]


def _lines(text: str) -> tuple[list[str], bool]:
    """At most 200, and whether there were more."""
    lines = exclude_lines(text[: MAX_LINES * 2100])
    return lines[:MAX_LINES], len(lines) > MAX_LINES or len(text) > MAX_LINES * 2100


def _answers(
    document: Document, snapshot: Snapshot, lines: list[str], asked: QueryDict, seen: FetchedOnce | None = None
) -> tuple[list[dict[str, Any]], str]:
    found_on, robots = asked.get("found_on", "").strip(), seen.robots if seen else None
    known = document.pk if len(lines) == 1 else None
    names = SettingNames(_points(snapshot))

    def answer(line: str, rules: RulesInTime) -> dict[str, Any]:
        return answer_of(explain(snapshot, line, found_on, robots, rules), line, known, names)

    return _in_time(snapshot, lines, answer)


def _in_time(
    snapshot: Snapshot, lines: list[str], answer: Callable[[str, RulesInTime], dict[str, Any]]
) -> tuple[list[dict[str, Any]], str]:
    """The answers until the time for all of them is used up, and the sentence that says so."""
    rules, answers = RulesInTime(snapshot, Deadline()), []
    try:
        for line in lines:
            answers.append(answer(line, rules))
    except TimeUsedUp as late:
        return answers, f"{late}."
    return answers, ""


def _points(snapshot: Snapshot) -> dict[int, str]:
    """How a crawl point is called; where there is one only, nothing needs to be said."""
    several = len(snapshot.points) > 1
    return {point.id: f"the crawl point {point.url}" for point in snapshot.points} if several else {}


def draft_snapshot(document: Document, point: CrawlPoint | None, entries: dict[str, Any]) -> Snapshot:
    """The document as it would be with the entries of the dialog, saved or not; looked at as if Active were ticked."""
    draft = replace(draft_of(point, entries), active=True)
    return with_draft(document, draft, exclude_lines(entries.get("excludes", "")))


def answer_for_form(
    document: Document, point: CrawlPoint | None, entries: dict[str, Any], url: str, fetch: bool = False
) -> dict[str, Any]:
    """For one line the answer with its trace, for many a table."""
    snapshot = draft_snapshot(document, point, entries)
    lines, cut = _lines(url)
    context: dict[str, Any] = {"cut": cut, "unticked": not entries.get("active"), "fetch_of_many": False}
    names = _names_of_form(snapshot, entries)
    if len(lines) > 1:
        answers, late = _in_time(
            snapshot, lines, lambda line, rules: answer_of(explain(snapshot, line, rules=rules), line, names=names)
        )
        more = {"answers": answers, "answers_csv": _csv(answers), "fetch_of_many": fetch, "late": late}
        return context | more
    line = lines[0] if lines else ""
    try:
        seen = None
        if fetch and line:
            seen = visit(snapshot, saved_points(document), explain(snapshot, line)["url"])
        found = explain(snapshot, line, robots=seen.robots if seen else None)
    except TimeUsedUp as late_one:
        return context | {"late": f"{late_one}."}
    return context | {"answer": answer_of(found, line, document.pk, names), "seen": seen}


def visit_for_form(document: Document, point: CrawlPoint | None, entries: dict[str, Any], url: str) -> dict[str, Any]:
    """Fetch it now, by the entries of the dialog."""
    return answer_for_form(document, point, entries, url, fetch=True)


def _names_of_form(snapshot: Snapshot, entries: dict[str, Any]) -> SettingNames:
    """The crawl point of the dialog is this one; excludes are lines of its text."""
    places = {line: f"line {number}" for number, line in reversed(numbered_lines(entries.get("excludes", "")))}
    return SettingNames(_points(snapshot) | {snapshot.points[0].id: "this crawl point"}, places)


def _csv(answers: list[dict[str, Any]]) -> str:
    """To copy: the entries are not saved, so there is no address to load it from."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    writer.writerows([safe_cell(cell) for cell in _csv_line(one)] for one in answers)
    return text.getvalue()
