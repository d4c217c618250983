"""Would this address be crawled? The crawler's own answer, for saved settings and for entries not saved yet."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse.access.policies import Action, document_or_404
from clearinghouse.library.models import Document
from crawler.explain import explain
from crawler.intake import settings_of, snapshot_of
from crawler.values import REASONS

from ..checks import SWITCHES, TEXTS, exclude_lines
from ..models import CrawlPoint

MAX_LINES = 200
CHECKS = {
    "address": "Can be read", "scheme": "http or https", "port": "Port", "traps": "Endless addresses",
    "root": "Root string", "exclude": "Exclude URLs", "nofollow": "nofollow", "depth": "Depth limit",
    "deactivation": "Crawl point active", "run limit": "Limits of the run", "network": "Network address",
    "robots": "robots.txt", "maximum": "Maximum pages",
}  # fmt: skip
_WORDS = {"pass": "Pass", "stop": "Stop", "idle": "Not reached"}


@require_safe
def tester(request: HttpRequest, doc_id: int) -> HttpResponse:
    """With the saved settings; one address or up to 200, one in a line."""
    document = document_or_404(request.user, doc_id, Action.TEST)
    lines = exclude_lines(request.GET.get("url", "")[: MAX_LINES * 2100])[:MAX_LINES]
    snapshot = snapshot_of(document)
    answers = [_answer(explain(snapshot, line, request.GET.get("found_on", "").strip()), line) for line in lines]
    context = {
        "document": document,
        "asked": "\n".join(lines),
        "found_on": request.GET.get("found_on", ""),
        "answer": answers[0] if len(answers) == 1 else None,
        "answers": answers if len(answers) > 1 else [],
        "points": len(snapshot.points),
    }
    return render(request, "crawlpoints/tester.html", context)


def answer_for_form(document: Document, point: CrawlPoint | None, entries: dict[str, Any], url: str) -> dict[str, Any]:
    """With the entries of the dialog as they are, in the place of the stored ones."""
    draft = settings_of(_draft(point, entries))
    snapshot = snapshot_of(document)
    others = tuple(one for one in snapshot.points if one.id != draft.id)
    excludes = tuple(exclude_lines(entries.get("excludes", "")))
    line = url.strip()
    return _answer(explain(replace(snapshot, points=(draft, *others), excludes=excludes), line), line)


def _draft(point: CrawlPoint | None, entries: dict[str, Any]) -> CrawlPoint:
    """An unsaved crawl point; entries that are no numbers count as none."""
    values: dict[str, Any] = {name: str(entries.get(name) or "").strip() for name in TEXTS}
    values |= {name: int(bool(entries.get(name))) for name in SWITCHES}
    for name in ("depth", "max_pages", "auth_type"):
        text = str(entries.get(name) or "").strip()
        values[name] = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return CrawlPoint(pk=point.pk if point else 0, **values)


def _answer(found: dict[str, Any], line: str) -> dict[str, Any]:
    reason = REASONS.get(found["reason"])
    if not line:
        sentence, kind = "Enter an address to test", "info"
    elif found["verdict"] == "no":
        sentence, kind = f"No, because it {reason.sentence if reason else 'is refused'}", "bad"
    elif found["verdict"] == "yes":
        sentence, kind = f"Yes, at depth {found['depth']}", "ok"
    else:
        sentence, kind = "Yes, if a page within the depth limit links to it", "ok"
    trace = [
        {
            "result": one["result"],
            "word": _WORDS.get(one["result"], one["result"]),
            "label": CHECKS.get(one["check"], str(one["check"]).replace("_", " ")),
            "detail": one["detail"],
        }
        for one in found["trace"]
    ]
    return {"sentence": sentence, "kind": kind, "trace": trace if line else [], "line": line} | {
        "url": found["url"], "verdict": found["verdict"], "reason": reason.label if reason else "",
    }  # fmt: skip
