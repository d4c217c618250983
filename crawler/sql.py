"""Owns: the few statements that must be faster or more portable than the ORM's. Called by: results, message_queue.

Many rows of one shape go through executemany: at 2,000 pages a second the ORM's objects would cost more than SQLite.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connections

from clearinghouse.databases import WEBCRAWL

CHUNK = 500


class Batch:
    """Statements of one transaction, kept until flush(): each is sent once, with the rows of all who had some.

    Measured: with 64 documents in a commit, one statement for each of them cost more than all their rows.
    """

    def __init__(self) -> None:
        self._rows: dict[str, list[Sequence[Any]]] = {}

    def insert(self, table: str, columns: Sequence[str], rows: list[Sequence[Any]], *, ignore: bool = False) -> None:
        """Insert rows; with `ignore`, a row whose first column (the key) exists already is left out."""
        vendor = connections[WEBCRAWL].vendor
        names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names are constants of ours
        if ignore and vendor == "microsoft":
            statement = f"IF NOT EXISTS (SELECT 1 FROM {table} WHERE {columns[0]} = %s) {statement}"  # noqa: S608
            rows = [(row[0], *row) for row in rows]
        elif ignore:
            statement += " ON CONFLICT DO NOTHING"
        self.execute_many(statement, rows)

    def execute_many(self, statement: str, rows: list[Sequence[Any]]) -> None:
        if rows:
            self._rows.setdefault(statement, []).extend(rows)

    def flush(self) -> None:
        for statement, rows in self._rows.items():
            execute_many(statement, rows)
        self._rows = {}


def execute_many(statement: str, rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        with connections[WEBCRAWL].cursor() as cursor:
            cursor.executemany(statement, rows)


def moment(value: datetime) -> Any:
    """A time as a raw parameter of this database."""
    return connections[WEBCRAWL].ops.adapt_datetimefield_value(value)


def chunks(values: list[Any], size: int = CHUNK) -> list[list[Any]]:
    """Parts small enough for every server's limit of parameters."""
    return [values[start : start + size] for start in range(0, len(values), size)]
