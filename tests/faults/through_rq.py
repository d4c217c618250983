"""kill -9 through RQ: a whole house with Redis, the tick and two crawl workers, killed in part again and again; on
PostgreSQL the database is killed as well.

Each run crawls two documents. The house is repaired as a supervisor would: what died is started again, Redis empty.
"""

import itertools
import os
import re
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psycopg import OperationalError
from redis import Redis

from tests.faults.house import House as Prepared
from tests.faults.on_postgres import WEBCRAWL
from tests.faults.series import Figures
from tests.faults.site import make
from tests.flow.house import House, until
from tests.postgres import Server
from tests.sites.graph import Page, Site, serve

PAGES = 240  # of each document; sixteen at a time
DELAY = 0.8
AWAY = 7.0  # long enough for a worker to notice
RESUME_SECONDS = 30.0  # goal 3
WORKERS = 2
DATABASE = "crawl"  # on PostgreSQL
FLUSHED = "FLUSHALL"
ASLEEP = "horse asleep, awake afterwards"
ALIVE = (FLUSHED, ASLEEP)  # nobody dies by these: they are no kills
RUNS = "(whole runs, proved afterwards)"


@dataclass
class Kills:
    figures: Figures = field(default_factory=Figures)
    seconds: dict[str, list[float]] = field(default_factory=dict)  # phase -> until the next page was committed

    def table(self) -> str:
        lines = [self.figures.table(), "", f"{'seconds until it went on':<38}{'median':>16}{'worst':>16}"]
        for phase, measured in self.seconds.items():
            ordered = sorted(measured)
            lines.append(f"{phase:<38}{ordered[len(ordered) // 2]:>16.1f}{ordered[-1]:>16.1f}")
        return "\n".join(lines)


def pages(documents: int) -> dict[str, Page]:
    """For each document a tree of pages under a folder of its own, with links across."""
    site = {}
    for document in range(1, documents + 1):
        for n in range(PAGES):
            children = [child for child in (3 * n + 1, 3 * n + 2, 3 * n + 3) if child < PAGES]
            links = [f"/{document}/{to}" for to in (*children, (7 * n) % PAGES)]
            site[f"/{document}/{n}"] = Page(links, delay=DELAY)
    return site


class Crowd:
    """The house, its site, and the processes that are to be killed."""

    def __init__(self, house: House, site: Site, server: Server | None = None) -> None:
        self.house, self.site, self.server = house, site, server
        self.redis = house.start_redis()
        house.start_worker("control")
        house.start_manage("tick")
        self.workers = [house.start_worker("crawl") for _ in range(WORKERS)]
        self.blows: dict[str, Callable[[], bool]] = {
            "worker": self._worker,
            "horse": self._horse,
            "worker and horse": self._both,
            "parser": self._parser,
            "Redis, restarted empty": self._redis,
            FLUSHED: self._flush,
            "Redis and horse": self._redis_and_horse,
            "Redis, away for 7 s": self._redis_away,
        }
        if server:
            self.blows |= {"PostgreSQL, whole": self._database, "PostgreSQL, one backend": self._backend}
        self.asleep: list[int] = []
        self.complaints: list[str] = []  # what should not happen between two blows
        self.settled: dict[str, int] = {}  # committed page -> how often it had been asked for

    # -- what is killed -----------------------------------------------------------------------------------------

    def serving(self) -> list[int]:
        """Process ids of the instances that serve a queue now."""
        found = self.rows(
            "SELECT DISTINCT i.pid FROM active_queue q JOIN instance i ON i.id = q.instance_id WHERE i.alive"
        )
        return [pid for (pid,) in found if _parent(pid)]

    def _worker(self) -> bool:
        horses = self.serving()
        parent = _parent(horses[0]) if horses else 0
        struck = bool(parent) and _kill(parent)
        if struck:
            until(lambda: not _parent(horses[0]), "the horse dies with its worker", 5)
        return struck

    def _horse(self) -> bool:
        horses = self.serving()
        return bool(horses) and _kill(horses[0])

    def _both(self) -> bool:
        horses = self.serving()
        parent = _parent(horses[0]) if horses else 0
        return bool(parent) and _kill(parent) and _kill(horses[0], may_be_gone=True)

    def _parser(self) -> bool:
        parsers = [pid for horse in self.serving() for pid in _children(horse)]
        return bool(parsers) and _kill(parsers[0])

    def _redis(self, away: float = 0.0) -> bool:
        self.redis.kill()
        self.redis.wait()
        (self.house.folder / "redis.sock").unlink(missing_ok=True)
        shutil.rmtree(self.house.folder / "redis", ignore_errors=True)
        time.sleep(away)
        self.redis = self.house.start_redis()
        return True

    def _redis_away(self) -> bool:
        """Losing the bell stops no crawl: instances go on, workers stay."""
        before = self.all_done()
        self._redis(AWAY)
        if self.all_done() == before:
            self.complaints.append("without Redis the crawl stood still")
        return True

    def _flush(self) -> bool:
        Redis(unix_socket_path=str(self.house.folder / "redis.sock")).flushall()
        return True

    def _redis_and_horse(self) -> bool:
        horses = self.serving()
        return bool(horses) and _kill(horses[0]) and self._redis()

    def _database(self) -> bool:
        """Every process of it at once, without a checkpoint; started again as a supervisor would."""
        assert self.server
        before = self.server.pid
        self.server.crash()
        died = bool(before) and not _parent(before)
        self.server.start()
        return died

    def _backend(self) -> bool:
        """kill -9 of one: PostgreSQL then ends all its connections, and recovers by itself."""
        assert self.server
        found = self.rows(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend' ORDER BY state_change DESC"
        )
        struck = bool(found) and _kill(found[0][0])
        if struck:
            until(lambda: not _parent(found[0][0]), "the backend dies", 5)
        return struck

    def horse_asleep(self) -> bool:
        """A process that hangs (SIGSTOP): it is taken for dead, and must write nothing when it wakes up."""
        horses = self.serving()
        if horses:
            os.kill(horses[0], signal.SIGSTOP)
            self.asleep.append(horses[0])
        return bool(horses)

    def wake(self) -> None:
        for pid in self.asleep:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.asleep = []

    def repair(self) -> None:
        """Start again what died."""
        for number, worker in enumerate(self.workers):
            if worker.poll() is not None:
                if worker.returncode != -signal.SIGKILL:
                    said = self.house.log[-3000:]
                    self.complaints.append(f"a worker nobody killed ended by itself, exit {worker.returncode}: {said}")
                self.workers[number] = self.house.start_worker("crawl")

    # -- what the rows say --------------------------------------------------------------------------------------

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._of_postgres(query) if self.server else self._of_sqlite(query)

    def _of_postgres(self, query: str) -> list[tuple[Any, ...]]:
        """Also while it recovers."""
        assert self.server
        deadline = time.monotonic() + AWAY
        while True:
            try:
                return self.server.execute(query, database=DATABASE)
            except OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _of_sqlite(self, query: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(f"file:{self.house.folder}/webcrawl.sqlite3?mode=ro", uri=True, timeout=20)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def done(self, run: int) -> int:
        return int(self.rows(f"SELECT sum(crawled) FROM excursion WHERE run_id = {run}")[0][0] or 0)

    def all_done(self) -> int:
        return int(self.rows("SELECT sum(crawled) FROM excursion")[0][0] or 0)

    def settle(self, run: int) -> None:
        """Remember what is committed: nobody may ask for it again."""
        for path in self.stored(run):
            self.settled.setdefault(path, self.site.requests[path])

    def stored(self, run: int) -> list[str]:
        found = self.rows(
            "SELECT l.url FROM ledger l JOIN excursion e ON e.id = l.excursion_id "
            f"WHERE e.run_id = {run} AND l.outcome = 'crawled'"
        )
        return ["/" + url.split("/", 3)[-1] for (url,) in found]

    def again(self) -> int:
        return sum(count - 1 for path, count in self.site.requests.copy().items() if path != "/robots.txt")

    def ended(self, run: int) -> bool:
        return bool(self.rows(f"SELECT 1 FROM run WHERE id = {run} AND finished_at IS NOT NULL"))

    def in_between(self, run: int) -> bool:
        counted = self.rows(f"SELECT 1 FROM excursion WHERE run_id = {run} AND unfinished AND found > 0 AND queued > 0")
        return bool(counted) and not self.ended(run)


def crawl(crowd: Crowd, documents: tuple[int, int], kills: Kills, phases: Iterator[str], most: int) -> int:
    """One run with up to so many kills, and what does not kill between them; how many of the kills count."""
    launched = crowd.house.manage("launch", *(word for d in documents for word in ("--doc", d)), "--speed", "fast")
    run, struck = int(launched["run"]), 0
    while struck < most and not crowd.ended(run):
        before = crowd.done(run)
        if not _goes_on(crowd, run, before, 60.0):
            break
        struck += _strike(crowd, run, next(phases), kills)
    until(lambda: crowd.ended(run), f"run {run} ends\n{crowd.house.log[-2000:]}", 90)
    _prove(crowd, run, documents, struck, kills)
    return struck


def _strike(crowd: Crowd, run: int, phase: str, kills: Kills) -> int:
    row = kills.figures.row(phase, deadly=phase not in ALIVE)
    row.points += 1
    again = crowd.again()
    died = crowd.horse_asleep() if phase == ASLEEP else crowd.blows[phase]()
    begun, before = time.monotonic(), crowd.done(run)
    counts = died and crowd.in_between(run)
    crowd.settle(run)
    crowd.repair()
    went_on = _goes_on(crowd, run, before, RESUME_SECONDS + 30)
    crowd.wake()
    if counts:
        row.in_time += 1
        row.refetched = max(row.refetched, crowd.again() - again)
        seconds = time.monotonic() - begun
        kills.seconds.setdefault(phase, []).append(seconds)
        if not went_on or seconds > RESUME_SECONDS:
            row.other += 1
            kills.figures.faults.append(f"run {run} after {phase}: it went on after {seconds:.0f} s")
    return int(counts and row.deadly)


def _goes_on(crowd: Crowd, run: int, before: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        crowd.repair()
        if crowd.ended(run) or crowd.done(run) > before:
            return True
        time.sleep(0.05)
    return False


def _prove(crowd: Crowd, run: int, documents: tuple[int, int], struck: int, kills: Kills) -> None:
    state = crowd.rows(f"SELECT state FROM run WHERE id = {run}")[0][0]
    stored = crowd.stored(run)
    expected = {f"/{d}/{n}" for d in documents for n in range(PAGES)}
    versions = crowd.rows(
        f"SELECT max(url) FROM page_version WHERE run_id = {run} GROUP BY doc_id, url_key HAVING count(*) > 1"
    )
    again = [path for path, count in crowd.settled.items() if crowd.site.requests[path] > count]
    checked = crowd.house.run("check_ledger", run)
    row = kills.figures.row(RUNS, deadly=False)
    row.points += 1
    row.lost += len(expected - set(stored)) + len(set(stored) - expected)
    row.duplicated += len(stored) - len(set(stored)) + len(versions)
    row.imbalances += checked.returncode != 0
    row.other += bool(again) + (state != "finished") + len(crowd.complaints)
    if row.lost or row.duplicated or row.imbalances or row.other:
        kills.figures.faults.append(
            f"run {run} ended {state} after {struck} kills: lost {expected - set(stored)}, versions {versions}, "
            f"{len(stored)} rows; committed and fetched again: {again}; {crowd.complaints}; "
            f"{checked.stdout}{checked.stderr}"
        )


def kill_runs(points: int, most: int, deadline: float, *, asleep: bool = False, server: Server | None = None) -> Kills:
    """Runs in a house of their own until so many kills have struck, at most so many in one run."""
    # Not all of them strike in time: half as many documents more than needed.
    documents, kills = 2 * (points * 3 // (2 * most) + 2), Kills()
    with crowds(documents, server) as crowd:
        phases = itertools.cycle([*crowd.blows, *crowd.blows, *([ASLEEP] if asleep else [])])
        struck, document = 0, 1
        while struck < points and document < documents and time.monotonic() < deadline:
            try:
                struck += crawl(crowd, (document, document + 1), kills, phases, min(most, points - struck))
            except AssertionError as error:
                kills.figures.faults.append(f"documents {document} and {document + 1}: {error}")
                break
            document += 2
    return kills


def on_postgres(points: int, most: int, deadline: float, *, asleep: bool = False) -> Kills:
    """The same in a house whose crawls are in PostgreSQL; in one of files where it is not installed."""
    server = Server.installed()
    try:
        return kill_runs(points, most, deadline, asleep=asleep, server=server)
    finally:
        if server:
            server.stop()


def together(parts: list[Kills]) -> Kills:
    """The figures of several houses as one."""
    whole = Kills()
    for part in parts:
        whole.figures.merge(part.figures)
        for phase, seconds in part.seconds.items():
            whole.seconds.setdefault(phase, []).extend(seconds)
    return whole


@contextmanager
def crowds(documents: int, server: Server | None = None) -> Iterator[Crowd]:
    """A fresh house with so many documents, started; its crawls in this PostgreSQL, when there is one."""
    above = Path(tempfile.mkdtemp(prefix="kills-"))  # a short name: Redis listens on a socket in it
    house, databases = House(above / "var"), {WEBCRAWL: server.url(DATABASE)} if server else {}
    house.env |= {"CLEARINGHOUSE_ALLOWED_NETWORKS": "127.0.0.0/8", **databases}
    try:
        with serve(pages(documents)) as site:
            points = [[[site.url(f"/{d}/0"), "--depth", "99"]] for d in range(1, documents + 1)]
            make(Prepared(above / "var", databases), points)
            yield Crowd(house, site, server)
    finally:
        house.close()
        shutil.rmtree(above, ignore_errors=True)


def _parent(pid: int) -> int:
    """Its parent; 0 when the process is gone or dead."""
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        if not re.search(r"^State:\s+[ZX]", status, re.MULTILINE):
            return int(re.findall(r"^PPid:\s+(\d+)", status, re.MULTILINE)[0])
    return 0


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _kill(pid: int, may_be_gone: bool = False) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return may_be_gone
    return True
