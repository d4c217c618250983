"""The single cases of the suite that belong to the long form: one trouble each, from its beginning to its end.

What `make faults` repeats a thousand times is a kill; these are troubles that last a while and have an end. Each file
is a module of the suite, run here as there, with the time it takes.
"""

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from lxml import etree

from tests.house.tree import BASE

CASES = {
    "Redis in trouble": "tests/faults/test_redis.py",
    "Full disk": "tests/faults/test_full_disk.py",
    "Disk full while a crawl goes on": "tests/faults/test_space.py",
    "Processes that end under make run": "tests/local/test_serve.py",
    "Adoption of odd rows": "tests/adoption/test_odd_rows.py",
    "Upgrade of a released database": "tests/upgrade/test_released.py",
}


def play() -> list[str]:
    """Prints a line for each file; the names of what failed."""
    failed: list[str] = []
    for title, module in CASES.items():
        counts, seconds, wrong = _run(module)
        told = ", ".join(f"{number} {word}" for word, number in sorted(counts.items()))
        print(f"{title}: {sum(counts.values())} cases, {told}, {seconds:.0f} s", flush=True)
        failed += wrong
    return failed


def _run(module: str) -> tuple[Counter[str], float, list[str]]:
    with tempfile.TemporaryDirectory(prefix="cases-") as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", f"--junitxml={report}", module]
        subprocess.run(command, cwd=BASE, capture_output=True, check=False)
        if not report.exists():
            return Counter(failed=1), 0.0, [f"{module} could not be run"]
        cases = etree.parse(report).findall(".//testcase")
    counts, wrong = Counter[str](), []
    for case in cases:
        kinds = {child.tag for child in case}
        word = "failed" if kinds & {"failure", "error"} else "not run" if "skipped" in kinds else "passed"
        counts[word] += 1
        if word == "failed":
            wrong.append(f"{module}::{case.get('name')}")
    return counts, sum(float(case.get("time") or 0) for case in cases), wrong
