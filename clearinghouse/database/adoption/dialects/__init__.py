"""Owns: what SQLite, PostgreSQL and SQL Server say differently about tables. One module per server, the same functions.

Does not: decide what is done. Called by: adoption.
"""

from importlib import import_module
from types import ModuleType
from typing import Any


def dialect(connection: Any) -> ModuleType:
    return import_module(f"{__name__}.{connection.vendor}")
