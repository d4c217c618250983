"""Propagations killed at any moment while people search: nothing empty, nothing mixed, the public home within a minute.

One house; each point writes a new crawl, kills `propagate` at one system call, starts it again and compares the three
targets. Readers search all the while. Every third point begins again with a tick, as where the worker died too; every
fifth writes everything again. The same with all four databases on a PostgreSQL, at the words sent to it.
"""

import itertools
import json
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults import injection
from tests.faults.house import BASE, House
from tests.faults.injection import Injection
from tests.faults.on_postgres import PostgresHouse
from tests.faults.published import COUNT
from tests.faults.warm import Warm
from tests.postgres import Server

CALLS = ("fdatasync", "pwrite64")
ON_POSTGRES = 1 / 6  # as many points again, with the databases there
GOLDEN = 0.6180339887498949
READERS = ("0", "15")  # how nice they are: one takes what it can get, one leaves room for the propagation
HOME = 60.0  # seconds from the restart
PATIENCE = 120.0
ENOUGH = 100_000  # reads of the long form
LONG = 300  # points from which that many reads are promised


@dataclass
class Totals:
    """What a whole series showed."""

    points: int = 0
    kills: int = 0  # the process died by it, while it was at work
    away: int = 0  # of these: while the public was on backup
    home: float = 0.0  # seconds after a restart until the public was home for good, the worst
    reads: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0  # seconds of a read
    faults: list[str] = field(default_factory=list)
    steps: Counter[str] = field(default_factory=Counter)  # where it was killed

    def table(self) -> str:
        steps = ", ".join(f"{count} in {name}" for name, count in sorted(self.steps.items()))
        return (
            f"{self.points} kill points, {self.kills} killed a propagation at work ({steps}), "
            f"{self.away} of them while the public was on backup\n"
            f"{self.reads['reads']:,} reads: {self.reads['empty']} empty, {self.reads['mixed']} of mixed generations, "
            f"{self.reads['refused']} refused; the slowest took {self.slowest:.2f} s\n"
            f"the public was home {self.home:.1f} s after a restart at the latest; {len(self.faults)} faults"
        )


class Beside:
    """A process of tests.faults.published: one JSON line in, one out."""

    def __init__(self, house: House, *words: str) -> None:
        environment = house.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.published", *words], cwd=BASE, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, *words: Any) -> dict[str, Any]:
        return self.tell(json.dumps(words))

    def tell(self, line: str) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"a process beside the propagation ended with {self.process.wait()}"
        return json.loads(line)

    def end(self) -> str:
        """Closes its input; what it still says."""
        try:
            return self.process.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.communicate()[0]


class Elsewhere(PostgresHouse):
    """A house with all its databases on a PostgreSQL. Readers never let go of it, so nobody waits for them."""

    def as_left(self, query: str) -> list[tuple[Any, ...]]:
        assert self.server
        return self.server.execute(query, database=self.webcrawl)

    @classmethod
    def prepared(cls, folder: Path, server: Server) -> "Elsewhere":
        names = ("DB", "DB_WEBCRAWL", "DB_PRIMARY", "DB_BACKUP")
        house = cls(folder, {f"CLEARINGHOUSE_{name}": server.url(f"away_{name.lower()}") for name in names}, server)
        house.manage("prepare")
        return house


class Lookout(threading.Thread):
    """Notes when the public was last away from home."""

    def __init__(self, house: House) -> None:
        super().__init__(daemon=True)
        self.house, self.last_away, self.over = house, 0.0, threading.Event()

    def _connect(self) -> Any:
        if isinstance(self.house, PostgresHouse):
            assert self.house.server
            return self.house.server.connect(self.house.webcrawl)
        return sqlite3.connect(self.house.webcrawl, timeout=20, isolation_level=None)

    def run(self) -> None:
        with closing(self._connect()) as connection:
            while not self.over.wait(0.02):
                row = connection.execute("SELECT serving FROM public_switch").fetchone()
                if row and row[0] != "primary":
                    self.last_away = time.monotonic()


class Scene:
    """The house, who writes, who reads, who looks out."""

    def __init__(self, house: House) -> None:
        self.house, self.crawl = house, 1
        self.calls = ("sendto",) if isinstance(house, PostgresHouse) else CALLS
        self.warm = Warm(house)
        self.writer = Beside(house, "write")
        self.writer.answer()
        self.next_crawl()
        self._go_on("propagate", "--json")
        self.readers = [Beside(house, "read", nice) for nice in READERS]
        for reader in self.readers:
            reader.answer()
        self.lookout = Lookout(house)
        self.lookout.start()

    def next_crawl(self) -> None:
        self.crawl += 1
        self.writer.ask("crawl", self.crawl)

    def _go_on(self, *arguments: str) -> str:
        """A command to its end; what is wrong with how it ended."""
        self.warm.start(self.house, list(arguments))
        ended = self.warm.wait(PATIENCE)
        return "" if ended.code == 0 else f"{' '.join(arguments)} ended with {ended.code}: {ended.output[-500:]}"

    def measure(self) -> dict[str, int]:
        """How often an undisturbed propagation makes each system call."""
        self.next_crawl()
        return injection.counted(self.warm, self.house, ["propagate"], self.calls)

    def strike(self, number: int, blow: Injection, totals: Totals) -> None:
        self.next_crawl()
        words = ["propagate", "--full"] if number % 5 == 4 else ["propagate"]
        struck = injection.run(self.warm, self.house, words, blow)
        totals.points += 1
        if struck.killed:
            step, away = self._where()
            totals.kills += bool(step)
            totals.away += away
            totals.steps[step or "nothing begun"] += 1
        elif struck.ended.code != 0:
            totals.faults.append(f"{blow}: ended with {struck.ended.code}: {struck.ended.output}")
        again = time.monotonic()
        told = [self._go_on("tick", "--once", "--json")] if number % 3 == 2 else []
        told.append(self._go_on("propagate", "--json"))
        totals.home = max(totals.home, self.lookout.last_away - again)
        totals.faults += [f"{blow}: {sentence}" for sentence in [*filter(None, told), *self._wrong()]]

    def _where(self) -> tuple[str, bool]:
        """The step it was killed in, and whether the public was away."""
        rows = self.house.as_left(
            "SELECT s.name || ' ' || s.target FROM propagation_step s JOIN propagation p ON p.id = s.propagation_id "
            "WHERE p.state = 'working' AND s.state IN ('working', 'waiting') ORDER BY s.number LIMIT 1"
        )
        away = self.house.as_left("SELECT 1 FROM public_switch WHERE serving <> 'primary'")
        return (rows[0][0].strip() if rows else "", bool(away))

    def _wrong(self) -> list[str]:
        state = self.writer.ask("state", self.crawl)
        found = list(state["wrong"])
        if state["state"] != "done":
            found.append(f"it ended {state['state']}: {state['error']}")
        if len(set(state["generations"].values())) != 1 or len(set(state["digests"].values())) != 1:
            found.append(f"the targets differ: {state['generations']}")
        if not state["home"]:
            found.append("the public is not at home")
        return found

    def reads(self) -> int:
        return sum(reader.tell(COUNT).get("reads", 0) for reader in self.readers)

    def close(self, totals: Totals) -> None:
        for reader in self.readers:
            reader.process.stdin.write("\n")  # type: ignore[union-attr]
            told = json.loads(reader.end().splitlines()[-1])
            totals.faults += [f"a reader: {sentence}" for sentence in told.pop("sentences")]
            totals.slowest = max(totals.slowest, told.pop("slowest"))
            totals.reads.update(told)
        self.writer.end()
        self.lookout.over.set()
        self.lookout.join()
        self.warm.close()


def play(folder: Path, points: int, deadline: float, prepared: House | None = None) -> Totals:
    """So many kill points, spread evenly over the whole sequence of three targets; as far as the time allows."""
    house = prepared.copy(folder / "house") if prepared else House(folder / "house")
    if prepared is None:
        house.manage("prepare")
    totals = _struck(house, points, deadline)
    if points >= LONG and totals.reads["reads"] < ENOUGH:
        totals.faults.append(f"only {totals.reads['reads']:,} reads; {ENOUGH:,} were promised")
    return totals


def play_postgres(folder: Path, points: int, deadline: float) -> Totals:
    server = Server.installed()
    if server is None:
        return Totals(faults=["PostgreSQL is not installed: propagations on it were not killed"])
    try:
        return _struck(Elsewhere.prepared(folder / "elsewhere", server), points, deadline)
    finally:
        server.stop()


def _struck(house: House, points: int, deadline: float) -> Totals:
    totals, scene = Totals(), Scene(house)
    try:
        for number, blow in enumerate(blows(scene.measure())):
            enough = number >= points and (points < LONG or scene.reads() >= ENOUGH)
            if enough or time.monotonic() > deadline:
                break
            scene.strike(number, blow, totals)
    finally:
        scene.close(totals)
    if totals.home > HOME:
        totals.faults.append(f"the public was home only {totals.home:.0f} s after a restart")
    return totals


def blows(counts: dict[str, int]) -> Iterator[Injection]:
    """As many points at each system call; in a mixed order, so that a series cut short is spread evenly too."""
    calls = sorted(counts)
    for number in itertools.count():
        call = calls[number % len(calls)]
        share = (number // len(calls) * GOLDEN + 0.5) % 1
        yield Injection(call, 1 + int(share * counts[call]))
