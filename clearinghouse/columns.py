"""Owns: the columns that must be told each server in its own words. Does not: make a digest (see digests).

Called by: models, queries.
"""

from typing import Any

from django.db import models

_LETTER_BY_LETTER = "Latin1_General_100_BIN2"


class DigestField(models.BinaryField):
    """Thirty-two bytes that can be indexed on every server (a plain BinaryField cannot on SQL Server)."""

    def db_type(self, connection: Any) -> str:
        return {"postgresql": "bytea", "microsoft": "binary(32)"}.get(connection.vendor, "BLOB")

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> bytes | None:
        return None if value is None else bytes(value)


class ExactCharField(models.CharField):
    """A text that is itself and nothing like it: by its default SQL Server takes "resume" and "Resumé" for the same."""

    def db_type(self, connection: Any) -> str:
        kind = str(super().db_type(connection))
        return f"{kind} COLLATE {_LETTER_BY_LETTER}" if connection.vendor == "microsoft" else kind


class Exact(models.Func):
    """A text told apart letter by letter: SQL Server would count /Docs/ and /docs/ as one."""

    template = "%(expressions)s"
    arity = 1

    def as_microsoft(self, compiler: Any, connection: Any) -> Any:
        return self.as_sql(compiler, connection, template=f"%(expressions)s COLLATE {_LETTER_BY_LETTER}")
