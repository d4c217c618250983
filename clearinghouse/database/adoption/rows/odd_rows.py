"""Owns: looking at every row of a database to be adopted before anything of it is changed.

A row that we could not read afterwards would stop us half-way, or break a page of ours later. What says nothing (a
date of noughts) or loses nothing (the results stay aside as they are) is adopted and told of; everything else is named
with its table, key and column, and nothing is changed. Called by: adoption.prepare.
"""

from collections import Counter
from typing import Any

from django.apps import apps
from django.db import router
from django.db.models import BooleanField, CharField, DateField, Field, IntegerField, TextField

from clearinghouse.web.plurals import plural

from .. import introspection
from ..usable import Unusable
from . import old_rows
from .old_rows import NUMBER, TEXT, TIME, UnreadableValue

_MOST_NAMED = 20
_HIDDEN = {"crawl_pw_str", "crawl_id_str"}
_VERSION = "ts"  # whatever stands in it becomes a number when the column is widened
PAGES, METAS = "doc_crawl_page", "crawl_page_meta"
# Of the results what is read of them; their rows stay aside as they are.
RESULTS: dict[str, dict[str, str]] = {
    PAGES: {"doc_crawl_page_id": NUMBER, "doc_id": NUMBER, "crawl_page_url": TEXT, "crawl_page_type_id": NUMBER,
            "title_str": TEXT, "page_ext": TEXT, "create_dt": TIME, "update_dt": TIME, "update_nm": TEXT},
    METAS: {"crawl_page_meta_id": NUMBER, "doc_crawl_page_id": NUMBER, "name_str": TEXT, "content_str": TEXT},
}  # fmt: skip
_MUST_BE_RIGHT = {"doc_crawl_page_id", "doc_id", "crawl_page_url", "crawl_page_type_id", "crawl_page_meta_id"}
_MUST_BE_GIVEN = _MUST_BE_RIGHT - {"crawl_page_type_id"}
_ONCE = {METAS}  # of pages with the same number one is shown, as before


class Examined:
    """What was found in one database."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.refused: list[str] = []
        self.count = 0
        self.borne: Counter[tuple[str, str, str]] = Counter()  # table, column, why
        self.noughts: list[tuple[str, str]] = []  # table, column: dates of noughts in tables that are kept

    def refuse(self, table: str, key: Any, column: str, why: str, shown: str = "") -> None:
        self.count += 1
        value = "" if not shown else " (not shown here)" if column in _HIDDEN else f": {shown}"
        if len(self.refused) < _MOST_NAMED:
            self.refused.append(f"{table} {key}, {column} {why}{value}")

    def notes(self) -> list[str]:
        """Sentences about what was adopted although it is odd."""
        told = {
            "is not a date": "{n} of {t}.{c}: no date, taken as not known",
            "is not UTF-8": "{n} of {t}.{c}: not UTF-8, shown as Windows-1252; the row itself is kept as it is",
        }
        return [
            told[why].format(n=plural(number, "value"), t=table, c=column)
            for (table, column, why), number in sorted(self.borne.items())
        ]


def examine(alias: str, connection: Any, adopted: list[str]) -> Examined:
    """Look at the results, and at these tables which are to become ours. Raises Unusable naming the odd rows."""
    found = Examined(connection)
    there = introspection.tables(connection)
    for table, kinds in RESULTS.items():
        if table in there:
            _examine_results(found, there[table], kinds)
    models = {model._meta.db_table: model for model in apps.get_models() if router.allow_migrate_model(alias, model)}
    for table in sorted({name.lower() for name in adopted} & set(models)):
        _examine_kept(found, there[table], models[table])
    if found.refused:
        more = f"; and {found.count - _MOST_NAMED:,} more" if found.count > _MOST_NAMED else ""
        why = f"{alias}: {plural(found.count, 'value')} cannot be read, so nothing was changed: "
        raise Unusable(why + "; ".join(found.refused) + more, "correct these rows, then run prepare again")
    return found


def _examine_results(found: Examined, table: str, kinds: dict[str, str]) -> None:
    columns = introspection.column_names(found.connection, table)
    kinds = {name: kind for name, kind in kinds.items() if name in columns}
    if missing := _MUST_BE_GIVEN & set(RESULTS[table.lower()]) - set(kinds):
        return found.refuse(table, "", ", ".join(sorted(missing)), "is missing")
    keys = list(kinds)
    seen: set[Any] = set()
    for row in old_rows.rows(found.connection, table, kinds, keys[0]):
        named = dict(zip(keys, row, strict=True))
        key = old_rows.shown(row[0])
        for name, stored in named.items():
            value = old_rows.read(kinds[name], stored)
            if value is None and name in _MUST_BE_GIVEN:
                found.refuse(table, key, name, "is empty")
            elif isinstance(value, UnreadableValue) and name in _MUST_BE_RIGHT:
                found.refuse(table, key, name, value.why, value.shown)
            elif isinstance(value, UnreadableValue):
                found.borne[table, name, value.why] += 1
        if table.lower() in _ONCE:
            if row[0] in seen:
                found.refuse(table, key, keys[0], "is in several rows")
            seen.add(row[0])
    return None


def _examine_kept(found: Examined, table: str, model: Any) -> None:
    columns = introspection.column_names(found.connection, table)
    fields = {f.column.lower(): f for f in model._meta.local_concrete_fields if f.column.lower() in columns}
    kinds = {name: kind for name, field in fields.items() if name != _VERSION and (kind := _kind(field))}
    key = model._meta.pk.column.lower()
    kinds = {key: kinds.get(key, NUMBER)} | kinds
    seen: set[Any] = set()
    for row in old_rows.rows(found.connection, table, kinds, key):
        _examine_row(found, table, dict(zip(kinds, row, strict=True)), kinds, fields)
        if row[0] is not None and row[0] in seen:
            found.refuse(table, old_rows.shown(row[0]), key, "is in several rows")
        seen.add(row[0])


def _examine_row(
    found: Examined, table: str, row: dict[str, Any], kinds: dict[str, str], fields: dict[str, Any]
) -> None:
    key = old_rows.shown(next(iter(row.values())))
    for name, stored in row.items():
        value = old_rows.read(kinds[name], stored)
        if not isinstance(value, UnreadableValue):
            continue
        if value.unknown and fields[name].null:
            found.borne[table, name, value.why] += 1
            if (table, name) not in found.noughts:
                found.noughts.append((table, name))
        else:
            found.refuse(table, key, name, value.why, value.shown)


def _kind(field: Field) -> str:
    target: Any = field.target_field if field.is_relation else field
    if isinstance(target, DateField):  # a time is one, too
        return TIME
    if isinstance(target, CharField | TextField):
        return TEXT
    return NUMBER if isinstance(target, IntegerField | BooleanField) else ""


def forget_noughts(found: Examined) -> None:
    """Dates of noughts in tables that are kept become empty: no driver of ours reads them, and they say nothing."""
    for table, column in found.noughts:
        name = introspection.quoted(found.connection, introspection.column_names(found.connection, table)[column])
        home, text = introspection.quoted(found.connection, table), f"LTRIM(CAST({name} AS varchar(40)))"
        introspection.run(found.connection, f"UPDATE {home} SET {name} = NULL WHERE {text} LIKE '0000-00-00%'")  # noqa: S608
