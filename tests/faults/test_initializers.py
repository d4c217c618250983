"""Ten launches, ten initializers at once, and an initializer killed at each of its writes (faults B6, B7)."""

import json
import subprocess
import sys
from pathlib import Path

from tests.faults import injection, series, site
from tests.faults.databases import Databases
from tests.faults.house import BASE
from tests.proves import proves
from tests.requirements import need

TEN = 10


def together(where: Databases, kind: str, number: int = 0) -> list[str]:
    command = [sys.executable, "-m", "tests.faults.together", str(TEN), kind, str(number)]
    environment = where.house.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    done = subprocess.run(command, cwd=BASE, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    told: list[str] = json.loads(done.stdout)
    return told


@proves("B6")
def test_of_ten_launches_at_once_one_gets_the_documents(where: Databases) -> None:
    told = together(where, "launch")
    assert sorted(told)[:-1] == ["AllBusy"] * (TEN - 1) and max(told).startswith("run ")
    assert where.rows("SELECT count(*), count(DISTINCT doc_id) FROM excursion") == [(6, 6)]
    assert where.rows("SELECT count(*) FROM run") == [(1,)]


@proves("B6")
def test_ten_initializers_at_once_open_each_queue_once(where: Databases) -> None:
    where.house.manage("launch")
    assert together(where, "initialize", 1) == ["done"] * TEN
    starts = sum(len(points) for points in site.DOCUMENTS)
    messages = "SELECT count(*), count(DISTINCT (excursion_id || ' ' || url)) FROM message"
    assert where.rows(messages) == [(starts, starts)]
    assert where.rows("SELECT sum(found), sum(queued) FROM excursion") == [(starts, starts)]
    assert where.rows("SELECT count(*) FROM run_event WHERE kind = 'initialize'") == [(1,)]


@proves("B7")
def test_an_initializer_may_be_killed_at_each_of_its_writes(tmp_path: Path) -> None:
    need("strace", injection.available(), "strace is not installed")
    figures = series.play_initializer(tmp_path)
    print("\n" + figures.table())
    assert figures.faults == []
    assert figures.row("fdatasync").points >= 3, "the run, its queues, the first batch"
