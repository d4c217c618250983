"""Many cases, phase by phase, over all lanes; and the table of what they showed."""

import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.faults import injection, on_postgres, proof, site
from tests.faults.injection import KILL, Injection
from tests.faults.lane import Case, Lane, Outcome, Verdicts, lanes
from tests.postgres import Server

GOLDEN = 0.6180339887498949  # spreads any number of points evenly over a range
DOUBLE = "killed again while resuming"
ON_POSTGRES = "PostgreSQL: "
PROVED_TOGETHER = 20
LANES = 3  # a crawl of the small site waits as long as it works
COLUMNS = {
    "points": "kill points", "in_time": "struck in time", "lost": "lost", "duplicated": "duplicated",
    "imbalances": "imbalances", "other": "other", "refetched": "most refetched",
}  # fmt: skip
ERRORS = ("error=ENOSPC", "error=EIO")


@dataclass
class Row:
    """The figures of one phase. A phase in which nothing dies is shown, and never counted among the kills."""

    phase: str
    deadly: bool = True
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
    where: str = ""  # stands before the name of each system call

    def row(self, phase: str, deadly: bool = True) -> Row:
        return self.rows.setdefault(phase, Row(phase, deadly))

    def add(self, outcome: Outcome) -> None:
        for number, blow in enumerate(outcome.case.injections):
            row = self.row(self.where + blow.phase if number == 0 else DOUBLE, deadly=blow.effect == KILL)
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
    def kills(self) -> int:
        """Kill points that count: something died by it, in time."""
        return sum(row.in_time for row in self.rows.values() if row.deadly)

    def merge(self, other: "Figures") -> None:
        for row in other.rows.values():
            self.row(row.phase, row.deadly).take(row)
        self.faults += other.faults

    def table(self) -> str:
        total = Row("all kills")
        deadly = [row for row in self.rows.values() if row.deadly]
        for row in deadly:
            total.take(row)
        lines = [f"{'phase':<38}" + "".join(f"{name:>15}" for name in COLUMNS.values())]
        lines += map(_line, [*deadly, total])
        others = [row for row in self.rows.values() if not row.deadly]
        return "\n".join([*lines, *(["nothing died by these:"] if others else []), *map(_line, others)])


def _line(row: Row) -> str:
    return f"{row.phase:<38}" + "".join(f"{getattr(row, name):>15}" for name in COLUMNS)


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


@dataclass(frozen=True)
class Wanted:
    """What must have struck in time before the series is over."""

    kills: int = 0
    doubles: int = 0  # cases killed twice in time


class Deck:
    """The cases to play, for several lanes; more are dealt while too few of them struck in time."""

    def __init__(self, cases: list[Case], wanted: Wanted, counts: dict[str, tuple[int, int]], seconds: float) -> None:
        self._cases, self._wanted = iter(cases), wanted
        more = "pwrite64" if counts["pwrite64"][1] > counts["sendto"][1] else "sendto"
        self._more, self._doubles = _kills(more, *counts[more]), _doubles(counts)
        self._deadline = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._struck = Wanted()
        self.figures = Figures()

    def deal(self) -> Case | None:
        with self._lock:
            if time.monotonic() >= self._deadline:
                return None
            if (case := next(self._cases, None)) is not None:
                return case
            if self._struck.doubles < self._wanted.doubles:
                return next(self._doubles)
            return next(self._more) if self._struck.kills < self._wanted.kills else None

    def played(self, outcome: Outcome) -> None:
        with self._lock:
            struck, kills = self._struck, outcome.kills
            self._struck = Wanted(struck.kills + kills, struck.doubles + (kills == 2))

    def proved(self, outcome: Outcome) -> None:
        with self._lock:
            self.figures.add(outcome)

    def broke(self, case: Case, error: Exception) -> None:
        with self._lock:
            self.figures.faults.append(f"{case}: the harness itself failed: {error!r}")


def play(folder: Path, wanted: dict[str, int], errors: int, doubles: int, seconds: float = 1e9) -> Figures:
    """Everything planned, as far as the time allows."""
    with lanes(folder, LANES, site.prepared(folder / "prepared")) as made:
        calm, counts = made[0].measure()
        least = Wanted(sum(wanted.values()) + 2 * doubles, doubles)
        return _play(made, calm, Deck(plan(counts, wanted, errors, doubles), least, counts, seconds))


def play_postgres(folder: Path, each: int, seconds: float = 1e9, count: int = 1) -> Figures:
    """So many kills at each of the two calls by which a crawl talks to PostgreSQL and to the site."""
    server = Server.installed()
    if server is None:
        return Figures(faults=["PostgreSQL is not installed: no crawl on it was killed"])
    try:
        with lanes(folder, count, on_postgres.prepared(folder / "prepared", server)) as made:
            calm, counts = made[0].measure()
            cases = plan(counts, {"sendto": each, "recvfrom": each}, 0, 0)
            deck = Deck(cases, Wanted(2 * each), counts, seconds)
            deck.figures.where = ON_POSTGRES
            return _play(made, calm, deck)
    finally:
        server.stop()


def play_initializer(folder: Path) -> Figures:
    """A kill at each flush up to the first request: the run, the excursions, one queue after the other."""
    with lanes(folder, LANES, site.prepared(folder / "prepared")) as made:
        calm, counts = made[0].measure()
        cases = [Case((Injection("fdatasync", at),)) for at in range(1, counts["fdatasync"][0] + injection.FILLING + 1)]
        return _play(made, calm, Deck(cases, Wanted(), counts, 1e9))


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
        except (AssertionError, OSError, ValueError, psycopg.Error) as error:
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
    broken = proof.of_houses([one.house for one in done])
    for outcome in done:
        outcome.imbalances += broken[outcome.house.webcrawl]
        deck.proved(outcome)
        if outcome.clean:
            outcome.house.remove()
