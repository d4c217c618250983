"""Owns: later migrations of tables in which other programs have columns, triggers or indexes of their own, on SQLite.

Django alters an SQLite table by making it anew with the model's columns only: what it does not know would be lost.
Called by: pre_migrate through published/apps.py. Tables without anything of theirs go Django's way.
"""

from typing import Any

from django.db.backends.sqlite3.schema import DatabaseSchemaEditor
from django.db.models import UniqueConstraint

from ..introspection import column_names, rows
from ..table_completion import add_column, add_index_of


class CarefulEditor(DatabaseSchemaEditor):
    """Alters tables that hold something of theirs with ALTER TABLE alone."""

    def add_field(self, model: Any, field: Any) -> None:
        if field.many_to_many or not self._holds_theirs(model):
            super().add_field(model, field)
            return
        add_column(self, model, field)
        if field.db_index or field.unique:
            add_index_of(self, model, field)

    def add_constraint(self, model: Any, constraint: Any) -> None:
        if isinstance(constraint, UniqueConstraint) and self._holds_theirs(model):
            self.execute(constraint.create_sql(model, self), None)
        elif not self._holds_theirs(model):
            super().add_constraint(model, constraint)

    def remove_constraint(self, model: Any, constraint: Any) -> None:
        if isinstance(constraint, UniqueConstraint) and self._holds_theirs(model):
            self.execute(constraint.remove_sql(model, self), None)
        elif not self._holds_theirs(model):
            super().remove_constraint(model, constraint)

    def _remake_table(
        self, model: Any, create_field: Any = None, delete_field: Any = None, alter_fields: Any = None
    ) -> None:
        if not self._holds_theirs(model):
            super()._remake_table(  # type: ignore[misc]
                model, create_field, delete_field, alter_fields
            )
            return
        table = self.quote_name(model._meta.db_table)
        if delete_field:
            self.execute(f"ALTER TABLE {table} DROP COLUMN {self.quote_name(delete_field.column)}")
        for old, new in alter_fields or ():
            # Widths and types are not enforced here; only a new name changes anything.
            if old.column != new.column:
                names = f"{self.quote_name(old.column)} TO {self.quote_name(new.column)}"
                self.execute(f"ALTER TABLE {table} RENAME COLUMN {names}")

    def _holds_theirs(self, model: Any) -> bool:
        table = model._meta.db_table
        known = {field.column.lower() for field in model._meta.local_concrete_fields}
        theirs = "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s"
        unknown = set(column_names(self.connection, table)) - known
        return bool(unknown or rows(self.connection, theirs, (table,)))
