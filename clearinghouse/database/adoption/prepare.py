"""Owns: the order in which one database is made usable. Called by: the command `prepare`.

Looks first, at every row of what is to be adopted, and writes only what is missing. The tables of one database are
made, adopted or migrated in one transaction: a process killed in it leaves the database as it was. Old results are
loaded beside what stands, and shown in one more; what follows continues where it stopped.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import connections, transaction

from clearinghouse.web.plurals import plural

from ..aliases import DEFAULT, TARGETS
from . import database_views, introspection, required_rows, schema_check, usable
from .dialects import dialect
from .executor import AdoptingExecutor
from .prepare_lock import alone_with
from .rows import odd_rows, old_results, plain_passwords

CREATED, ADOPTED, MIGRATED, UP_TO_DATE = "created", "adopted", "migrated", "up to date"


@dataclass
class Prepared:
    """What was done to one database; notes are sentences for a person."""

    alias: str
    state: str = UP_TO_DATE
    tables: list[str] = field(default_factory=list)
    rows: int = 0
    notes: list[str] = field(default_factory=list)


def prepare(alias: str) -> Prepared:
    """Create, adopt, migrate or leave one database. Raises checks.Unusable with a sentence."""
    usable.check(alias)
    done = Prepared(alias)
    connection = connections[alias]
    with alone_with(alias):
        dialect(connection).erase_deleted(connection)
        old_results.refuse_two_sets(alias)
        if results_stand_as_tables(alias) or plan_of(alias):
            _make_tables(done)
        if lacking := schema_check.differences(alias):
            raise usable.Unusable(schema_check.sentence(alias, lacking), schema_check.what_to_do())
        required_rows.seed(alias)
        _show_results(done)
        database_views.create_views(alias)
        _fill(done)
        if done.state != UP_TO_DATE or done.notes:
            dialect(connection).flush(connection)
    return done


def results_stand_as_tables(alias: str) -> bool:
    return bool(set(database_views.NAMES) & set(introspection.tables(connections[alias])))


def plan_of(alias: str) -> list[Any]:
    executor = AdoptingExecutor(connections[alias], lambda _: None)
    return executor.migration_plan(executor.loader.graph.leaf_nodes())


def _make_tables(done: Prepared) -> None:
    alias = done.alias
    empty = introspection.is_empty(alias)
    connection = connections[alias]
    executor = AdoptingExecutor(connection, lambda tables: database_views.take_down(alias, tables))
    executor.loader.check_consistent_history(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    odd = odd_rows.examine(alias, connection, executor.to_be_adopted(plan))
    if dangling := dialect(connection).dangling(connection):
        refer = plural(dangling, "row refers,rows refer")
        done.notes.append(f"{refer} to what does not exist; kept as they are")
    with one_transaction(alias):
        odd_rows.forget_noughts(odd)
        emit_pre_migrate_signal(0, False, alias, plan=plan)
        state = executor.migrate(executor.loader.graph.leaf_nodes(), plan)
        done.tables = list(executor.adopted)
        emit_post_migrate_signal(0, False, alias, apps=state.apps, plan=plan)
    done.notes += [*odd.notes(), *executor.notes]
    done.state = CREATED if empty else ADOPTED if done.tables else MIGRATED if plan else UP_TO_DATE


def _show_results(done: Prepared) -> None:
    """The last step of an adoption, and the first that others see: old results become generation 1, in one moment."""
    alias = done.alias
    loadable = alias in TARGETS.values() and old_results.to_be_shown(alias)
    if loadable:
        old_results.load_beside(alias)
    if loadable or results_stand_as_tables(alias):
        with one_transaction(alias):
            shown = old_results.show_loaded(alias) if loadable else 0
            done.tables += old_results.put_aside(alias)
            database_views.create_views(alias)
        done.state = ADOPTED
        done.notes += [f"loaded {plural(shown, 'earlier result')} as generation 1"] if shown else []
    connection = connections[alias]
    done.rows = sum(introspection.count(connection, table) for table in done.tables)


@contextmanager
def one_transaction(alias: str) -> Iterator[None]:
    """All or nothing, also of SQLite's schema, whose foreign keys must be off before the transaction begins."""
    connection: Any = connections[alias]
    connection.disable_constraint_checking()
    check = connection.check_constraints
    if dialect(connection).dangling(connection):
        # The schema editor would refuse every migration because of rows that have always been so.
        connection.check_constraints = lambda table_names=None: None
    try:
        with transaction.atomic(using=alias):
            yield
    finally:
        connection.check_constraints = check
        connection.enable_constraint_checking()


def _fill(done: Prepared) -> None:
    """What needs no change of tables: passwords, old results, page types. Safe to repeat."""
    for config in apps.get_app_configs():
        # A room above this one completes its own rows: fill_adopted(alias) -> sentences, safe to repeat.
        done.notes += getattr(config, "fill_adopted", _nothing)(done.alias)
    if done.alias == DEFAULT:
        sealed, refused = plain_passwords.seal_plain()
        done.notes += [f"sealed {plural(sealed, 'plain password')} of crawl points"] if sealed else []
        done.notes += refused
    if done.state == ADOPTED:
        done.notes += required_rows.page_types_named_otherwise(done.alias)


def _nothing(alias: str) -> list[str]:
    return []
