"""Owns: SHA-256 keys of addresses and contents, and the column that holds them. Called by: models and the crawler.

Long text and case-insensitive collations make URL columns unfit as keys; a digest is exact everywhere.
"""

import hashlib
from typing import Any

from django.db import models

SIZE = 32


def digest_of(value: str | bytes) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value).digest()


class DigestField(models.BinaryField):
    """Thirty-two bytes that can be indexed on every server (a plain BinaryField cannot on SQL Server)."""

    def db_type(self, connection: Any) -> str:
        return {"postgresql": "bytea", "microsoft": "binary(32)"}.get(connection.vendor, "BLOB")

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> bytes | None:
        return None if value is None else bytes(value)
