"""Owns: the processes of the Procfile under one manager: started together, stopped together, no orphans.

Does not: know what they do. Called by: serve.

Each process is the leader of its own session. Redis goes last, so that workers can say goodbye to it. When this
manager dies in any way, the kernel tells each process to end.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from honcho.environ import expand_processes, parse_procfile
from honcho.manager import Manager
from honcho.printer import Message, Printer
from honcho.process import Popen, Process

from clearinghouse import env
from clearinghouse.process_state import StoppedFor
from clearinghouse.workers import die_with_parent

LAST = "redis"
KILL_AFTER_SECONDS = 7.0
LOOK_SECONDS = 1.0  # how often it is looked whether one is stopped


class Runner(Process):
    """A forked reader of one process's output; neither outlives its parent."""

    def run(self, events: Any = None, ignore_signals: bool = False) -> None:
        die_with_parent(signal.SIGKILL)
        self._child_ctor = partial(Popen, preexec_fn=partial(die_with_parent, signal.SIGTERM))
        super().run(events, ignore_signals)


class House(Manager):
    """Honcho's manager with an order of stopping. `when_started` runs once in a thread beside the loop."""

    def __init__(self, when_started: Callable[["House"], None]) -> None:
        super().__init__(printer=Printer(sys.stdout))
        self._process_ctor = Runner
        self._when_started = when_started
        self._told: set[str] = set()
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
            self._killall()

    def _all_started(self) -> bool:
        """The loop asks this ten times a second: the moment to tell those who could not be told before."""
        self._wake_stopped()
        if self.stopping:
            self._killall(force=time.monotonic() - self._stopping_since > KILL_AFTER_SECONDS)
        return bool(super()._all_started())

    def _wake_stopped(self) -> None:
        """A stopped process serves nobody and ends nothing; there is only one of each, so it is woken, not replaced."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        for name, process in self._processes.items():
            pid = process.get("pid")
            if pid is not None and "returncode" not in process and self._stopped.too_long(pid):
                self._printer.write(self._line(f"{name} was stopped: it is woken\n"))
                signal_group(pid, signal.SIGCONT)

    def _line(self, data: str) -> Message:
        return Message(type="line", data=data, time=self._clock.now(), name="system", colour=None)

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
        """Only what a person wants to know: a process that ended although nobody asked it to."""
        if "stopped (rc=" in data and not self.stopping:
            super()._system_print(f"{data.strip()}: stopping everything\n")


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
