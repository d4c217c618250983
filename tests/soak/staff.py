"""Owns: the processes of the house as the Procfile names them, their supervisor, and the hand that strikes them.

Does not: prove anything. What dies is started again at once, as a process manager does; what dies without having been
struck is an error.
"""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from honcho.environ import parse_procfile

from tests.bench import machine
from tests.flow.house import BASE, House, until
from tests.soak.people import Figures

CALM = 20.0  # seconds after a blow in which the web server may refuse
JOBS = {
    "web": "web worker",
    "public": "web worker",
    "front": "front",
    "worker-crawl": "crawler and parsers",
    "worker-propagate": "propagation",
    "worker-control": "control job",
    "worker-preview": "preview",
}
FOR_WORK = 20.0  # seconds to wait for somebody at work who can be struck
BLOWS = (
    "worker-crawl", "crawler", "web, one of its workers", "Redis, restarted empty", "worker-propagate",
    "tick", "crawler", "web, asked to end", "worker-control", "propagation", "web", "worker-crawl, asked to end",
    "Redis", "parser", "front", "public, one of its workers", "worker-preview", "public", "front, asked to end",
)  # fmt: skip


class Staff:
    def __init__(self, house: House, figures: Figures) -> None:
        self.house, self._figures = house, figures
        lines = parse_procfile((BASE / "Procfile").read_text()).processes
        self._lines = {name: line for name, line in lines.items() if name != "demo"}
        self._running: dict[str, subprocess.Popen] = {}
        self._struck: set[int] = set()  # process ids that were struck: their death is no surprise
        self._web_struck = -CALM
        self._over = threading.Event()
        self._guard = threading.Lock()
        self._threads: list[threading.Thread] = []

    def begin(self) -> None:
        for name in self._lines:
            self._start(name)
        until(lambda: self._answers(), "the web server answers", 60)
        self._thread(self._supervise)

    def strike_until(self, deadline: Callable[[], bool], every: float) -> None:
        self._thread(lambda: self._strikes(deadline, every))

    def end(self) -> None:
        """Nobody strikes or starts anything any more; then everybody is asked to end, and ends."""
        self._over.set()
        for thread in self._threads:
            thread.join(FOR_WORK + 30)
        for name, process in self._running.items():
            if name != "redis":
                process.terminate()
        for name, process in self._running.items():
            with suppress(subprocess.TimeoutExpired):
                if name != "redis":
                    process.wait(30)
        self._running["redis"].terminate()
        self._running["redis"].wait(30)

    def away(self) -> bool:
        """The web server was struck a moment ago."""
        return time.monotonic() - self._web_struck < CALM

    def kinds(self) -> dict[int, str]:
        """Each living process with what it is."""
        found = {}
        for name, process in list(self._running.items()):
            for pid in machine.family(process.pid):
                found[pid] = JOBS.get(name, name) if pid != process.pid else name
        return found

    # -- the supervisor --------------------------------------------------------------------------------------------

    def _start(self, name: str) -> None:
        self._running[name] = self.house.start("sh", "-c", self._lines[name])

    def _thread(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _supervise(self) -> None:
        while not self._over.wait(0.5):
            with self._guard:
                for name, process in self._running.items():
                    if process.poll() is None:
                        continue
                    if process.pid not in self._struck:
                        self._figures.wrong(f"{name} ended by itself with {process.returncode}")
                    self._figures.add("restarts")
                    self._start(name)

    def _answers(self) -> bool:
        from clearinghouse.local.serve import answers

        return answers(self.house.port, 2.0)

    # -- the hand that strikes -------------------------------------------------------------------------------------

    def _strikes(self, deadline: Callable[[], bool], every: float) -> None:
        turn = 0
        while not deadline() and not self._over.wait(every):
            self.strike(BLOWS[turn % len(BLOWS)])
            turn += 1

    def strike(self, blow: str) -> bool:
        """Whether there was somebody to strike."""
        with self._guard:
            waited = blow in ("crawler", "propagation", "parser")
        deadline = time.monotonic() + (FOR_WORK if waited else 1.0)
        while not self._over.is_set() and time.monotonic() < deadline:
            with self._guard:
                if self._blow(blow):
                    self._figures.add(f"struck: {blow}")
                    return True
            time.sleep(0.1)
        return False

    def _blow(self, blow: str) -> bool:
        name, _, how = blow.partition(", ")
        if name in ("front", "web", "public"):
            self._web_struck = time.monotonic()
        if name in ("crawler", "parser", "propagation"):
            return self._strike_job("worker-propagate" if name == "propagation" else "worker-crawl", name == "parser")
        if how == "one of its workers":
            children = machine.family(self._running[name].pid)[1:]
            return bool(children) and _signal(children[0], signal.SIGKILL)
        process = self._running[name.lower()]
        self._struck.add(process.pid)
        hit = _signal(process.pid, signal.SIGTERM if how == "asked to end" else signal.SIGKILL)
        if how == "restarted empty":
            process.wait(10)
            (self.house.folder / "redis.sock").unlink(missing_ok=True)
            shutil.rmtree(self.house.folder / "redis", ignore_errors=True)
        return hit

    def _strike_job(self, worker: str, parser: bool) -> bool:
        """The process in which a worker does its job, or one that this one has started."""
        family = machine.family(self._running[worker].pid)[1:]
        parents = {pid: _parent(pid) for pid in family}
        job = [pid for pid, parent in parents.items() if parent == self._running[worker].pid]
        helpers = [pid for pid in family if pid not in job]
        # A job is struck while it is at work: a crawler has parsers beside it.
        chosen = helpers if parser else job if helpers or worker == "worker-propagate" else []
        return bool(chosen) and _signal(chosen[0], signal.SIGKILL)


def _signal(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0
