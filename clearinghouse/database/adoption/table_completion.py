"""Owns: completing one standing table to what a model asks: ids, widths, missing columns, missing indexes.

Does not: drop, rename or rebuild anything of theirs (but see dialects.sqlite.give_ids). Called by: executor.
"""

import copy
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import NOT_PROVIDED, AutoField, UniqueConstraint, Value

from . import introspection
from .dialects import dialect


def complete(editor: Any, model: Any, table: str) -> None:
    connection = editor.connection
    fields: list[Any] = [field for field in model._meta.local_concrete_fields if field.db_type(connection) is not None]
    there = introspection.column_names(connection, table)
    missing = [field for field in fields if field.column.lower() not in there]
    for field in missing:
        add_column(editor, model, field)
    dialect(connection).widen(connection, table, [field for field in fields if field not in missing])
    key: Any = model._meta.pk
    if isinstance(key, AutoField):
        dialect(connection).give_ids(connection, table, there[str(key.column).lower()])
    _add_indexes(editor, model, table)
    _add_link_tables(editor, model)


def unfilled(connection: Any, model: Any) -> list[str]:
    """Sentences about columns of theirs that our INSERTs cannot fill; an adoption does not change such a column."""
    table = model._meta.db_table
    filled = {
        field.column.lower()
        for field in model._meta.local_concrete_fields
        if field.primary_key or not field.null or field.has_default()
    }
    return [
        f"{table}.{name} must be given but has no default: rows of {table} cannot be added from here until it has one"
        for name in dialect(connection).required(connection, table)
        if name not in filled
    ]


def add_column(editor: Any, model: Any, field: Any) -> None:
    """Other programs insert without our columns: each is nullable or has its default in the database."""
    column = copy.copy(field)
    column._unique = False
    _default_in_database(column)
    dialect(editor.connection).addable(column)
    definition, params = editor.column_sql(model, column)
    table, name = editor.quote_name(model._meta.db_table), editor.quote_name(field.column)
    editor.execute(f"ALTER TABLE {table} ADD {name} {definition}", params)


def _default_in_database(column: Any) -> None:
    if column.null or column.has_db_default():
        return
    if column.default is not NOT_PROVIDED and not callable(column.default):
        column.db_default = Value(column.get_prep_value(column.default))
        column.__dict__.pop("_db_default_expression", None)
    else:
        column.null = True


def _add_indexes(editor: Any, model: Any, table: str) -> None:
    connection = editor.connection
    with connection.cursor() as cursor:
        there = connection.introspection.get_constraints(cursor, table)
    indexed = {tuple(name.lower() for name in found["columns"] or []) for found in there.values()}
    for field in model._meta.local_concrete_fields:
        if (field.db_index or field.unique) and not field.primary_key and (field.column.lower(),) not in indexed:
            add_index_of(editor, model, field)
    for index in model._meta.indexes:
        if index.name not in there:
            editor.execute(index.create_sql(model, editor), None)
    for constraint in model._meta.constraints:
        if constraint.name not in there and isinstance(constraint, UniqueConstraint):
            editor.execute(constraint.create_sql(model, editor), None)


def add_index_of(editor: Any, model: Any, field: Any) -> None:
    if not field.unique:
        for statement in editor._field_indexes_sql(model, field):
            editor.execute(statement, None)
        return
    try:
        with transaction.atomic(using=editor.connection.alias):
            editor.execute(editor._create_unique_sql(model, [field]), None)
    except IntegrityError:
        # Rows of an old work table may repeat; they keep their place, and we look before we insert.
        editor.execute(editor._create_index_sql(model, fields=[field]), None)


def _add_link_tables(editor: Any, model: Any) -> None:
    there = introspection.tables(editor.connection)
    for field in model._meta.local_many_to_many:
        link = field.remote_field.through
        if link._meta.auto_created and link._meta.db_table.lower() not in there:
            editor.create_model(link)
