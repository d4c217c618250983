"""Owns: migrating one database so that tables which stand already are completed instead of created.

Does not: know any table by name. Called by: adoption.prepare.

Of four databases each gets few of the tables: a migration about others is only noted down. Django would draw every
model anew for each of its operations, which was two thirds of the time `prepare` took.

A migration that creates a table which is already there was either never run on this existing database, or was
killed before it was recorded. Its other operations run; the standing tables are completed to its end state.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import migrations, router
from django.db.migrations.executor import MigrationExecutor

from . import introspection
from .table_completion import complete, unfilled


class AdoptingExecutor(MigrationExecutor):
    """`before_adopting(tables)` is called before the first standing tables are touched."""

    def __init__(self, connection: Any, before_adopting: Callable[[list[str]], None]) -> None:
        super().__init__(connection)
        self.adopted: list[str] = []
        self.notes: list[str] = []
        self._before_adopting = before_adopting

    def to_be_adopted(self, plan: Any) -> list[str]:
        """The tables that stand already although a migration of this plan would create them."""
        return sorted({table for migration, _ in plan for table in self._standing_models(migration).values()})

    def _migrate_all_forwards(self, state: Any, plan: Any, full_plan: Any, fake: bool, fake_initial: bool) -> Any:
        missing = {migration for migration, _ in plan}
        for migration in [migration for migration, _ in full_plan if migration in missing]:
            if self._concerns_us(migration):
                state.apps  # noqa: B018 - drawn once here, kept up to date from then on
                state = self.apply_migration(state, migration, fake=fake, fake_initial=fake_initial)
            else:
                state.__dict__.pop("apps", None)  # else every operation would draw models anew
                state = migration.mutate_state(state, preserve=False)
                self.record_migration(migration)  # type: ignore[call-arg]  # the stubs know another version
        return state

    def _concerns_us(self, migration: Any) -> bool:
        """Whether an operation of it may do something on this database."""
        return any(
            router.allow_migrate(self.connection.alias, migration.app_label, **_hints_of(operation))
            for operation in _in_the_database(migration.operations)
        )

    def apply_migration(self, state: Any, migration: Any, fake: bool = False, fake_initial: bool = False) -> Any:
        found = self._standing_models(migration)
        if found:
            self._before_adopting(sorted(found.values()))
            state = self._adopt(state, migration, found)
        else:
            state = super().apply_migration(state, migration, fake, fake_initial)
        if self.connection.vendor == "postgresql":
            # All migrations share a transaction here, and a table with checks still waiting cannot be altered.
            self.connection.check_constraints()
        return state

    def _standing_models(self, migration: Any) -> dict[str, str]:
        """Models this migration would create although their table stands: lower-case model name -> table."""
        there = introspection.tables(self.connection)
        return {
            operation.name_lower: there[table]
            for operation in migration.operations
            if isinstance(operation, migrations.CreateModel)
            and operation.options.get("managed", True)
            and router.allow_migrate(self.connection.alias, migration.app_label, model_name=operation.name_lower)
            and (table := _table_of(migration, operation).lower()) in there
        }

    def _adopt(self, state: Any, migration: Any, found: dict[str, str]) -> Any:
        gentle = type(migration)(migration.name, migration.app_label)
        gentle.operations = [
            migrations.SeparateDatabaseAndState(state_operations=[operation])
            if _model_of(operation) in found
            else operation
            for operation in migration.operations
        ]
        with self.connection.schema_editor(atomic=True) as editor:
            state = gentle.apply(state, editor)
            for name, table in found.items():
                model = state.apps.get_model(migration.app_label, name)
                complete(editor, model, table)
                self.notes += unfilled(self.connection, model)
        self.record_migration(migration)  # type: ignore[call-arg]  # the stubs know another version
        self.adopted += found.values()
        return state


def _table_of(migration: Any, operation: Any) -> str:
    return operation.options.get("db_table") or f"{migration.app_label}_{operation.name_lower}"


def _model_of(operation: Any) -> str:
    """The model an operation is about, lower case; "" for an operation that is about none."""
    return getattr(operation, "model_name_lower", getattr(operation, "name_lower", ""))


def _in_the_database(operations: Iterable[Any]) -> Iterator[Any]:
    """Those that do something there: of one that tells database and state apart, what it does in the database."""
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from _in_the_database(operation.database_operations)
        else:
            yield operation


def _hints_of(operation: Any) -> dict[str, Any]:
    """What the router is told of an operation."""
    return {"model_name": _model_of(operation) or None} | getattr(operation, "hints", {})
