"""Owns: whether the tables that stand are those the models of this version work with. Changes nothing.

What is recorded as migrated may be something else: a database of a state between two releases, or one that somebody
altered. Columns of others are no fault. Called by: adoption.prepare, the doctor.
"""

from collections import defaultdict
from typing import Any

from django.apps import apps
from django.db import connections, router

from .dialects import dialect

_WHAT_TO_DO = (
    "restore a backup that a released version made, or move this database away and prepare a new one; "
    "manage.py sqlmigrate shows how each table is made"
)
_MOST_NAMED = 20
# Tables that an adopted library brings: theirs may be stricter about what is empty, and we write what they ask.
_OF_THE_SEED = {
    "doc", "doc_status", "field", "field_type", "crawl_point", "doc_field_crawl_point", "doc_crawl_exclude_url",
    "crawl_page_type", "active_queue", "crawled_pages",
}  # fmt: skip


def differences(alias: str) -> list[str]:
    """What the tables of this database lack, one phrase each; empty when this version can work with them."""
    connection = connections[alias]
    there: dict[str, dict[str, tuple[str, bool]]] = defaultdict(dict)
    for table, column, kind, required in dialect(connection).all_columns(connection):
        there[table.lower()][column.lower()] = (kind, bool(required))
    found = []
    for model in apps.get_models(include_auto_created=True):
        meta: Any = model._meta
        if meta.managed and not meta.proxy and router.allow_migrate_model(alias, model):
            found += _of_table(connection, meta, there.get(meta.db_table.lower()))
    return sorted(found)


def sentence(alias: str, found: list[str]) -> str:
    more = f"; and {len(found) - _MOST_NAMED:,} more" if len(found) > _MOST_NAMED else ""
    return f"{alias}: the tables are not those of this version: {'; '.join(found[:_MOST_NAMED])}{more}"


def what_to_do() -> str:
    return _WHAT_TO_DO


def _of_table(connection: Any, meta: Any, columns: dict[str, tuple[str, bool]] | None) -> list[str]:
    if columns is None:
        return [f"there is no table {meta.db_table}"]
    found = []
    for field in meta.local_concrete_fields:
        wanted, name = field.db_type(connection), field.column.lower()
        if wanted is None:
            continue
        if name not in columns:
            found.append(f"{meta.db_table} has no column {field.column}")
            continue
        kind, required = columns[name]
        if required and field.null and meta.db_table not in _OF_THE_SEED:
            found.append(f"{meta.db_table}.{field.column} must be given here, and may be empty in this version")
        if dialect(connection).too_narrow(kind, wanted):
            found.append(f"{meta.db_table}.{field.column} is {kind} here, and {wanted} in this version")
    return found
