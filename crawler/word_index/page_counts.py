"""Owns: on how many live pages each word of the lexicon stands, for every target.

The counts move from one generation to another by the pages that differ: these are read and added up in memory, then
written word by word in short transactions that also say how far they are. A killed count adds up again and goes on
behind the last word written; two at once write each word once. Counts must have followed the live generation before
anything of an older one is taken away (the steps load and finish of a propagation see to it).
Does not: read while people wait. Called by: crawler.propagation.step_work, crawler.jobs, the command rebuild_index.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from django.db import DatabaseError, connections, transaction
from django.db.models import F, Q, QuerySet

from clearinghouse.database.aliases import TARGETS
from clearinghouse.published.models import (
    LexiconState,
    LexiconWord,
    PublishedInterval,
    PublishedVersion,
)
from clearinghouse.search.public_target import live_generation

from ..bulk_sql import chunks
from . import lexicon
from .transaction_size import TransactionSize
from .words_in_text import indexed

Beat = Callable[[], None]
_FEWEST, _MOST = 200, 10_000  # words of a transaction
_WAITING = 200_000  # different words of the pages read before their ids are looked up
_READ_AT_ONCE = 8  # pages: a text may have 10 MB
_ENTERED = 4_000  # new words of a transaction
_KNOWN = 400_000  # ids of words kept in memory
_RESETTING = -1


def nothing() -> None:
    """The beat of who has none."""


def counted(alias: str) -> int | None:
    """The generation the counts are right for; None while they are moving."""
    row = LexiconState.objects.using(alias).filter(id=1).values_list("generation", "goal").first() or (0, None)
    return row[0] if row[1] is None and row[0] != _RESETTING else None


def behind() -> list[str]:
    """The targets whose counts are not those of the live generation; one that is down is not among them."""
    found = []
    for target, alias in TARGETS.items():
        try:
            if counted(alias) != live_generation(alias):
                found.append(target)
        except DatabaseError:
            continue
    return found


def follow(alias: str, beat: Beat = nothing) -> int:
    """Brings the counts to the live generation; how many pages were counted for it here."""
    work = _Work(alias, beat)
    while (state := _begun(alias)) is not None:
        if state.generation == _RESETTING:
            work.reset()
        else:
            work.move(state)
    return work.pages


def recount(alias: str, beat: Beat = nothing) -> int:
    """Counts everything from nothing; ids stay. How many pages were counted."""
    with transaction.atomic(using=alias):
        LexiconState.objects.using(alias).update_or_create(
            id=1, defaults={"generation": _RESETTING, "goal": None, "done_to": 0}
        )
    return follow(alias, beat)


def _begun(alias: str) -> LexiconState | None:
    """What is to be done next; None when the counts are those of the live generation."""
    if counted(alias) == live_generation(alias):
        return None
    rows = LexiconState.objects.using(alias)
    with transaction.atomic(using=alias):
        rows.get_or_create(id=1)
        state = rows.select_for_update().get(id=1)
        live = live_generation(alias)
        if state.goal is None and state.generation == live:
            return None
        if state.goal is None and state.generation != _RESETTING:
            state.goal, state.done_to = live, 0
            state.save(using=alias)
    return state


class _Work:
    """The counting of one process on one target."""

    def __init__(self, alias: str, beat: Beat) -> None:
        self.alias, self.beat = alias, beat
        self.pages = 0
        self._known: dict[str, int] = {}

    def move(self, state: LexiconState) -> None:
        """From one generation to the goal; somebody else who does the same may have written some of it."""
        changes = self._changes(_difference(self.alias, state))
        goal = (state.generation, state.goal)
        pace = TransactionSize(_FEWEST, _MOST)
        while (state.generation, state.goal) == goal:
            part = list(islice(_changed(changes, state.done_to), pace.size))
            with pace, transaction.atomic(using=self.alias):
                mine = _row(self.alias).filter(generation=goal[0], goal=goal[1], done_to=state.done_to)
                if not part:
                    mine.update(generation=goal[1], goal=None, done_to=0)
                elif mine.update(done_to=part[-1]):
                    self._write(part, changes)
            self.beat()
            state = _row(self.alias).get()

    def _write(self, ids: list[int], changes: "array[int]") -> None:
        statement = "UPDATE lexicon SET pages = pages + %s WHERE word_id = %s"
        with connections[self.alias].cursor() as cursor:
            cursor.executemany(statement, [(changes[number], number) for number in ids])

    def _changes(self, signs: dict[int, int]) -> "array[int]":
        """For each id of a word, on how many pages more (or fewer) it stands; four bytes an id."""
        changes = array("i", [0])
        waiting: Counter[str] = Counter()
        for number, text in _texts(self.alias, sorted(signs)):
            (waiting.update if signs[number] > 0 else waiting.subtract)(indexed(text))
            self.pages += 1
            if len(waiting) > _WAITING:
                self._add_up(waiting, changes)
                waiting.clear()
            self.beat()
        self._add_up(waiting, changes)
        return changes

    def _add_up(self, waiting: Counter[str], changes: "array[int]") -> None:
        missing = [word for word in waiting if word not in self._known]
        if len(self._known) + len(missing) > _KNOWN:
            self._known, missing = {}, list(waiting)
        for part in chunks(sorted(missing), _ENTERED):
            self._known |= lexicon.entered(self.alias, part)
            self.beat()
        for word, change in waiting.items():
            number = self._known[word]
            if number >= len(changes):
                changes.extend(array("i", bytes(4 * (number + 1 - len(changes)))))
            changes[number] += change

    def reset(self) -> None:
        """All counts to nothing, part by part, until somebody has finished that."""
        resetting = _row(self.alias).filter(generation=_RESETTING)
        words = LexiconWord.objects.using(self.alias)
        pace = TransactionSize(_FEWEST, _MOST)
        more = True
        while more:
            with pace, transaction.atomic(using=self.alias):
                if not resetting.update(done_to=F("done_to") + 1):
                    return
                ids = list(words.exclude(pages=0).order_by("id").values_list("id", flat=True)[: pace.size])
                for part in chunks(ids):
                    words.filter(pk__in=part).update(pages=0)
                more = bool(ids)
                if not more:
                    resetting.update(generation=0, goal=None, done_to=0)
            self.beat()


def _row(alias: str) -> QuerySet[LexiconState]:
    return LexiconState.objects.using(alias).filter(id=1)


def _changed(changes: "array[int]", after: int) -> Iterator[int]:
    """The ids behind this one whose counts change, in order."""
    return (number for number in range(after + 1, len(changes)) if changes[number])


def _difference(alias: str, state: LexiconState) -> dict[int, int]:
    """Pages of one of the two generations only: +1 for those of the goal, -1 for those of the other one."""
    old, new = (Q(gen_from__lte=one, gen_to__gt=one) for one in (state.generation, state.goal))
    rows = PublishedInterval.objects.using(alias)
    signs: Counter[int] = Counter(rows.filter(new & ~old).values_list("published_id", flat=True).iterator())
    signs.subtract(rows.filter(old & ~new).values_list("published_id", flat=True).iterator())
    return {number: sign for number, sign in signs.items() if sign}


def _texts(alias: str, ids: list[int]) -> Iterator[tuple[int, str]]:
    for part in chunks(ids, _READ_AT_ONCE):
        rows = PublishedVersion.objects.using(alias).filter(pk__in=part).order_by("pk")
        yield from rows.values_list("pk", "text")
