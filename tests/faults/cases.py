"""The single cases that belong to the long form: one trouble each, from its beginning to its end, with its figures.

What `make faults` repeats a thousand times is a kill; these are troubles that last a while and have an end. Each is a
module or a test of the suite, run here as there; those called long_… are too long for the suite and are run here only.
A test tells a figure by pytest's record_property.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from tests.house.tree import BASE


class Case(NamedTuple):
    trouble: str
    tests: tuple[str, ...]
    long: tuple[tuple[str, str], ...] = ()  # settings that make a module of the suite play more


CASES = (
    Case("An API request in chunks, or without a body", ("tests/security/test_t42_lost_bodies.py",)),
    Case("The clock of a crawl jumps by ±10 minutes, ±1 hour", ("tests/faults/test_clocks.py",),
         (("CLEARINGHOUSE_CLOCKS", "all"),)),
    Case("The clock of the rows jumps", ("tests/crawler/liveness/test_clocks.py",)),
    Case("The clock of a second host is 10 minutes off", ("tests/faults/long_clocks.py",)),
    Case("A long import whose worker is killed", ("tests/faults/test_imports.py",)),
    Case("Redis in trouble", ("tests/faults/test_redis.py",)),
    Case("A damaged entry in the file of Redis, processes that end under make run", ("tests/local/test_serve.py",)),
    Case("PostgreSQL crashes, is cut off, hangs", ("tests/faults/test_databases.py",)),
    Case("Two hosts: one is cut off, then dies", ("tests/faults/test_two_hosts.py",)),
    Case("Tables that are not those of the models", ("tests/adoption/test_what_stands.py",)),
    Case("Upgrade of a released database", ("tests/upgrade/test_released.py",)),
    Case("Crawls, propagations and parsers that are stopped",
         ("tests/faults/test_stopped.py", "tests/faults/test_sleepers.py")),
    Case("Full disk", ("tests/faults/test_full_disk.py",)),
    Case("Full disk under PostgreSQL", ("tests/faults/long_full_disk.py",)),
    Case("Disk full while a crawl goes on", ("tests/faults/test_space.py",)),
    Case("A crawl at full speed killed while its pages wait to be read", ("tests/faults/test_refetched.py",)),
    Case("Adoption of odd rows", ("tests/adoption/test_odd_rows.py",)),
    Case("Connections that drip", ("tests/security/test_t43_slow_clients.py",)),
    Case("Orders to runs whose audit or rows fail", ("tests/crawler/launching/test_orders_again.py",)),
    Case("The tick with databases away and vanished time zones", ("tests/crawler/upkeep/test_tick.py",)),
)  # fmt: skip
HEAD = ("trouble", "passed", "failed", "not run", "figures", "seconds")


class Played(NamedTuple):
    counts: Counter[str]
    figures: list[str]
    seconds: float
    wrong: list[str]


def play(words: list[str] | None = None) -> list[str]:
    """Prints a row of a table for each, or for those whose title has one of these words; the names of what failed."""
    chosen = [case for case in CASES if not words or any(word.lower() in case.trouble.lower() for word in words)]
    failed: list[str] = []
    print("", _row(HEAD), _row(["---"] * len(HEAD)), sep="\n", flush=True)
    for case in chosen:
        played = _play(case)
        told = [played.counts[word] for word in HEAD[1:4]]
        print(_row([case.trouble, *told, "; ".join(played.figures) or "–", round(played.seconds)]), flush=True)
        failed += played.wrong
    return failed


def _row(cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _most(values: Iterable[str]) -> str:
    """Of the tests that tell the same figure, the largest; a word that is no number stands as it is."""
    found = list(values)
    try:
        return max(found, key=float)
    except ValueError:
        return ", ".join(dict.fromkeys(found))


def _play(case: Case) -> Played:
    with tempfile.TemporaryDirectory(prefix="cases-") as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-o", "junit_family=xunit1",
                   f"--junitxml={report}", *case.tests]  # fmt: skip
        done = subprocess.run(command, cwd=BASE, env=os.environ | dict(case.long), capture_output=True, check=False)
        if not report.exists():
            return Played(Counter(failed=1), [], 0.0, [f"{case.trouble} could not be run: {done.stdout[-500:]!r}"])
        return _read(report)


def _read(report: Path) -> Played:
    counts, wrong = Counter[str](), []
    tree = etree.parse(report)
    cases = tree.findall(".//testcase")
    for case in cases:
        kinds = {child.tag for child in case}
        word = "failed" if kinds & {"failure", "error"} else "not run" if "skipped" in kinds else "passed"
        counts[word] += 1
        if word == "failed":
            wrong.append(f"{case.get('classname')}::{case.get('name')}")
    told = [(one.get("name"), one.get("value")) for one in tree.findall(".//testcase//property")]
    figures = [f"{name}: {_most(value for of, value in told if of == name)}" for name in dict.fromkeys(dict(told))]
    return Played(counts, figures, sum(float(case.get("time") or 0) for case in cases), wrong)
