"""Of four databases each gets few of the tables, and `prepare` loses no time over the others."""

import pytest
from django.db import connections

from clearinghouse.database.adoption.executor import AdoptingExecutor

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


@pytest.mark.parametrize(
    ("alias", "expected"),
    [
        ("webcrawl", {"crawler", "published", "search"}),
        ("primary", {"published"}),
        ("backup", {"published"}),
    ],
)
def test_a_database_is_asked_only_about_migrations_that_may_change_it(alias: str, expected: set[str]) -> None:
    executor = AdoptingExecutor(connections[alias], lambda tables: None)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes(), clean_start=True)
    assert {migration.app_label for migration, _ in plan if executor._concerns_us(migration)} == expected
