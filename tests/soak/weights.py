"""Owns: what processes and files weigh while a house works, and whether it grows. Does not: start or kill anything.

A process that lives long is what can leak, so growth is judged by each process that lived long enough: the median
memory of the last third of its life beside that of the first, its first minute left out, in which it warms up.
"""

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench import machine

WARM = 60.0  # seconds a process takes until it has seen all of its work once
OLD = 240.0  # seconds of life from which growth can be told
ALLOWED = 0.10  # of its first third, or
ALLOWED_MB = 6.0
TINY_MB = 0.05


@dataclass
class Life:
    """One process: what it weighed when."""

    kind: str
    pid: int
    samples: list[tuple[float, float, int]] = field(default_factory=list)  # second, MB, open files

    @property
    def age(self) -> float:
        return self.samples[-1][0] - self.samples[0][0]

    def thirds(self) -> tuple[float, float]:
        """Median MB of the first and of the last third of its life, without its first minute."""
        began, ended = self.samples[0][0] + WARM, self.samples[-1][0]
        third = (ended - began) / 3
        first = [mb for at, mb, _ in self.samples if began <= at <= began + third]
        last = [mb for at, mb, _ in self.samples if at >= ended - third]
        return statistics.median(first), statistics.median(last)

    def files(self) -> tuple[int, int]:
        """How many it had open at first, when it was warm, and at last."""
        warm = [count for at, _, count in self.samples if at >= self.samples[0][0] + WARM]
        return warm[0], warm[-1]

    def grows(self) -> bool:
        first, last = self.thirds()
        return last - first > max(ALLOWED_MB, ALLOWED * first)


class Scales:
    """Weighs a house now and again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.lives: dict[tuple[int, str], Life] = {}  # numbers come again: with the moment it was started
        self.kinds: dict[str, list[tuple[float, float]]] = defaultdict(list)  # kind -> second, MB of all of them
        self.disk: list[tuple[float, dict[str, float]]] = []

    def weigh(self, second: float, processes: dict[int, str]) -> None:
        """`processes`: each living process of the house with its kind."""
        together: dict[str, float] = defaultdict(float)
        for pid, kind in processes.items():
            if mb := machine.memory(pid):
                together[kind] += mb
                life = self.lives.setdefault((pid, started(pid)), Life(kind, pid))
                life.samples.append((second, mb, open_files(pid)))
        for kind, mb in together.items():
            self.kinds[kind].append((second, mb))
        self.disk.append((second, sizes(self._folder)))

    def old(self) -> list[Life]:
        """The longest life of each kind, if it was long enough to tell growth."""
        best: dict[str, Life] = {}
        for life in self.lives.values():
            if life.age >= OLD and life.age > (best[life.kind].age if life.kind in best else 0):
                best[life.kind] = life
        return [best[kind] for kind in sorted(best)]

    def thirds(self, kind: str, seconds: float) -> tuple[float, float, float, float]:
        """Median MB of all processes of a kind in each third of the time, and the peak."""
        parts: list[list[float]] = [[], [], []]
        for at, mb in self.kinds[kind]:
            parts[min(2, int(3 * at / seconds))].append(mb)
        medians = [statistics.median(part) if part else 0.0 for part in parts]
        return medians[0], medians[1], medians[2], max(mb for _, mb in self.kinds[kind])

    def disk_thirds(self) -> list[tuple[str, float, float, float]]:
        """MB of each group of files after a third, two thirds and all of the time."""
        last = len(self.disk) - 1
        moments = [self.disk[place][1] for place in (last // 3, 2 * last // 3, last)]
        return [
            (name, moments[0].get(name, 0.0), moments[1].get(name, 0.0), moments[2].get(name, 0.0))
            for name in sorted(set().union(*moments))
        ]


def started(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def open_files(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0


def sizes(folder: Path) -> dict[str, float]:
    """MB of each file, of folders as a whole; what is tiny is left out."""
    found: dict[str, float] = defaultdict(float)
    for path in folder.rglob("*"):
        try:
            size = path.stat().st_size / 1024**2 if path.is_file() else 0.0
        except OSError:
            continue
        if size:
            found[path.relative_to(folder).parts[0]] += size
    return {name: mb for name, mb in found.items() if mb >= TINY_MB}
