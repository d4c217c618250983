"""Owns: honest skips. A test that needs something this machine may lack says so through need().

CLEARINGHOUSE_REQUIRE=browser,postgres,vectors,suites,strace,nginx,namespaces,systemd,compiler turns a skip of that kind
into a failure; whatever was skipped stands under NOT RUN at the end of the session, so that nobody takes a skipped test
for a proof.
Loaded as a plugin by tests/conftest.py.
"""

import os
from collections import Counter
from typing import Any

import pytest

KINDS = ("browser", "postgres", "vectors", "suites", "strace", "nginx", "namespaces", "systemd", "compiler")
MARK = "needs "


def required() -> set[str]:
    return {word.strip() for word in os.environ.get("CLEARINGHOUSE_REQUIRE", "").split(",") if word.strip()}


def need(kind: str, available: bool, why: str) -> None:
    """Go on when `available`; else skip, or fail when CLEARINGHOUSE_REQUIRE names this kind."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not one of {', '.join(KINDS)}")
    if available:
        return
    if kind in required():
        pytest.fail(f"{kind} is required here, but {why}", pytrace=False)
    pytest.skip(f"{MARK}{kind}: {why}")


def not_run(skipped: list[Any]) -> list[str]:
    """One line per reason, with how many tests it kept from running."""
    reasons = Counter(_reason(report) for report in skipped)
    return [f"NOT RUN  {count:>4}  {reason}" for reason, count in sorted(reasons.items())]


def _reason(report: Any) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    text = text.removeprefix("Skipped: ")
    return text if text.startswith(MARK) else f"{text} ({report.nodeid})"


def pytest_configure() -> None:
    unknown = required() - set(KINDS)
    if unknown:
        raise pytest.UsageError(f"CLEARINGHOUSE_REQUIRE knows {', '.join(KINDS)}; not {', '.join(sorted(unknown))}")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = not_run(terminalreporter.stats.get("skipped", []))
    if lines:
        terminalreporter.section("not run", sep="-")
        for line in lines:
            terminalreporter.line(line)
