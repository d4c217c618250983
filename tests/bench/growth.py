"""Growth: pages a second and peak memory of one instance, with a small site and one ten times as large.

python -m tests.bench.growth [--pages 50000]
"""

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench import machine, site
from tests.bench.crawl import CRAWL, crawled, environment, folder, house, nginx, options_of, start_of

RATE_BUDGET = 0.8  # of the small site's pages a second
MEMORY_BUDGET = 250.0  # MB, with the helper processes
SAMPLE_SECONDS = 0.2


@dataclass(frozen=True)
class Figures:
    pages: int
    seconds: float  # from outside
    own: float  # as the run counts them, without the start of the process
    together: float  # peak MB of the command and its helper processes
    main: float  # peak MB of the command alone

    @property
    def rate(self) -> float:
        return self.pages / self.seconds

    @property
    def own_rate(self) -> float:
        return self.pages / self.own


def measured(pages: int, work: Path) -> Figures:
    site.write(pages, work / "site")
    with nginx(work / "site", work) as address:
        house(work / "house", [start_of(address)])
        began = time.monotonic()
        process = subprocess.Popen(CRAWL, env=environment(work / "house"), stdout=subprocess.PIPE, text=True)
        together, main_alone = watch(process)
        seconds = time.monotonic() - began
    result = json.loads(process.communicate()[0])
    return Figures(crawled(result), seconds, float(result["seconds"]), together, main_alone)


def watch(process: subprocess.Popen[str]) -> tuple[float, float]:
    """Peak memory until the process ends: of all its family (shared pages divided), and of itself as people see it."""
    together = main_alone = 0.0
    while process.poll() is None:
        family = machine.family(process.pid)
        together = max(together, sum(machine.memory(pid) for pid in family))
        main_alone = max(main_alone, machine.memory(process.pid, "Rss"))
        try:
            process.wait(SAMPLE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
    return together, main_alone


def main(arguments: Sequence[str] | None = None) -> None:
    pages = options_of(arguments, __doc__ or "", pages=50_000).pages
    machine.require("nginx")
    found = []
    for count in (max(1, pages // 10), pages):
        with folder() as work:
            found.append(measured(count, work))
    report(*found)


def report(small: Figures, large: Figures) -> None:
    rows = []
    for one in (small, large):
        rates = (f"{one.rate:.0f}", f"{one.rate / small.rate:.2f} ×")
        own_rates = (f"{one.own_rate:.0f}", f"{one.own_rate / small.own_rate:.2f} ×")
        memory = (f"{one.together:.0f}", f"{one.main:.0f}")
        rows.append((one.pages, f"{one.seconds:.1f}", *rates, *own_rates, *memory))
    outside, own = (
        f"≥ {RATE_BUDGET} × {machine.kept(ratio >= RATE_BUDGET)}"
        for ratio in (large.rate / small.rate, large.own_rate / small.own_rate)
    )
    memory_held = f"≤ {MEMORY_BUDGET:.0f} {machine.kept(large.together <= MEMORY_BUDGET)}"
    rows.append(("budget", "", "", outside, "", own, memory_held, ""))
    heads = (
        "pages",
        "seconds",
        "pages/s",
        "of the small site's",
        "pages/s by the run's own clock",
        "of the small site's",
    )
    machine.table("Growth of one instance", (*heads, "peak MB with helpers (PSS)", "RSS of the main process"), rows)


if __name__ == "__main__":
    main()
