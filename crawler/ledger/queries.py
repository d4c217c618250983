"""The decision ledger of a run: every address found, with what became of it and why."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Left, StrIndex, Substr
from django.http import QueryDict

from clearinghouse.columns import Exact
from clearinghouse.web import listing

from ..models import Excursion, LedgerEntry, Message, MessageState, PageVersion, Run
from ..reasons import HTTP, reason_of
from ..runs.run_counts import Docs, excursions_of
from ..values import CRAWLED, OUTCOMES, QUEUED, REASONS, UNCHANGED

PAGE_OUTCOMES = (CRAWLED, UNCHANGED)
# Nearly all skipped addresses have one of these, and none of them was ever asked for at its site: leaving them out
# keeps questions about answers away from the bulk of the ledger.
_NEVER_ASKED = {"outside_root", "excluded", "too_deep", "nofollow"}
_ANSWERED_REASONS = ("", *(code for code in REASONS if code not in _NEVER_ASKED))
# What stands in the queue when somebody excludes it from the running crawl is taken out with that reason.
_TAKEN_REASONS = (*_ANSWERED_REASONS, "excluded")
Queried = TypeVar("Queried", bound=QuerySet[Any])
_COLUMNS = (
    "id", "excursion_id", "doc_id", "url_key", "url", "outcome", "reason", "detail", "status", "depth",
    "crawl_point_id", "found_on", "redirect_url", "version_id", "previous_version_id", "size", "milliseconds", "at",
)  # fmt: skip
_QUEUED_COLUMNS = ("id", "excursion_id", "excursion__doc_id", "url_key", "url", "depth", "found_on")
_AT_ONCE = 2_000
NEW, CHANGED = "new", "changed"
_STATUS = re.compile(r"[0-9]{3}")
SORTS = {name: name for name in ("url", "reason", "depth", "size", "status")}


def _asked_statuses(query: QueryDict) -> tuple[int, ...]:
    return tuple(sorted({int(one) for one in query.getlist("answered") if _STATUS.fullmatch(one)}))


@dataclass(frozen=True, slots=True)
class Filter(listing.ListFilter):
    outcomes: tuple[str, ...] = listing.choices("outcome", OUTCOMES)
    reasons: tuple[str, ...] = listing.choices("reason", REASONS)
    doc_id: int | None = listing.number("doc")
    text: str = listing.text("q", 2048)
    depth: int | None = listing.number("depth")
    kind: int | None = listing.number("type")  # of the page that is stored
    status: int | None = listing.number("status")  # the class (2 for 200–299), or the exact one
    answered: tuple[int, ...] = listing.read_by(_asked_statuses, ())  # of what failed by its status: only these
    taken: bool = listing.flag("taken")  # only addresses that were once in the queue
    site: str = listing.exact("site", 2048)  # the beginning of the address: a site or a folder
    here: bool = listing.flag("here")  # and not in a folder below
    fresh: str = listing.choice("fresh", (NEW, CHANGED))
    ids: tuple[int, ...] = ()  # these ledger rows only
    point: int | None = listing.number("point")  # the crawl point that is nearest
    rule: str = listing.exact("rule", 500)  # what decided: an exclude URL, a root string
    sort: str = listing.sort(SORTS)

    def but(self, **changes: Any) -> "Filter":
        return replace(self, **changes)


@dataclass(slots=True)
class Row:
    """One address: a ledger row, or a message still queued."""

    id: int
    excursion_id: int
    doc_id: int
    url_key: bytes
    url: str
    outcome: str
    depth: int
    reason: str = ""
    detail: str = ""
    status: int = 0
    crawl_point_id: int | None = None
    found_on: bytes | None = None
    redirect_url: str = ""
    version_id: int | None = None
    previous_version_id: int | None = None
    size: int = 0
    milliseconds: int = 0
    at: Any = None
    parent: "Row | None" = None  # the page it was found on, when it was asked for
    document: str = ""  # the title of its document, when it was asked for
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def queued(self) -> bool:
        return self.outcome == QUEUED

    @property
    def key(self) -> str:
        """Names the row in an address: a ledger row or a message."""
        return f"{'m' if self.queued else 'e'}{self.id}"

    @property
    def label(self) -> str:
        return reason_of(self.reason, self.status).label

    @property
    def told(self) -> str:
        """The detail, unless it only repeats the status."""
        return "" if self.detail == str(self.status) else self.detail

    @property
    def advice(self) -> str:
        return reason_of(self.reason, self.status, start=self.found_on is None).advice


class LedgerRows:
    """Ledger rows, then queued messages, as one list that can be counted and sliced: what a Paginator needs."""

    def __init__(self, decided: QuerySet[LedgerEntry], queued: QuerySet[Message]) -> None:
        self.decided, self.queued = decided, queued
        self._decided_count: int | None = None

    def counted(self, decided: int) -> None:
        """Of the ledger rows it is known how many there are."""
        self._decided_count = decided

    def _split(self) -> int:
        if self._decided_count is None:
            self._decided_count = self.decided.count()
        return self._decided_count

    def count(self) -> int:
        return self._split() + self.queued.count()

    __len__ = count

    def __getitem__(self, part: slice) -> list[Row]:
        start, stop, split = part.start or 0, part.stop or 0, self._split()
        rows = self.decided_rows(start, stop) if start < split else []
        if stop > split:
            rows += self.queued_rows(max(start - split, 0), stop - split)
        return rows

    def decided_rows(self, start: int, stop: int) -> list[Row]:
        return [Row(**values) for values in self.decided[start:stop].values(*_COLUMNS)]

    def queued_rows(self, start: int, stop: int) -> list[Row]:
        return [_queued_row(values) for values in self.queued[start:stop].values(*_QUEUED_COLUMNS)]


def rows_of(run: Run, docs: Docs, asked: Filter) -> LedgerRows:
    """The addresses of a run a person asked for, in the order of the index (document, outcome, reason, found)."""
    excursions = excursions_of(run, docs)
    if asked.doc_id is not None:
        excursions = excursions.filter(doc_id=asked.doc_id)
    ids = excursions.values("id")
    return LedgerRows(_decided(ids, asked), _queued(ids, asked))


def iterated(run: Run, docs: Docs, asked: Filter) -> Iterator[Row]:
    """The same addresses one after the other, however many there are."""
    found = rows_of(run, docs, asked)
    for values in found.decided.values(*_COLUMNS).iterator(_AT_ONCE):
        yield Row(**values)
    for values in found.queued.values(*_QUEUED_COLUMNS).iterator(_AT_ONCE):
        yield _queued_row(values)


class LedgerSlice:
    """These ledger rows, in this order, as a list that can be counted and sliced: what a Paginator needs."""

    def __init__(self, run: Run, docs: Docs, ids: Iterable[int]) -> None:
        self._run, self._docs, self._ids = run, docs, list(ids)

    def count(self) -> int:
        return len(self._ids)

    __len__ = count

    def __getitem__(self, part: slice) -> list[Row]:
        wanted = self._ids[part]
        rows = rows_of(self._run, self._docs, Filter(ids=tuple(wanted))).decided_rows(0, len(wanted))
        known = {row.id: row for row in rows}
        return [known[pk] for pk in wanted if pk in known]


def found_urls(rows: Iterable[Row]) -> dict[tuple[int, bytes], str]:
    """The addresses of the pages on which these were found, one query."""
    rows = [row for row in rows if row.found_on]
    keys = {bytes(row.found_on) for row in rows if row.found_on}
    parents = LedgerEntry.objects.filter(excursion__in={row.excursion_id for row in rows}, url_key__in=keys)
    return {(pk, bytes(key)): url for pk, key, url in parents.values_list("excursion_id", "url_key", "url")}


def _decided(excursions: Any, asked: Filter) -> QuerySet[LedgerEntry]:
    rows = LedgerEntry.objects.filter(excursion__in=excursions, outcome__in=_possible_outcomes(asked))
    if asked.reasons:
        rows = rows.filter(_met(asked))
    elif asked.status is not None:
        rows = rows.filter(reason__in=_ANSWERED_REASONS)
    elif asked.taken:
        rows = rows.filter(reason__in=_TAKEN_REASONS)
    if asked.status is not None:
        first, last = statuses_of(asked.status)
        rows = rows.filter(status__gte=first, status__lte=last)
    if asked.taken:
        rows = rows.filter(taken=True)
    if asked.ids:
        rows = rows.filter(pk__in=asked.ids)
    if asked.kind is not None:
        rows = rows.filter(Exists(PageVersion.objects.filter(pk=OuterRef("version_id"), type_id=asked.kind)))
    if asked.point is not None:
        rows = rows.filter(crawl_point_id=asked.point)
    if asked.rule:
        rows = rows.filter(detail=asked.rule)
    if asked.fresh:
        rows = rows.filter(outcome=CRAWLED, previous_version_id__isnull=asked.fresh == NEW)
    rows = _narrowed(rows, asked)
    if not asked.sort:
        return rows.order_by("excursion_id", "outcome", "reason", "id")
    return rows.order_by(*listing.order_by(asked.sort, SORTS, "url"), "id")


def _met(asked: Filter) -> Q:
    met = Q(reason__in=asked.reasons)
    return met & (~Q(reason__in=HTTP) | Q(status__in=asked.answered)) if asked.answered else met


def statuses_of(asked: int) -> tuple[int, int]:
    """The first and the last: of a class, or of an exact one."""
    return (asked, asked) if asked >= 100 else (asked * 100, asked * 100 + 99)


def _possible_outcomes(asked: Filter) -> list[str]:
    """Named even when not asked for: the index begins with document and outcome."""
    chosen = [outcome for outcome in asked.outcomes or OUTCOMES if outcome != QUEUED]
    if asked.reasons:
        implied = {REASONS[code].outcome for code in asked.reasons}
        chosen = [outcome for outcome in chosen if outcome in implied]
    return chosen


def _queued(excursions: Any, asked: Filter) -> QuerySet[Message]:
    rows = Message.objects.filter(excursion__in=excursions).exclude(state=MessageState.DONE)
    undecided = not asked.outcomes or QUEUED in asked.outcomes
    exact = (asked.point, asked.status, asked.kind)
    decided_only = asked.reasons or asked.fresh or asked.rule or any(one is not None for one in exact)
    if not undecided or decided_only:
        return rows.none()
    return _narrowed(rows, asked).order_by("depth", "id")


def _narrowed(rows: Queried, asked: Filter) -> Queried:
    if asked.text:
        rows = rows.filter(url__icontains=asked.text)
    if asked.site:
        # Not LIKE: it does not tell upper case from lower case on every database.
        rows = rows.annotate(beginning=Left(Exact("url"), len(asked.site))).filter(beginning=asked.site)
        if asked.here:
            rows = rows.annotate(deeper=StrIndex(Substr("url", len(asked.site) + 1), Value("/"))).filter(deeper=0)
    return rows if asked.depth is None else rows.filter(depth=asked.depth)


def _queued_row(values: dict[str, Any]) -> Row:
    return Row(doc_id=values.pop("excursion__doc_id"), outcome=QUEUED, **values)


def one(run: Run, docs: Docs, entry_id: int) -> Row | None:
    rows = LedgerEntry.objects.filter(pk=entry_id, excursion__in=excursions_of(run, docs).values("id"))
    values = rows.values(*_COLUMNS).first()
    return Row(**values) if values else None


def row_of(entry: LedgerEntry) -> Row:
    return Row(**{name: getattr(entry, name) for name in _COLUMNS})


def by_key(excursion_ids: Iterable[int], keys: Iterable[bytes]) -> dict[tuple[int, bytes], Row]:
    """The decided rows of these addresses, one query."""
    rows = LedgerEntry.objects.filter(excursion__in=set(excursion_ids), url_key__in=set(keys)).values(*_COLUMNS)
    return {(row["excursion_id"], bytes(row["url_key"])): Row(**row) for row in rows}


def with_parents(rows: list[Row]) -> list[Row]:
    """Fills in where each row was found, one query for all of them."""
    keys = {row.found_on for row in rows if row.found_on}
    parents = by_key({row.excursion_id for row in rows}, keys) if keys else {}
    for row in rows:
        row.parent = parents.get((row.excursion_id, row.found_on)) if row.found_on else None
    return rows


def with_documents(rows: list[Row]) -> list[Row]:
    """Fills in the title of each row's document as the run knew it, one query for all of them."""
    titles = dict(Excursion.objects.filter(pk__in={row.excursion_id for row in rows}).values_list("pk", "title"))
    for row in rows:
        row.document = titles.get(row.excursion_id, "")
    return rows
