"""Owns: the seed's doc_crawl_page and crawl_page_meta as views, in every database; the SQL stands in sql/.

Does not: touch a real table of that name (an unadopted library has two). Called by: pre_migrate and post_migrate
through published/apps.py, and by `prepare`.

Other people's views over ours are taken down with them and put back: PostgreSQL refuses to drop what others use,
SQLite refuses to alter tables while a view is broken.
"""

import re
from pathlib import Path
from typing import Any

from django.db import connections, transaction

from ..aliases import WEBCRAWL
from ..digests import digest_of
from . import introspection, saved_ddl
from .dialects import dialect

NAMES = ("doc_crawl_page", "crawl_page_meta")
_SQL = Path(__file__).parent / "sql"
_BASES = {
    True: {"page_head", "page_version", "page_body"},
    False: {"live_generation", "published_interval", "published_version", "published_meta"},
}


def create_views(alias: str) -> None:
    """Make or renew the two views of this database; a view that is up to date is left alone. Safe to repeat."""
    connection = connections[alias]
    standing_tables = introspection.tables(connection)
    if not set(standing_tables) >= _BASES[alias == WEBCRAWL] or set(NAMES) & set(standing_tables):
        return
    wanted = {name: view_sql(alias, name, connection.vendor) for name in NAMES}
    with transaction.atomic(using=alias):
        if any(_mark_of(connection, name) != _mark(sql) for name, sql in wanted.items()):
            drop_views(alias)
            for name, sql in wanted.items():
                dialect(connection).create_view(connection, name, sql, _mark(sql))
        saved_ddl.put_back(connection)


def drop_views(alias: str) -> None:
    """Drop the two views, if they are views; what other people built on them comes back with create_views."""
    connection = connections[alias]
    ours = sorted(set(NAMES) & set(introspection.view_names(connection)))
    if ours:
        with transaction.atomic(using=alias):
            take_down(alias, ours)
            for name in ours:
                introspection.run(connection, f"DROP VIEW {introspection.quoted(connection, name)}")


def take_down(alias: str, names: Any) -> None:
    """Drop other people's views that use any of these tables or views, until create_views puts them back.

    Of the results themselves also the rights to read are kept: a table is renamed, a view dropped, both lose them.
    """
    connection = connections[alias]
    for name in set(names) & set(NAMES):
        saved_ddl.keep(connection, dialect(connection).rights_to_read(connection, name))
    for drop, put_back in dialect(connection).views_using(connection, set(names), set(NAMES)):
        introspection.run(connection, drop)
        saved_ddl.keep(connection, put_back)


def alter_with_care(alias: str) -> None:
    """Migrations of this process keep what other programs added to our tables."""
    connection = connections[alias]
    if connection.vendor == "sqlite":
        from .dialects.sqlite_migrations import CarefulEditor

        connection.SchemaEditorClass = CarefulEditor


def view_sql(alias: str, name: str, vendor: str) -> str:
    """The CREATE VIEW statement of this database and server."""
    home = "webcrawl" if alias == WEBCRAWL else "target"
    file = _SQL / f"{home}_{name}.sql"
    file = file if file.exists() else _SQL / f"{home}_{name}.{vendor}.sql"
    return re.sub(r"^--.*\n", "", file.read_text(), flags=re.MULTILINE).strip()


def _mark(sql: str) -> str:
    return f"clearinghouse {digest_of(sql).hex()[:16]}"


def _mark_of(connection: Any, name: str) -> str | None:
    """What stands there now, comparable with _mark; None when it is not there."""
    stored = dialect(connection).stored_view(connection, name)
    return _mark(stored) if stored and not stored.startswith("clearinghouse ") else stored
