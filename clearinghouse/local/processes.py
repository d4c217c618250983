"""Owns: the processes of the Procfile under one manager: started together, stopped together, no orphans.

Does not: know what they do. Called by: serve.

Each process is the leader of its own session. Redis goes last, so that workers can say goodbye to it. When this
manager dies in any way, the kernel tells each process to end. A process that ends by itself is started again, and
nobody else is touched; only when the pages cannot be served, again and again, does everything end.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from honcho.environ import expand_processes, parse_procfile
from honcho.manager import Manager
from honcho.printer import Printer
from honcho.process import Popen, Process

from clearinghouse import env

from ..operations.process_state import StoppedFor
from ..operations.workers import die_with_parent

LAST = "redis"
NEEDED = ("front", "web")  # without which nobody sees a page
KILL_AFTER_SECONDS = 7.0
LOOK_SECONDS = 1.0  # how often it is looked whether one is stopped
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds before a process that ended is started again
STEADY_SECONDS = 60.0  # who lived this long begins with the first pause again
MOST_ENDS = 4  # of the pages' process, one after the other


class Runner(Process):
    """A forked reader of one process's output; neither outlives its parent."""

    def run(self, events: Any = None, ignore_signals: bool = False) -> None:
        die_with_parent(signal.SIGKILL)
        self._child_ctor = partial(Popen, preexec_fn=partial(die_with_parent, signal.SIGTERM))
        super().run(events, ignore_signals)


@dataclass
class Ends:
    """How often a process ended shortly after its start, and when it is started again."""

    number: int = 0
    started: float = field(default_factory=time.monotonic)
    again: float = 0.0
    code: int = 0

    def note(self, code: int) -> float:
        """It ended now; the pause before it is started again."""
        now = time.monotonic()
        self.number = 1 if now - self.started > STEADY_SECONDS else self.number + 1
        pause = min(FIRST_PAUSE * 2 ** (self.number - 1), LONGEST_PAUSE)
        self.again, self.code = now + pause, code
        return pause


class House(Manager):
    """Honcho's manager with an order of stopping. `when_started` runs once in a thread beside the loop."""

    def __init__(self, when_started: Callable[["House"], None]) -> None:
        super().__init__(printer=Printer(sys.stdout))
        self._process_ctor = Runner
        self._when_started = when_started
        self._told: set[str] = set()
        self._ends: dict[str, Ends] = {}
        self._stopping_since = 0.0
        self._stopped = StoppedFor()
        self._looked = 0.0
        self.interrupted = False

    @property
    def stopping(self) -> bool:
        return self._stopping_since > 0

    def _start(self) -> None:
        super()._start()
        threading.Thread(target=self._when_started, args=(self,), daemon=True).start()

    def terminate(self) -> None:
        if not self.stopping:
            self._stopping_since = time.monotonic()
            self.interrupted = self.returncode in (128 + signal.SIGINT, 128 + signal.SIGTERM)
            for name, ends in self._ends.items():
                if ends.again:  # it waits to be started, and will not be
                    self._processes[name]["returncode"] = ends.code
            self._killall()

    def _all_started(self) -> bool:
        """The loop asks this ten times a second: the moment to tell those who could not be told before."""
        self._wake_stopped()
        if self.stopping:
            self._killall(force=time.monotonic() - self._stopping_since > KILL_AFTER_SECONDS)
        else:
            self._start_again()
        return bool(super()._all_started())

    def _wake_stopped(self) -> None:
        """A stopped process serves nobody and ends nothing; there is only one of each, so it is woken, not replaced."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        for name, process in self._processes.items():
            pid = process.get("pid")
            if pid is not None and "returncode" not in process and self._stopped.too_long(pid):
                self._tell(f"{name} was suspended: it is continued")
                signal_group(pid, signal.SIGCONT)

    def _start_again(self) -> None:
        for name, process in self._processes.items():
            ends = self._ends.setdefault(name, Ends())
            if (code := process.get("returncode")) is not None:
                pause = ends.note(code)
                if name in NEEDED and ends.number >= MOST_ENDS:
                    self._tell(f"{name} stopped (rc={code}) {MOST_ENDS} times in a row: stopping everything")
                    self.terminate()
                    return
                self._tell(f"{name} stopped (rc={code}): it is started again in {pause:.0f} s, the others go on")
                del process["returncode"]
                self.returncode = None
            elif ends.again and time.monotonic() >= ends.again:
                ends.again, ends.started = 0.0, time.monotonic()
                process["pid"] = None  # nobody is told to end by the number of a dead one
                self._told.discard(name)
                process["process"] = multiprocessing.Process(
                    name=name, target=process["obj"].run, args=(self.events, True)
                )
                process["process"].start()

    def _tell(self, sentence: str) -> None:
        super()._system_print(f"{sentence}\n")

    def _killall(self, force: bool = False) -> None:
        alive = [name for name, process in self._processes.items() if "returncode" not in process]
        first = [name for name in alive if not name.startswith(LAST)]
        for name in first or alive:
            pid = self._processes[name].get("pid")
            if pid is None or (name in self._told and not force):
                continue
            self._told.add(name)
            signal_group(pid, signal.SIGKILL if force else signal.SIGTERM)

    def _system_print(self, data: str) -> None:
        """Nothing of honcho's own: a process that ended although nobody asked it to is told of by _start_again."""


def signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return


def of_procfile(procfile: Path, without: set[str], environment: dict[str, str]) -> list[Any]:
    """The processes to start; crawl workers as many as CLEARINGHOUSE_CRAWL_WORKERS says."""
    lines = {name: line for name, line in parse_procfile(procfile.read_text()).processes.items() if name not in without}
    processes = expand_processes(lines, concurrency={"worker-crawl": env.number("CRAWL_WORKERS")}, env=environment)
    single = {name for name in lines if sum(one.name.startswith(f"{name}.") for one in processes) == 1}
    return [one._replace(name=_short(one.name, single)) for one in processes]


def _short(name: str, single: set[str]) -> str:
    return name.rsplit(".", 1)[0] if name.rsplit(".", 1)[0] in single else name
