"""A document as it would be with entries that are not saved yet: what the dialog and programs test and preview."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clearinghouse.library.models import Document
from crawlpoints.checks import SWITCHES, TEXTS
from crawlpoints.models import CrawlPoint

from ..intake import settings_of, snapshot_of
from ..values import PointSettings, Snapshot


def saved_points(document: Document) -> dict[int, PointSettings]:
    """As they stand in the database: what a saved password may be sent by."""
    return {point.id: point for point in snapshot_of(document, include_inactive=True).points}


def draft_of(point: CrawlPoint | None, entries: Mapping[str, Any]) -> PointSettings:
    """An unsaved crawl point; entries that are no numbers count as none."""
    values: dict[str, Any] = {name: str(entries.get(name) or "").strip() for name in TEXTS}
    values |= {name: int(bool(entries.get(name))) for name in SWITCHES}
    for name in ("depth", "max_pages", "auth_type"):
        text = str(entries.get(name) or "").strip()
        values[name] = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return settings_of(CrawlPoint(pk=point.pk if point else 0, **values))


def with_draft(document: Document, draft: PointSettings, excludes: Sequence[str]) -> Snapshot:
    """The draft first, then the other crawl points as they are saved."""
    snapshot = snapshot_of(document)
    others = tuple(one for one in snapshot.points if one.id != draft.id)
    return replace(snapshot, points=(draft, *others), excludes=tuple(excludes))
