"""Many cases, phase by phase, over all lanes; and the table of what they showed."""

import itertools
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import injection, proof
from tests.faults.house import BASE
from tests.faults.injection import Injection
from tests.faults.lane import Case, Lane, Outcome, Verdicts, lanes

GOLDEN = 0.6180339887498949  # spreads any number of points evenly over a range
DOUBLE = "killed again while resuming"
PROVED_TOGETHER = 20
LANES = 3  # a crawl of the small site waits as long as it works
COLUMNS = {
    "points": "kill points", "in_time": "struck in time", "lost": "lost", "duplicated": "duplicated",
    "imbalances": "imbalances", "other": "other", "refetched": "most refetched",
}  # fmt: skip
ERRORS = ("error=ENOSPC", "error=EIO")


@dataclass
class Row:
    """The figures of one phase."""

    phase: str
    points: int = 0
    in_time: int = 0
    lost: int = 0
    duplicated: int = 0
    imbalances: int = 0
    other: int = 0
    refetched: int = 0  # the most by one kill

    def take(self, other: "Row") -> None:
        for name in COLUMNS:
            old, new = getattr(self, name), getattr(other, name)
            setattr(self, name, max(old, new) if name == "refetched" else old + new)


@dataclass
class Figures:
    rows: dict[str, Row] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def row(self, phase: str) -> Row:
        return self.rows.setdefault(phase, Row(phase))

    def add(self, outcome: Outcome) -> None:
        for number, blow in enumerate(outcome.case.injections):
            row = self.row(blow.phase if number == 0 else DOUBLE)
            row.points += 1
            row.in_time += blow in outcome.struck[number:]
        row.lost += len(outcome.lost)
        row.duplicated += len(outcome.duplicated)
        row.imbalances += len(outcome.imbalances)
        row.other += len(outcome.other)
        row.refetched = max(row.refetched, outcome.refetched)
        if not outcome.clean:
            self.faults.append(outcome.sentences)

    @property
    def in_time(self) -> int:
        return sum(row.in_time for row in self.rows.values())

    def merge(self, other: "Figures") -> None:
        for row in other.rows.values():
            self.row(row.phase).take(row)
        self.faults += other.faults

    def table(self) -> str:
        total = Row("all")
        for row in self.rows.values():
            total.take(row)
        lines = [f"{'phase':<34}" + "".join(f"{name:>15}" for name in COLUMNS.values())]
        for row in [*self.rows.values(), total]:
            lines.append(f"{row.phase:<34}" + "".join(f"{getattr(row, name):>15}" for name in COLUMNS))
        return "\n".join(lines)


def plan(counts: dict[str, tuple[int, int]], wanted: dict[str, int], errors: int, doubles: int) -> list[Case]:
    """The cases, the phases mixed so that any first part of them is a fair sample."""
    phases = [list(itertools.islice(_kills(name, *counts[name]), number)) for name, number in wanted.items()]
    phases.append(list(itertools.islice(_errors(counts), errors)))
    phases.append(list(itertools.islice(_doubles(counts), doubles)))
    spread = [((number + 0.5) / len(cases), case) for cases in phases for number, case in enumerate(cases)]
    return [case for _, case in sorted(spread, key=lambda pair: pair[0])]


def _points(low: int, high: int) -> Iterator[int]:
    for number in itertools.count():
        yield low + int((number * GOLDEN) % 1.0 * (high - low))


def _kills(syscall: str, low: int, high: int) -> Iterator[Case]:
    return (Case((Injection(syscall, at),)) for at in _points(low, high))


def _errors(counts: dict[str, tuple[int, int]]) -> Iterator[Case]:
    points = {name: _points(*counts[name]) for name in ("fdatasync", "pwrite64")}
    for effect, name in itertools.cycle(itertools.product(ERRORS, points)):
        yield Case((Injection(name, next(points[name]), effect),))


def _doubles(counts: dict[str, tuple[int, int]]) -> Iterator[Case]:
    """The second kill strikes in the first half of the second crawl, wherever the first one fell."""
    low, high = counts["fdatasync"]
    second = {name: _points(2, max(3, counts[name][1] // 3)) for name in ("pwrite64", "fdatasync")}
    for at, name in zip(_points(low, low + (high - low) * 2 // 3), itertools.cycle(second)):
        yield Case((Injection("fdatasync", at), Injection(name, next(second[name]))))


class Deck:
    """The cases to play, for several lanes; more are dealt while too few of them struck in time."""

    def __init__(self, cases: list[Case], more: Iterator[Case], at_least: int, seconds: float) -> None:
        self._cases, self._more, self._at_least = iter(cases), more, at_least
        self._deadline = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._struck = 0
        self.figures = Figures()

    def deal(self) -> Case | None:
        with self._lock:
            if time.monotonic() >= self._deadline:
                return None
            case = next(self._cases, None)
            return case or (next(self._more) if self._struck < self._at_least else None)

    def played(self, outcome: Outcome) -> None:
        with self._lock:
            self._struck += len(outcome.struck)

    def proved(self, outcome: Outcome) -> None:
        with self._lock:
            self.figures.add(outcome)

    def broke(self, case: Case, error: Exception) -> None:
        with self._lock:
            self.figures.faults.append(f"{case}: the harness itself failed: {error!r}")


def play(folder: Path, wanted: dict[str, int], errors: int, doubles: int, seconds: float = 1e9) -> Figures:
    """Everything planned, as far as the time allows."""
    with lanes(folder, LANES) as made:
        calm, counts = made[0].measure()
        at_least = sum(wanted.values()) + errors + 2 * doubles
        more = _kills("pwrite64", *counts["pwrite64"])
        return _play(made, calm, Deck(plan(counts, wanted, errors, doubles), more, at_least, seconds))


def play_initializer(folder: Path) -> Figures:
    """A kill at each flush up to the first request: the run, the excursions, one queue after the other."""
    with lanes(folder, LANES) as made:
        calm, counts = made[0].measure()
        cases = [Case((Injection("fdatasync", at),)) for at in range(1, counts["fdatasync"][0] + injection.FILLING + 1)]
        return _play(made, calm, Deck(cases, iter(()), 0, 1e9))


def _play(made: list[Lane], calm: Verdicts, deck: Deck) -> Figures:
    threads = [threading.Thread(target=_run, args=(lane, calm, deck)) for lane in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return deck.figures


def _run(lane: Lane, calm: Verdicts, deck: Deck) -> None:
    done: list[Outcome] = []
    while (case := deck.deal()) is not None:
        try:
            done.append(lane.play(case, calm))
        except (AssertionError, OSError, ValueError) as error:
            deck.broke(case, error)
            break
        deck.played(done[-1])
        if len(done) == PROVED_TOGETHER:
            _prove(lane, done, deck)
            done = []
    _prove(lane, done, deck)


def _prove(lane: Lane, done: list[Outcome], deck: Deck) -> None:
    if not done:
        return
    broken = proof.of_houses([one.folder for one in done], lane.house.environment, BASE)
    for outcome in done:
        outcome.imbalances += broken[str(outcome.folder)]
        deck.proved(outcome)
        if outcome.clean:
            _remove(outcome.folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder)
    _drop(folder.with_name(f"{folder.name}.{ending}") for ending in ("out", "strace"))
    shutil.rmtree(folder.with_name(f"{folder.name}.look"), ignore_errors=True)


def _drop(files: Iterable[Path]) -> None:
    for path in files:
        path.unlink(missing_ok=True)
