"""A plugin of pytest: watches the product while tests run, and says at the end what SQL Server would not take."""

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from tests.tsql import rules, tables, texts
from tests.tsql.schema import Schema

if TYPE_CHECKING:
    from tests.tsql.recorder import Recorder

recorder: "Recorder"


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    from tests.tsql.recorder import Recorder  # it needs Django's tables, which stand by now

    global recorder
    recorder = Recorder()
    recorder.start()


def pytest_sessionfinish(session: pytest.Session) -> None:
    wrong = report()
    if wrong and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def report() -> list[str]:
    wrong = [f"{place}: {kind}: {error}" for (place, error), kind in recorder.refused.items()]
    schema = Schema([sql for alias in tables.DATABASES for sql in [*tables.migrations(alias), *tables.beside(alias)]])
    known = texts.columns(texts.COMPARED)
    for one in recorder.sent.values():
        found = rules.faults(one.sql, one.parameters)
        if not found:
            compared, found = schema.read(one.sql)
            found += [f"{name} is compared without a reason in texts.py" for name in sorted(compared - known)]
        wrong += [f"{one.place}: {fault}\n    {one.sql[:400]}" for fault in found]
    return wrong


def pytest_terminal_summary(terminalreporter: Any) -> None:
    wrong = report()
    terminalreporter.section("T-SQL")
    for line in wrong:
        terminalreporter.line(line)
    written = {one.written for one in recorder.sent.values()}
    by_hand = sum(one.by_hand for one in recorder.sent.values())
    most = max((one.parameters for one in recorder.sent.values()), default=0)
    places = len({one.place for one in recorder.sent.values()})
    terminalreporter.line(
        f"{recorder.executed:,} statements sent, {len(written):,} different texts from {places} places in the "
        f"code, {by_hand} of them written by hand; at most {most} parameters; {len(wrong)} wrong"
    )
    if path := os.environ.get("TSQL_WRITE"):
        with open(path, "w") as file:
            file.writelines(f"{json.dumps(asdict(one))}\n" for one in recorder.sent.values())
