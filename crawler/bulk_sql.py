"""Owns: the few statements that must be faster or more portable than the ORM's. Called by: results, message_queue.

Many rows of one shape go through executemany: at 2,000 pages a second the ORM's objects would cost more than SQLite.
PostgreSQL would plan, and answer, each of them: it gets COPY, and one INSERT of several rows where some may be there.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from django.db import DatabaseError, connections

from clearinghouse.database.aliases import WEBCRAWL

CHUNK = 500
SQL_SERVER, POSTGRES = "microsoft", "postgresql"  # as Django calls them


class Batch:
    """Statements of one transaction, kept until flush(): each is sent once, with the rows of all who had some.

    Measured: with 64 documents in a commit, one statement for each of them cost more than all their rows.
    """

    def __init__(self) -> None:
        self._rows: dict[str, list[Sequence[Any]]] = {}
        self._numbered: dict[str, str] = {}  # statement -> the table whose ids it brings along

    def insert(
        self, table: str, columns: Sequence[str], rows: list[Sequence[Any]], *, ignore: bool = False, ids: bool = False
    ) -> None:
        """Insert rows; with `ignore`, a row whose first column (the key) exists already is left out; with `ids`, the
        first column is a key that the server would otherwise number itself."""
        vendor = connections[WEBCRAWL].vendor
        statement = insertion(vendor, table, columns, ignore=ignore)
        if ids:
            self._numbered[statement] = table
        self.execute_many(statement, [(row[0], *row) for row in rows] if ignore and vendor == SQL_SERVER else rows)

    def execute_many(self, statement: str, rows: list[Sequence[Any]]) -> None:
        if rows:
            self._rows.setdefault(statement, []).extend(rows)

    def flush(self) -> None:
        for statement, rows in self._rows.items():
            with own_ids(WEBCRAWL, self._numbered.get(statement, "")):
                execute_many(statement, rows)
        self._rows = {}


def insertion(vendor: str, table: str, columns: Sequence[str], *, ignore: bool = False) -> str:
    """An INSERT for this server. To leave out rows that exist, SQL Server is given the key twice. Pure."""
    names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
    statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names are constants of ours
    if not ignore:
        return statement
    if vendor != SQL_SERVER:
        return f"{statement} ON CONFLICT DO NOTHING"
    # The hints keep the place free until the row stands in it: two at once would both see nothing.
    there = f"SELECT 1 FROM {table} WITH (UPDLOCK, HOLDLOCK) WHERE {columns[0]} = %s"  # noqa: S608
    return f"IF NOT EXISTS ({there}) {statement}"


def numbering(table: str, mine: bool) -> str:
    """Whether rows of this table bring their ids along, on SQL Server. Pure."""
    return f"SET IDENTITY_INSERT {table} {'ON' if mine else 'OFF'}"


@contextmanager
def own_ids(alias: str, table: str) -> Iterator[None]:
    """Inside, rows of this table may be inserted with their ids: SQL Server must be told, the others need nothing."""
    if not table or connections[alias].vendor != SQL_SERVER:
        yield
        return
    with connections[alias].cursor() as cursor:
        cursor.execute(numbering(table, mine=True))
        try:
            yield
        finally:
            with suppress(DatabaseError):  # the connection is gone; a new one begins without
                cursor.execute(numbering(table, mine=False))


def execute_many(statement: str, rows: Sequence[Sequence[Any]], alias: str = WEBCRAWL) -> None:
    if not rows:
        return
    connection: Any = connections[alias]
    with connection.cursor() as cursor:
        if connection.vendor != POSTGRES or not statement.startswith("INSERT"):
            cursor.executemany(statement, list(rows))
        elif statement.endswith(")"):
            # The server stores the first rows while the next ones are written down here.
            with connection.wrap_database_errors, cursor.copy(as_copy(statement)) as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            for part in chunks(list(rows)):
                cursor.execute(of_several(statement, len(part)), [value for row in part for value in row])


def as_copy(statement: str) -> str:
    """What takes the rows of a plain INSERT. Pure."""
    return f"COPY {statement.removeprefix('INSERT INTO ').partition(' VALUES ')[0]} FROM STDIN"  # noqa: S608


def of_several(statement: str, rows: int) -> str:
    """An INSERT of one row as an INSERT of several. Pure."""
    head, values, rest = statement.partition(" VALUES ")
    marks, end, tail = rest.partition(")")
    return head + values + ", ".join([marks + end] * rows) + tail


def moment(value: datetime) -> Any:
    """A time as a raw parameter of this database."""
    return connections[WEBCRAWL].ops.adapt_datetimefield_value(value)


def chunks(values: list[Any], size: int = CHUNK) -> list[list[Any]]:
    """Parts small enough for every server's limit of parameters."""
    return [values[start : start + size] for start in range(0, len(values), size)]
