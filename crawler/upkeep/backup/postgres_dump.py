"""Owns: pg_dump and pg_restore of our databases. A password travels in the environment, never on a command line."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

from django.db import connections

from clearinghouse.database.adoption.introspection import quoted

PROGRAMS = ("pg_dump", "pg_restore")
_DUMP = ("pg_dump", "--format=custom", "--no-owner", "--no-privileges")
_RESTORE = ("pg_restore", "--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")
_OPTIONS = {"host": "PGHOST", "port": "PGPORT", "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT"}


class DumpFailed(Exception):
    """What the program of PostgreSQL said."""


def missing_program() -> str:
    return next((name for name in PROGRAMS if shutil.which(name) is None), "")


def begin_snapshot(alias: str) -> tuple[Any, str]:
    """A connection that keeps this moment, and the moment's name for pg_dump."""
    connection = connections[alias].copy()
    cursor = connection.cursor()
    cursor.execute("SET idle_in_transaction_session_timeout = 0")  # it waits for pg_dump, however long that takes
    cursor.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    cursor.execute("SELECT pg_export_snapshot()")
    return connection, str(cursor.fetchone()[0])


def dump(alias: str, snapshot: str, to: Path) -> None:
    _run([*_DUMP, f"--snapshot={snapshot}", f"--file={to}"], alias)


def restore(alias: str, file: Path, aside: str) -> bool:
    """The tables there now stay, in a schema named `aside`; whether there were any."""
    connection = connections[alias]
    with connection.cursor() as cursor:
        kept = bool(connection.introspection.table_names(cursor))
        if kept:
            cursor.execute(f"ALTER SCHEMA public RENAME TO {quoted(connection, aside)}")
            cursor.execute("CREATE SCHEMA public")
    connection.close()
    _run([*_RESTORE, f"--dbname={connection.settings_dict['NAME']}", str(file)], alias)
    return kept


def in_words(alias: str, to: str) -> str:
    """The command for a person whose machine has pg_dump, without the password."""
    told = connections[alias].settings_dict
    words = [*_DUMP, f"--file={to}", f"--host={told['HOST'] or told['OPTIONS'].get('host', 'localhost')}",
             f"--username={told['USER']}", told["NAME"]]  # fmt: skip
    return shlex.join(words)


def _run(command: list[str], alias: str) -> None:
    done = subprocess.run(command, env=_environment(alias), capture_output=True, text=True, check=False)
    if done.returncode:
        last = next(iter(done.stderr.strip().splitlines()), f"exit code {done.returncode}")
        raise DumpFailed(f"{command[0]} of {alias}: {last[:300]}")


def _environment(alias: str) -> dict[str, str]:
    told = connections[alias].settings_dict
    given = {"PGDATABASE": told["NAME"], "PGUSER": told["USER"], "PGPASSWORD": told["PASSWORD"],
             "PGHOST": told["HOST"], "PGPORT": told["PORT"]}  # fmt: skip
    given |= {_OPTIONS[name]: str(value) for name, value in told["OPTIONS"].items() if name in _OPTIONS}
    return os.environ | {name: str(value) for name, value in given.items() if value}
