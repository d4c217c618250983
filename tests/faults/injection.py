"""Strace as the hand that kills: at the K-th call of one system call, a signal or an error.

strace counts calls for each thread it follows; the K-th of any of them strikes.
"""

import re
import shutil
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.faults.house import House
from tests.faults.warm import Ended, Warm

SYSCALLS = ("fdatasync", "pwrite64", "connect", "recvfrom", "sendto")
PATIENCE = 60.0
ORPHANS = 10.0
KILL = "signal=SIGKILL"
FILLING = 8  # commits before the first request that fill the queues


def available() -> bool:
    return shutil.which("strace") is not None


@dataclass(frozen=True)
class Injection:
    syscall: str
    at: int
    effect: str = KILL  # or error=ENOSPC, error=EIO

    @property
    def phase(self) -> str:
        return self.syscall if self.effect == KILL else f"{self.syscall} {self.effect.removeprefix('error=')}"

    def __str__(self) -> str:
        return f"{self.effect} at {self.syscall} {self.at}"


@dataclass(frozen=True)
class Struck:
    """How a process under an injection ended."""

    ended: Ended
    injected: bool
    orphans: bool  # a process it had started lived on

    @property
    def killed(self) -> bool:
        return self.ended.code == -signal.SIGKILL and not self.ended.hung


def run(warm: Warm, house: House, arguments: list[str], injection: Injection) -> Struck:
    """A command with an injection; strace leaves when its last process, and any child of it, is gone."""
    inject = ["-e", f"inject={injection.syscall}:{injection.effect}:when={injection.at}"]
    ended, orphans = _traced(warm, house, arguments, [f"trace={injection.syscall}", *inject])
    return Struck(ended, "(INJECTED)" in _log(house).read_text(), orphans)


def undisturbed(warm: Warm, house: House, arguments: list[str], port: int) -> dict[str, tuple[int, int]]:
    """For each system call: the count around the first commit and the count of all, in the crawling process."""
    ended, _ = _traced(warm, house, arguments, [f"trace={','.join(SYSCALLS)}"])
    assert ended.code == 0, ended.output
    return _counts(_log(house), port)


def counted(warm: Warm, house: House, arguments: list[str], calls: tuple[str, ...]) -> dict[str, int]:
    """How often a command that nothing disturbs makes each of these system calls."""
    ended, _ = _traced(warm, house, arguments, [f"trace={','.join(calls)}"])
    assert ended.code == 0, ended.output
    return dict(Counter(re.findall(r"^\d+ +(\w+)\(", _log(house).read_text(), re.MULTILINE)))


def _traced(warm: Warm, house: House, arguments: list[str], options: list[str]) -> tuple[Ended, bool]:
    # Not --seccomp-bpf: it is faster, but strace 6.1 injects no signals with it.
    pid = warm.start(house, arguments, traced=True)
    command = ["strace", "-f", "-qq", "-o", str(_log(house)), "-p", str(pid), "-e", *options]
    tracer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    ended = warm.wait(PATIENCE)
    try:
        tracer.wait(timeout=ORPHANS)
        return ended, False
    except subprocess.TimeoutExpired:
        tracer.kill()
        tracer.wait()
        return ended, True


def _log(house: House) -> Path:
    return house.var.parent / f"{house.var.name}.strace"


def _counts(log: Path, port: int) -> dict[str, tuple[int, int]]:
    calls = re.findall(r"^(\d+) +(\w+)\((.*)", log.read_text(), re.MULTILINE)
    crawler = Counter(pid for pid, _, _ in calls).most_common(1)[0][0]
    counted: Counter[str] = Counter()
    first: dict[str, int] = {}
    for pid, name, rest in calls:
        if pid != crawler:
            continue
        if name == "connect" and f"htons({port})" in rest and not first:
            first = dict(counted)
        counted[name] += 1
    # Before the first request stand the commits that filled the queues: they belong to the crawl.
    return {name: (max(1, first.get(name, 0) - FILLING), counted[name] - counted[name] // 25) for name in SYSCALLS}
