"""Two runs beside each other: the figures of each document, and which pages only one of them stored."""

from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, QuerySet

from ..ledger.queries import PAGE_OUTCOMES
from ..models import Excursion, LedgerEntry, Run
from .run_counts import Docs, excursions_of

FIRST, SECOND, DIFFERENT, SAME = "first", "second", "different", "same"


@dataclass(frozen=True, slots=True)
class Pair:
    """One document in both runs; None where a run did not crawl it."""

    doc_id: int
    title: str
    first: Excursion | None
    second: Excursion | None

    @property
    def sides(self) -> list["Side"]:
        return [Side(one) for one in (self.first, self.second)]

    @property
    def both(self) -> bool:
        return self.first is not None and self.second is not None


@dataclass(frozen=True, slots=True)
class Side:
    excursion: Excursion | None

    @property
    def run_id(self) -> int:
        return self.excursion.run_id if self.excursion else 0

    @property
    def pages(self) -> int:
        return self.excursion.crawled + self.excursion.unchanged if self.excursion else 0

    @property
    def errors(self) -> int:
        return self.excursion.failed if self.excursion else 0


def pairs_of(first: Run, second: Run, docs: Docs) -> list[Pair]:
    """Every document of either run, by title; two queries."""
    mine, theirs = ({one.doc_id: one for one in _excursions(run, docs)} for run in (first, second))
    pairs = []
    for doc_id in mine.keys() | theirs.keys():
        one = mine.get(doc_id) or theirs[doc_id]
        pairs.append(Pair(doc_id, one.title, mine.get(doc_id), theirs.get(doc_id)))
    return sorted(pairs, key=lambda pair: (not pair.both, pair.title, pair.doc_id))


def _excursions(run: Run, docs: Docs) -> QuerySet[Excursion]:
    return excursions_of(run, docs).defer("snapshot", "tallies", "error")


def pages_in(kind: str, first: Excursion, second: Excursion) -> QuerySet[LedgerEntry]:
    """The pages of one kind, as rows of the first run (of the second, for those only it has)."""
    here, there = (second, first) if kind == SECOND else (first, second)
    rows = LedgerEntry.objects.filter(excursion=here, outcome__in=PAGE_OUTCOMES)
    other = LedgerEntry.objects.filter(excursion=there, url_key=OuterRef("url_key"), outcome__in=PAGE_OUTCOMES)
    if kind in (FIRST, SECOND):
        rows = rows.filter(~Exists(other))
    elif kind == SAME:
        rows = rows.filter(Exists(other.filter(version_id=OuterRef("version_id"))))
    else:
        rows = rows.filter(Exists(other.exclude(version_id=OuterRef("version_id"))))
    return rows.order_by(F("outcome"), "id")
