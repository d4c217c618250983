"""The preview: a crawl of at most 25 pages or 60 seconds with the crawler's own frontier, rules, fetch and extraction.

One page at a time, nearest first; what becomes of every address it finds is told, and nothing of it is stored.
"""

import heapq
import time
from collections import Counter, defaultdict
from typing import Any
from urllib.parse import urlsplit

from django.utils import timezone

from clearinghouse.addresses.parsing import resolve
from clearinghouse.library.models import Document
from clearinghouse.published.types import PAGE_TYPES
from clearinghouse.web.plurals import plural

from ..engine.response_kind import PAGE, REDIRECT, judge
from ..errors import TimeUsedUp
from ..launching.launch import snapshot_of
from ..models import Preview
from ..policy.frontier import SHORT, FoundUrl, Frontier
from ..reasons import reason_of
from ..values import CRAWLED, FREE, Fetched, Snapshot
from . import preview_rows
from .fetch_once import FetchedOnce, SingleFetcher, looks_like_sign_in
from .throttled_client import ThrottledClient
from .timed_rules import Deadline

PAGES, SECONDS = 25, 60.0
ONE_PAGE = 15.0
SHOWN = 20
FOLDERS = 500  # that are told, those where most waits first
_NO_MORE_TRIES = 99


class DryRun:
    def __init__(self, row: Preview, snapshot: Snapshot, document: Document) -> None:
        self.row = row
        self.snapshot = snapshot
        self.end = time.monotonic() + SECONDS
        self.line = ThrottledClient(self.end)
        saved = {point.id: point for point in snapshot_of(document, include_inactive=True).points}
        self.visitor = SingleFetcher(snapshot, saved, self.line, Deadline(SECONDS))
        self.frontier = Frontier(snapshot, self.visitor.rules)
        self.heap: list[tuple[int, int, FoundUrl]] = []
        self.order = 0
        self.pages: list[dict[str, Any]] = []
        self.stored = 0
        self.reasons: Counter[str] = Counter()
        self.outside: Counter[str] = Counter()

    def run(self) -> str:
        """Why it ended."""
        try:
            return self._run()
        except TimeUsedUp:
            return "time"

    def _run(self) -> str:
        self.frontier.seed()
        self._absorb()
        while self.heap:
            if self.stored >= PAGES or len(self.pages) >= 2 * PAGES:
                return "pages"
            if time.monotonic() >= self.end:
                return "time"
            self._one(heapq.heappop(self.heap)[2])
            self._absorb()
            if not preview_rows.report(self.row, self.result("")):
                return "stopped"
        return "all"

    def _absorb(self) -> None:
        """What was found since: addresses to fetch, and addresses that are out of scope."""
        fresh, self.frontier.fresh = self.frontier.fresh, []
        for found in fresh:
            self.order += 1
            heapq.heappush(self.heap, (self.frontier.nearest(found.key[:SHORT]), self.order, found))
        changes = self.frontier.drain()
        for skip in changes.skips.values():
            self.reasons[skip.refusal.reason] += 1
            if skip.refusal.reason == "outside_root":
                self.outside[_place(skip.url)] += 1

    def _one(self, found: FoundUrl) -> None:
        short = found.key[:SHORT]
        if self.frontier.may_start(short) != "go":
            self.reasons["page_limit"] += 1
            self.frontier.finish(found.key, counts=False, cut=True)
            return
        self.frontier.start(short)
        line = {"url": found.url, "depth": self.frontier.nearest(short), "outcome": CRAWLED, "reason": "", "status": 0,
                "title": "", "type": "", "links": 0, "leads_to": "", "sign_in": False}  # fmt: skip
        self.pages.append(line)
        seen, judged = FetchedOnce(), self.visitor.rules.verdicts(found.url)
        delay = self.line.delay(judged.address.origin) if judged.address else 0.0
        self.line.until = min(self.end, time.monotonic() + ONE_PAGE + delay)
        fetched = self.visitor.fetch(judged, seen)
        if fetched is None:
            self._failed(found, line, seen.hops[-1].reason)
            return
        line["status"] = fetched.status
        answer = judge(fetched, _NO_MORE_TRIES, time.time())
        if answer.kind == REDIRECT:
            self._redirect(found, fetched, line)
        elif answer.kind == PAGE:
            self._page(found, fetched, line)
        else:
            self._failed(found, line, answer.reason)

    def _failed(self, found: FoundUrl, line: dict[str, Any], reason: str) -> None:
        line["outcome"], line["reason"] = reason_of(reason).outcome, reason
        self.reasons[reason] += 1
        self.frontier.finish(found.key, counts=reason not in FREE)

    def _redirect(self, found: FoundUrl, fetched: Fetched, line: dict[str, Any]) -> None:
        target = resolve(found.url, fetched.header("location"))
        ways = self.frontier.finish(found.key, counts=False)
        outcome, refusal = self.frontier.redirect(found.key[:SHORT], found.key, target, ways)
        line |= {"outcome": outcome, "reason": refusal.reason, "leads_to": target}
        if refusal.reason:
            self.reasons[refusal.reason] += 1
            if refusal.reason == "redirect_outside_root":
                self.outside[_place(target)] += 1

    def _page(self, found: FoundUrl, fetched: Fetched, line: dict[str, Any]) -> None:
        page = self.line.read(fetched, found.url)
        if page is None or page.refusal is not None:
            refused = page.refusal.reason if page and page.refusal else "parse_timeout"
            self._failed(found, line, refused)
            return
        self.stored += 1
        line |= {"title": page.title, "type": PAGE_TYPES.get(page.type_id, ""), "links": len(page.urls)}
        line["sign_in"] = looks_like_sign_in(fetched.body)
        ways = self.frontier.finish(found.key, counts=True)
        self.frontier.links(found.key, ways, page.urls, page.marks, page.nofollow)

    # -- what is told -------------------------------------------------------------------------------------------

    def result(self, ended: str) -> dict[str, Any]:
        folders = Counter(folder_of(found.url) for _, _, found in self.heap)
        depths: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for page in self.pages:
            depths[page["depth"]][0] += 1
        for depth, _, _ in self.heap:
            depths[depth][1] += 1
        return {
            "ended": ended,
            "stored": self.stored,
            "pages": self.pages,
            "waiting": len(self.heap),
            "waiting_folders": folders.most_common(FOLDERS),
            "folders": len(folders),
            "depths": [[depth, *counts] for depth, counts in sorted(depths.items())],
            "reasons": self.reasons.most_common(),
            "outside": self.outside.most_common(SHOWN),
            "types": Counter(page["type"] for page in self.pages if page["type"]).most_common(),
            "estimate": self.estimate(len(self.heap)),
        }

    def estimate(self, waiting: int) -> str:
        if not self.pages:
            return "Nothing was fetched."
        if not waiting:
            pages = plural(self.stored, "page")
            return f"No more in-scope addresses are waiting: a full crawl is likely to store {pages}."
        most = [point.max_pages for point in self.snapshot.points]
        limit = sum(most) if all(most) else 0
        found = f"At least {plural(waiting, 'more in-scope address was,more in-scope addresses were')} found; "
        if limit and self.stored + waiting >= limit:
            return f"{found}a full crawl is likely to reach the limit of {limit:,}."
        return f"{found}a full crawl is likely to store {plural(self.stored + waiting, 'page')} or more."


def carry_out(preview_id: int) -> None:
    """The job. A second one, or one for a stopped preview, does nothing."""
    row = preview_rows.begin(preview_id)
    document = Document.objects.filter(pk=row.doc_id).first() if row else None
    if row is None or document is None:
        return
    dry = DryRun(row, Snapshot.from_json(row.snapshot), document)
    try:
        ended = dry.run()
    finally:
        dry.line.close()
    seconds = (timezone.now() - row.started_at).total_seconds() if row.started_at else 0.0
    preview_rows.report(row, dry.result(ended) | {"seconds": round(seconds, 1)}, finished=True)


def folder_of(url: str) -> str:
    """A canonical address up to its last slash."""
    path = url.partition("?")[0]
    return path[: path.rfind("/") + 1]


def _place(url: str) -> str:
    """Host and first folder, for the list of what was out of scope."""
    parts = urlsplit(url)
    folder = parts.path.split("/", 2)
    inner = f"/{folder[1]}/" if len(folder) == 3 else "/"
    return f"{parts.scheme}://{parts.netloc}{inner}" if parts.netloc else url[:100]
