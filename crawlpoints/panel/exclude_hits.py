"""What an exclude URL would keep out, before it is saved: stored pages, and addresses waiting in a running crawl."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.patterns import compile_exclude
from clearinghouse.library.models import Document
from crawler.models import Excursion, Message, MessageState, PageHead, PageVersion

from ..dialog.forms import opened_lines
from ..models import CrawlPoint
from ..point_checks import exclude_lines
from ..typed_urls import suggested_url

MOST = 50_000  # addresses that are looked at
SHOWN = 20
LINES = 20  # looked at in one go
SECONDS = 3.0  # after which the addresses that are left are not looked at: somebody waits


@dataclass(slots=True)
class HitsOfLine:
    line: str
    kind: str
    beginning: str = ""  # of a pattern that is one: the filter that lists its stored pages
    stored: int = 0
    queued: int = 0
    examples: list[str] = field(default_factory=list)

    def count(self, url: str, *, queued: bool) -> None:
        self.queued, self.stored = self.queued + queued, self.stored + (not queued)
        if len(self.examples) < SHOWN:
            self.examples.append(url)

    @property
    def more(self) -> int:
        """Addresses beyond the examples."""
        return self.stored + self.queued - len(self.examples)


@dataclass(frozen=True, slots=True)
class ExcludeHits:
    lines: list[HitsOfLine]
    looked_at: int
    complete: bool
    left_out: int = 0  # lines beyond those that are looked at in one go


def of_form(document: Document, point: CrawlPoint | None, entries: dict[str, Any], _: str) -> dict[str, Any]:
    """For the lines of the dialog that are new, or for all when none is."""
    lines = exclude_lines(entries.get("excludes", ""))
    opened = set(opened_lines(entries.get("excludes_opened", "")))
    wanted = [line for line in lines if line not in opened] or lines
    return {"hits": preview(document.pk, wanted)}


def preview(doc_id: int, lines: Sequence[str]) -> ExcludeHits:
    """For each line that can be read; the others are the business of checks."""
    read = {line: compile_exclude(line) for line in lines[:LINES]}
    excludes = {line: exclude for line, exclude in read.items() if not isinstance(exclude, Refusal)}
    found = {line: HitsOfLine(line, exclude.kind, _beginning(line, exclude.kind)) for line, exclude in excludes.items()}
    stored, queued = _stored(doc_id), _queued(doc_id)
    until, looked_at = time.monotonic() + SECONDS, 0
    for url in (*stored, *queued):
        if time.monotonic() > until:
            break
        for line, exclude in excludes.items():
            if exclude.matches(url):
                found[line].count(url, queued=looked_at >= len(stored))
        looked_at += 1
    complete = looked_at == len(stored) + len(queued) and max(len(stored), len(queued)) < MOST
    return ExcludeHits([*found.values()], looked_at, complete, max(len(lines) - LINES, 0))


def _beginning(line: str, kind: str) -> str:
    return suggested_url(line[:-1]) if kind == "begins with" else ""


def _stored(doc_id: int) -> list[str]:
    heads = PageHead.objects.filter(doc_id=doc_id).values("version_id")
    return list(PageVersion.objects.filter(pk__in=heads).order_by("url").values_list("url", flat=True)[:MOST])


def _queued(doc_id: int) -> list[str]:
    running = Excursion.objects.filter(doc_id=doc_id, unfinished=True)
    rows = Message.objects.filter(excursion__in=running).exclude(state=MessageState.DONE)
    return list(rows.order_by("id").values_list("url", flat=True)[:MOST])
