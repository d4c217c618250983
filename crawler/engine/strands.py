"""Owns: the table of strands: what of a document is fetched in a way of its own (its pages). Nowhere else do their
names decide anything: whoever needs to know asks the row of this table.

Does not: serve one; what does is named here and loaded by the loop alone. Called by: loop, ledger_check, collect,
crawl_changes.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from django.db.models import QuerySet
from django.utils.module_loading import import_string

from ..models import Excursion, Message, MessageState
from ..propagation.loading.missing_pages import LinksOf, Trip, behind_failures

WEB = "web"


class StrandAtWork(Protocol):
    """A strand while an instance serves it. Its queues know their excursion, whether they are drained or spent, what is
    flying, and what is to be written (`work`)."""

    dispatch: Any  # what is under way

    def serve(self, claimed: list[Excursion]) -> None:
        """Add the queues of these to those of the instance."""

    def commit(self, works: list[Any]) -> None: ...

    def finish(self, drained: list[Any]) -> Iterator[tuple[Any, Iterator[None]]]:
        """End these queues: at once, or in the steps that are returned."""

    def end_early(self, queue: Any, order: str) -> Iterator[None]: ...

    def fail(self, excursion: Excursion) -> Iterator[None]: ...

    def notice_deactivated(self, queues: Collection[Any]) -> None:
        """Settings that stopped counting while these are served."""

    def begin_anew(self) -> None:
        """Everything in memory was dropped."""


class QueueRows(NamedTuple):
    """The rows of a queue; each has a url_key."""

    waiting: QuerySet[Any]
    done: QuerySet[Any]  # they have their verdict


@dataclass(frozen=True, slots=True)
class Strand:
    at_work: str  # a StrandAtWork, by its name
    queue_rows: Callable[[Excursion], QueueRows]
    # Of an excursion, the addresses it did not meet for a reason that says nothing of them.
    shielded: Callable[[Sequence[Trip], int, LinksOf], set[bytes]]


def at_work(name: str) -> Callable[..., StrandAtWork]:
    found: Callable[..., StrandAtWork] = import_string(STRANDS[name].at_work)
    return found


def _messages(excursion: Excursion) -> QueueRows:
    rows = Message.objects.filter(excursion=excursion)
    return QueueRows(rows.exclude(state=MessageState.DONE), rows.filter(state=MessageState.DONE))


STRANDS = {WEB: Strand("crawler.engine.web_strand.WebStrand", _messages, behind_failures)}
