"""Notices in the words that are right for their reader: what they count is counted when it is read."""

from collections.abc import Iterable
from typing import Any

from clearinghouse.web.templatetags.formats import plural

from ..findings.queries import needing_by_run
from ..models import Delivery, Excursion, State, WebhookCall
from ..runs.run_counts import Docs

RUN_ENDED = ("run_finished", "run_failed")
AT_LIMIT = State.FINISHED_AT_LIMIT.label.lower()


def for_reader(rows: Iterable[Delivery | WebhookCall], docs: Docs) -> list[Any]:
    """With each sentence as this reader may know it: findings are counted now, in the documents they may see."""
    rows = list(rows)
    ended = [row.notice for row in rows if row.notice.event in RUN_ENDED and row.notice.run_id]
    found = needing_by_run({notice.run_id for notice in ended}, docs) if ended else {}
    limited = _limited({notice.run_id for notice in ended if AT_LIMIT in notice.sentence}, docs)
    for notice in ended:
        opening = notice.sentence.partition(":")[0]
        if notice.run_id not in limited:
            opening = opening.replace(AT_LIMIT, State.FINISHED.label.lower())
        notice.sentence = opening + _attention(found.get(notice.run_id, 0))
    return rows


def _limited(runs: set[int], docs: Docs) -> set[int]:
    """Of these runs those with a document that met a limit and that the reader may see."""
    if not runs or docs is None:
        return runs
    rows = Excursion.objects.filter(run__in=runs, state=State.FINISHED_AT_LIMIT, doc_id__in=docs)
    return set(rows.order_by().values_list("run_id", flat=True).distinct())


def _attention(findings: int | None) -> str:
    if findings is None:
        return ": still looking for findings"
    return f": {plural(findings, 'finding needs,findings need')} attention" if findings else ""
