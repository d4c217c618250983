"""A document as it would be with entries that are not saved yet: what the dialog and programs test and preview."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clearinghouse.library.models import Document
from clearinghouse.web.listing import whole_number
from crawlpoints.models import CrawlPoint, ExcludeUrl
from crawlpoints.point_checks import NUMBERS, SWITCHES, TEXTS, check_unsaved, suggested_root

from ..launching.launch import settings_of, snapshot_of
from ..values import PointSettings, Snapshot


def saved_points(document: Document) -> dict[int, PointSettings]:
    """As they stand in the database: what a saved password may be sent by."""
    return {point.id: point for point in snapshot_of(document, include_inactive=True).points}


def draft_of(point: CrawlPoint | None, entries: Mapping[str, Any]) -> PointSettings:
    """An unsaved crawl point. Entries that are no numbers count as none, an empty root string as its URL's folder."""
    values: dict[str, Any] = {name: str(entries.get(name) or "").strip() for name in TEXTS}
    values["root"] = values["root"] or suggested_root(values["url"])
    values |= {name: int(bool(entries.get(name))) for name in SWITCHES}
    for name in NUMBERS:
        values[name] = whole_number(str(entries.get(name) or "").strip(), 9) or 0
    return settings_of(CrawlPoint(pk=point.pk if point else 0, **values))


def with_draft(document: Document, draft: PointSettings, excludes: Sequence[str]) -> Snapshot:
    """The draft first, then the other crawl points as they are saved. Raises Invalid."""
    snapshot = snapshot_of(document)
    others = tuple(one for one in snapshot.points if one.id != draft.id)
    return with_excludes(replace(snapshot, points=(draft, *others)), excludes)


def with_excludes(snapshot: Snapshot, excludes: Sequence[str]) -> Snapshot:
    """With exclude URLs that need not be saved. The only way to such a snapshot (tests/house/test_unsaved.py): what
    could not be saved, because matching it would cost too much, is refused here too. Raises Invalid.
    """
    saved = ExcludeUrl.objects.filter(document=snapshot.doc_id).order_by("id").values_list("pattern", flat=True)
    check_unsaved(excludes, list(saved))
    return replace(snapshot, excludes=tuple(excludes))
