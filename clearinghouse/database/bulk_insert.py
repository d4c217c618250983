"""Owns: many rows made of objects before the transaction that writes them, so that nobody waits while we compute.

bulk_create computes while it holds the lock: of a step of an import that was four fifths of the time. Rows whose time
is that of WebCrawl are written by crawler.bulk_sql. Called by: the audit, imports of crawl points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connections, router
from django.db.models import Model


@dataclass(slots=True)
class RowsToInsert:
    """Rows of one table as its database wants them; it numbers them itself."""

    alias: str
    statement: str
    names: list[str]
    values: list[list[Any]]

    def write(self, **known: Sequence[Any]) -> None:
        """`known`: by the name of a column's attribute, what was not known before, one value for each row."""
        for name, column in known.items():
            at = self.names.index(name)
            for row, value in zip(self.values, column, strict=True):
                row[at] = value
        if self.values:
            with connections[self.alias].cursor() as cursor:
                cursor.executemany(self.statement, self.values)


def ready(model: type[Model], objects: Sequence[Model]) -> RowsToInsert:
    """Of objects of this model that are not stored yet; moments that Django would enter must be given."""
    alias = router.db_for_write(model)
    connection = connections[alias]
    fields = [one for one in model._meta.local_concrete_fields if one is not model._meta.auto_field]
    quote = connection.ops.quote_name
    columns, marks = ", ".join(quote(one.column) for one in fields), ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608
    values = [[one.get_db_prep_save(one.value_from_object(row), connection) for one in fields] for row in objects]
    return RowsToInsert(alias, statement, [one.attname for one in fields], values)
