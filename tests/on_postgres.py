"""python -m tests.on_postgres LANES [--short] [PYTEST ARGUMENTS]: the tests, all four databases on a real PostgreSQL.

Starts a throw-away cluster, names four databases of it as CLEARINGHOUSE_DB…, and runs pytest with this module as a
plugin. Without arguments it runs every folder in which tests use the databases of their own process; --short runs a
choice of files. The houses of flow and browser have their databases there, too. Tests of faults, adoption, upkeep and
deployment choose their databases themselves, and have their part on PostgreSQL in the ordinary suite.

The plugin gives tests what they have on SQLite: a test begins with the ids the one before it began with, and what
closes connections in the middle of a test's transaction leaves them open. Tests marked `sqlite` tell of SQLite's own
machinery; they are left out.
"""

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django.plugin import blocking_manager_key

from tests import postgres, suite

ALIASES = ("default", "webcrawl", "primary", "backup")
FOLDERS = ("accounts", "api", "browser", "crawler", "crawlpoints", "flow", "library", "operations", "oracle",
           "propagation", "search", "security", "web", "word_index")  # fmt: skip
THEIR_OWN = tuple(f"crawler/upkeep/test_{name}.py" for name in ("backup", "doctor", "health_for_machines", "prune"))
ALREADY_THERE = "tests/flow/test_on_postgres.py"  # what it repeats of flow is run as a whole here
# What only a server does: fences and locks, a ledger counted again, generations and the switch, search. The whole path
# through processes of its own stands in flow/test_on_postgres.py, which the ordinary suite runs too.
SHORT = ("crawler/liveness/test_fences.py", "crawler/ledger/test_ledger_check.py", "propagation/test_generations.py",
         "search/test_engine.py")  # fmt: skip
# The transaction around a test stays open in all four databases, also in those that the test leaves alone.
_PATIENT = "&options=-c%20idle_in_transaction_session_timeout%3D0"
_NOW = "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema()"
_OWNERS = (
    "SELECT s.relname, t.relname, a.attname FROM pg_class s "
    "JOIN pg_depend d ON d.objid = s.oid AND d.deptype IN ('a', 'i') JOIN pg_class t ON t.oid = d.refobjid "
    "JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid WHERE s.relkind = 'S'"
)


def main(lanes: str, arguments: list[str]) -> int:
    folder = postgres.programs()
    if folder is None:
        print("PostgreSQL is not installed: nothing was run", file=sys.stderr)
        return 2
    short = "--short" in arguments
    chosen = [word for word in arguments if word != "--short"]
    if short or not any(word.startswith("tests/") for word in chosen):
        chosen += [f"tests/{name}" for name in (SHORT if short else FOLDERS)]
        chosen += [f"--ignore=tests/{name}" for name in THEIR_OWN]
    server, begun = postgres.Server(folder), time.monotonic()
    try:
        os.environ.update({f"CLEARINGHOUSE_{key}": server.url(name) + _PATIENT for key, name in postgres.NAMES.items()})
        code = suite.main(lanes, chosen, ["-p", "tests.on_postgres"])
    finally:
        server.stop()
    print(f"All four databases on PostgreSQL, {time.monotonic() - begun:.0f} s")
    return code


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if item.get_closest_marker("sqlite") or item.nodeid.startswith(ALREADY_THERE)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session", autouse=True)
def connections_stay_open_inside_a_test() -> Iterator[None]:
    """As those of SQLite in memory do: the transaction around a test would be lost with its connection."""
    from django.db.backends.base.base import BaseDatabaseWrapper

    obsolete = BaseDatabaseWrapper.close_if_unusable_or_obsolete

    def keep(self: Any) -> None:
        if not self.in_atomic_block:
            obsolete(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "close_if_unusable_or_obsolete", keep)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """A sequence does not go back with its transaction: ids begin again behind the rows that are left."""
    yield
    if item.get_closest_marker("django_db") or {"db", "transactional_db"} & set(getattr(item, "fixturenames", ())):
        with item.config.stash[blocking_manager_key].unblock():
            for alias in ALIASES:
                _start_ids_anew(alias)


_sequences: dict[str, dict[str, tuple[str, str]]] = {}  # alias -> sequence -> its table and column
_standing: dict[str, dict[str, int | None]] = {}


def _start_ids_anew(alias: str) -> None:
    from django.db import connections

    if connections[alias].connection is None:
        return
    with connections[alias].cursor() as cursor:
        cursor.execute(_NOW)
        now = dict(cursor.fetchall())
        if alias not in _sequences:
            cursor.execute(_OWNERS)
            _sequences[alias] = {name: (table, column) for name, table, column in cursor.fetchall()}
        before = _standing.setdefault(alias, {})
        moved = [name for name in _sequences[alias] if name in now and now[name] != before.get(name)]
        if moved:
            cursor.execute("; ".join(_again(name, *_sequences[alias][name]) for name in moved))
            cursor.execute(_NOW)
            _standing[alias] = dict(cursor.fetchall())


def _again(name: str, table: str, column: str) -> str:
    return f"""SELECT setval('"{name}"', COALESCE(max("{column}"), 0) + 1, false) FROM "{table}\""""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
