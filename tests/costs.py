"""What each file of the suite costs: processor time of the lane and of everything it started, and time on the clock.

make test ARGS="-p tests.costs"

Two cores have thirty minutes of processor time in fifteen minutes: a file that waits is cheap, a file that works is
not. Living processes are counted as well as ended ones; what an ended grandchild took is lost where nobody waited for
it. Not loaded otherwise.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TICKS = os.sysconf("SC_CLK_TCK")
SHOWN = 60
NAMED = 15.0  # seconds: what takes longer stands in tests/order.py


def _family() -> Iterator[list[str]]:
    """What /proc says of every living descendant of this process."""
    parents: dict[int, list[tuple[int, list[str]]]] = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            facts = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(facts[1])].append((int(folder.name), facts))
    waiting = [os.getpid()]
    while waiting:
        for pid, facts in parents.get(waiting.pop(), []):
            waiting.append(pid)
            yield facts


def processor_seconds() -> float:
    mine = os.times()
    living = sum(sum(map(int, facts[11:15])) for facts in _family())
    return mine.user + mine.system + mine.children_user + mine.children_system + living / TICKS


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before, began = processor_seconds(), time.monotonic()
    item.user_properties.append(("before", (before, began)))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[Any]:
    report = yield
    if report.when == "teardown":
        before, began = dict(item.user_properties)["before"]
        report.user_properties = [("cost", (processor_seconds() - before, time.monotonic() - began))]
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    files: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
    tests: list[tuple[float, float, str]] = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            if cost := dict(getattr(report, "user_properties", [])).get("cost"):
                of_file = files[report.nodeid.partition("::")[0]]
                of_file[0], of_file[1], of_file[2] = of_file[0] + cost[0], of_file[1] + cost[1], of_file[2] + 1
                tests.append((cost[0], cost[1], report.nodeid))
    terminalreporter.section("what each file costs: processor seconds, seconds, tests", sep="-")
    for name, (work, clock, count) in sorted(files.items(), key=lambda one: -one[1][0])[:SHOWN]:
        terminalreporter.line(f"{work:8.1f} {clock:8.1f} {count:5}  {name}")
    terminalreporter.line(f"{sum(work for work, _, _ in files.values()):8.1f} in all")
    terminalreporter.section("the longest files, for tests/order.py", sep="-")
    for name, (_, clock, _) in sorted(files.items(), key=lambda one: -one[1][1]):
        if clock >= NAMED:
            terminalreporter.line(f'    "{name.removeprefix("tests/")}": {round(clock, -1):.0f},')
    terminalreporter.section("what single tests cost", sep="-")
    for work, clock, name in sorted(tests, reverse=True)[:SHOWN]:
        terminalreporter.line(f"{work:8.1f} {clock:8.1f}  {name}")
