"""Owns: the column that holds a digest. Does not: make one (see digests). Called by: models."""

from typing import Any

from django.db import models


class DigestField(models.BinaryField):
    """Thirty-two bytes that can be indexed on every server (a plain BinaryField cannot on SQL Server)."""

    def db_type(self, connection: Any) -> str:
        return {"postgresql": "bytea", "microsoft": "binary(32)"}.get(connection.vendor, "BLOB")

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> bytes | None:
        return None if value is None else bytes(value)
