"""What happens to the database of a crawl costs time, and no page (faults A8 to A13).

The short form; `python -m tests.faults` strikes more often.
"""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from clearinghouse.database.aliases import from_url
from tests.faults import databases
from tests.faults.databases import Bench, Databases, Fates, crawling
from tests.faults.house import BASE, House
from tests.postgres import Server, programs
from tests.proves import proves
from tests.requirements import need

DELAY = 0.12  # of each page: an undisturbed crawl takes some three seconds


@pytest.fixture(scope="module")
def cluster() -> Iterator[Server]:
    """As in production: with fsync."""
    folder = programs()
    need("postgres", folder is not None, "initdb, pg_ctl and postgres are not installed")
    assert folder is not None
    server = Server(folder, durable=True)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def calm(bench: Bench) -> Fates:
    """The ledger of an undisturbed crawl on SQLite."""
    where = bench.on_sqlite()
    with crawling(where):
        pass
    fates = where.fates()
    assert where.faults(fates) == []
    return fates


def test_four_processes_on_postgresql_end_with_the_ledger_of_one_on_sqlite(
    bench: Bench, cluster: Server, calm: Fates
) -> None:
    where = bench.on_postgres(cluster)
    with crawling(where, "--instances", "4"):
        pass
    assert where.faults(calm) == []


@proves("A11", "goal 5")
def test_a_database_that_crashes_again_and_again_fails_no_page(bench: Bench, cluster: Server, calm: Fates) -> None:
    where = bench.on_postgres(cluster)
    with crawling(where) as process:
        crash = lambda: databases.crash_and_start(cluster, 0.1)  # noqa: E731
        struck = databases.again_and_again(process, where, crash, 0.8, most=3)
    assert where.faults(calm) == []
    assert struck >= 2, f"only {struck} crashes fell into the crawl"


_FALL_ASLEEP = """
import os, signal, sys, django
django.setup()
from django.db import connections, transaction
with transaction.atomic(using="webcrawl"), connections["webcrawl"].cursor() as cursor:
    cursor.execute("LOCK TABLE instance")
    print("locked", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_who_falls_asleep_inside_a_transaction_holds_nobody_up(bench: Bench, cluster: Server) -> None:
    """A host that is cut off leaves its connection behind, with all it has locked."""
    where = bench.on_postgres(cluster)
    name = where.house.environment["CLEARINGHOUSE_DB_WEBCRAWL"]
    options = "&options=-c%20idle_in_transaction_session_timeout%3D2000"
    env = where.house.environment | {
        "CLEARINGHOUSE_DB_WEBCRAWL": name + options,
        "DJANGO_SETTINGS_MODULE": "clearinghouse.settings",
    }
    command = [sys.executable, "-c", _FALL_ASLEEP]
    asleep = subprocess.Popen(command, cwd=BASE, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert asleep.stdout is not None and asleep.stdout.readline() == "locked\n"
        begun = time.monotonic()
        cluster.execute("UPDATE instance SET alive = FALSE", database=where.names["DB_WEBCRAWL"])
        assert time.monotonic() - begun < 30
    finally:
        asleep.kill()
        asleep.communicate()
    assert from_url(name)["OPTIONS"]["options"] == "-c idle_in_transaction_session_timeout=15000"


@proves("A12")
def test_connections_may_be_cut_at_any_moment(bench: Bench, cluster: Server, calm: Fates) -> None:
    where = bench.on_postgres(cluster)
    with crawling(where, "--instances", "2") as process:
        cut = lambda: databases.terminate_connections(where)  # noqa: E731
        struck = databases.again_and_again(process, where, cut, 0.5, most=5)
    assert where.faults(calm) == []
    assert struck >= 3, f"only {struck} cuts fell into the crawl"


@proves("A13")
def test_serialisation_errors_are_tried_again(bench: Bench, cluster: Server, calm: Fates) -> None:
    """At this isolation PostgreSQL refuses what two transactions changed at once: often enough with four instances."""
    where = bench.on_postgres(cluster)
    name = where.names["DB_WEBCRAWL"]
    cluster.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'", database="postgres")
    with crawling(where, "--instances", "4"):
        pass
    assert where.faults(calm) == []


@proves("A10")
def test_a_writer_who_holds_the_file_for_long_fails_no_page(bench: Bench, calm: Fates) -> None:
    where = bench.on_sqlite()
    with crawling(where) as process:
        while not databases.under_way(where):
            time.sleep(0.05)
        with closing(sqlite3.connect(where.house.var / "webcrawl.sqlite3", isolation_level=None)) as holder:
            holder.execute("PRAGMA busy_timeout = 20000")
            holder.execute("BEGIN EXCLUSIVE")
            time.sleep(15)
            assert process.poll() is None, "it did not wait"
            holder.execute("ROLLBACK")
    assert where.faults(calm) == []


@proves("rule 7", "A9")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_no_two_of_eight_processes_claim_the_same_queue(
    kind: str, bench: Bench, request: pytest.FixtureRequest
) -> None:
    where = bench.on_sqlite() if kind == "sqlite" else bench.on_postgres(request.getfixturevalue("cluster"))
    claimed = claims(where.house, processes=8, queues=2000)
    assert sum(len(part) for part in claimed) == len({pk for part in claimed for pk in part}) == 2000
    assert sum(bool(part) for part in claimed) >= 2, "one process was faster than all others: the test proves nothing"
    assert where.rows("SELECT count(*), count(DISTINCT excursion_id) FROM active_queue") == [(2000, 2000)]


def claims(house: House, processes: int, queues: int) -> list[list[int]]:
    command = [sys.executable, "-m", "tests.faults.claimants", str(processes), str(queues)]
    settings = house.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    done = subprocess.run(command, cwd=BASE, env=settings, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[list[int]] = json.loads(done.stdout)
    return found


_MAKE = """
from tests.faults.claimants import _make
print(_make(3).pk)
"""
_CLAIM = """
from crawler.engine import message_queue
from crawler.liveness import instances
row = instances.register({run})
print([excursion.doc_id for excursion in message_queue.claim(row, 8)])
"""


def test_a_queue_that_somebody_is_just_claiming_is_passed_over_not_waited_for(bench: Bench, cluster: Server) -> None:
    """SKIP LOCKED: an instance that hangs in the middle of a claim stops no other."""
    where = bench.on_postgres(cluster)
    run = int(where.house.python(_MAKE))
    with cluster.connect(where.names["DB_WEBCRAWL"]) as rival, rival.transaction():
        rival.execute("SELECT 1 FROM excursion WHERE doc_id = 100001 FOR UPDATE")
        assert where.house.python(_CLAIM.format(run=run)).strip() == "[100000, 100002]"
    assert where.house.python(_CLAIM.format(run=run)).strip() == "[100001]"


def check(where: Databases) -> "subprocess.CompletedProcess[str]":
    command = where.house.command("check", "--tag", "durability")
    return subprocess.run(command, env=where.house.environment, capture_output=True, text=True, timeout=60)


@proves("A8")
def test_a_server_that_may_forget_what_it_acknowledged_is_named(bench: Bench, cluster: Server) -> None:
    where = bench.on_postgres(cluster)
    assert check(where).returncode == 0, check(where).stderr
    name = where.names["DB_WEBCRAWL"]
    cluster.execute(f"ALTER DATABASE {name} SET synchronous_commit = off", database="postgres")
    told = check(where)
    assert told.returncode == 1
    assert "webcrawl: synchronous_commit is off" in told.stderr and "default:" not in told.stderr
