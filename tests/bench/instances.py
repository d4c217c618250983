"""A second instance: two documents, each on a site of its own, by one instance and then by two.

python -m tests.bench.instances [--pages 5000]

Helper processes let one instance use more than one core; then two cannot be twice as fast, but both cores are busy.
"""

import os
import resource
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.bench import ground, machine, site
from tests.bench.crawl import CRAWL, crawled, folder, house, manage, nginx, options_of, start_of

RATIO_BUDGET, BUSY_BUDGET = 1.8, 0.85
SITES = 2
KERNEL = 0.03  # of all cores: more than this beside the crawl is other work


@dataclass(frozen=True)
class Figures:
    pages: int
    seconds: float
    busy: float  # share of all cores, outside the sites' servers
    own: float  # of it by the crawl's own processes; the rest is the kernel writing for them, or other work
    servers: float  # share of all cores the sites' servers took

    @property
    def rate(self) -> float:
        return self.pages / self.seconds

    @property
    def by_the_crawl(self) -> float:
        """With what the kernel writes for it; on a machine with other work only its own."""
        return self.busy if self.busy - self.own <= KERNEL else self.own


def measured(template: Path, var: Path, count: int, servers: list[int]) -> Figures:
    ground.copy(template, var)
    before = (time.monotonic(), machine.busy_seconds(), machine.seconds_of(servers), of_children())
    pages = crawled(manage(var, *CRAWL[2:-1], "--instances", str(count)))
    after = (time.monotonic(), machine.busy_seconds(), machine.seconds_of(servers), of_children())
    seconds, busy, serving, own = (now - then for now, then in zip(after, before, strict=True))
    all_cores = seconds * machine.cores()
    return Figures(pages, seconds, (busy - serving) / all_cores, own / all_cores, serving / all_cores)


def of_children() -> float:
    """Processor time of all processes this one has started and seen end, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: Sequence[str] | None = None) -> None:
    pages = options_of(arguments, __doc__ or "", pages=5000).pages
    machine.require("nginx")
    with folder() as work, ExitStack() as open_sites:
        addresses = []
        for number in range(SITES):
            place = work / f"site-{number}"
            site.write(pages, place, seed=11 + number)
            addresses.append(open_sites.enter_context(nginx(place, work / f"nginx-{number}")))
        servers = machine.family(os.getpid(), "nginx")
        house(work / "house", [start_of(address) for address in addresses])
        report([measured(work / "house", work / f"house-{count}", count, servers) for count in (1, 2)])


def report(found: list[Figures]) -> None:
    rows = []
    for count, one in enumerate(found, start=1):
        figures = (one.pages, f"{one.seconds:.2f}", f"{one.rate:.0f}", f"{one.rate / found[0].rate:.2f} ×")
        rows.append((count, *figures, f"{one.busy:.0%}", f"{one.own:.0%}", f"{one.servers:.0%}"))
    held = machine.kept(found[1].rate / found[0].rate >= RATIO_BUDGET or found[1].by_the_crawl >= BUSY_BUDGET)
    rows.append(("budget", "", "", "", f"≥ {RATIO_BUDGET} ×", "", f"or ≥ {BUSY_BUDGET:.0%}: {held}", ""))
    heads = ("instances", "pages", "seconds", "pages/s", "ratio", "cores busy outside the sites' servers")
    machine.table("Two documents on two sites", (*heads, "with the crawl", "the servers"), rows)


if __name__ == "__main__":
    main()
