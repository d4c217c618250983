"""Notices in the words that are right for their reader: what they count is counted when it is read."""

from collections.abc import Iterable
from typing import Any

from clearinghouse.access.templatetags.pieces import plural

from ..models import Delivery, WebhookCall
from .counts import Docs
from .findings import needing_by_run

RUN_ENDED = ("run_finished", "run_failed")


def for_reader(rows: Iterable[Delivery | WebhookCall], docs: Docs) -> list[Any]:
    """With each sentence as this reader may know it: findings are counted now, in the documents they may see."""
    rows = list(rows)
    ended = [row.notice for row in rows if row.notice.event in RUN_ENDED and row.notice.run_id]
    found = needing_by_run({notice.run_id for notice in ended}, docs) if ended else {}
    for notice in ended:
        notice.sentence = notice.sentence.partition(":")[0] + _attention(found.get(notice.run_id, 0))
    return rows


def _attention(findings: int | None) -> str:
    if findings is None:
        return ": still looking for findings"
    return f": {plural(findings, 'finding needs,findings need')} attention" if findings else ""
