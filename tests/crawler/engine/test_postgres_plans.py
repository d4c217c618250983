"""On PostgreSQL: how an address of a crawl under way is found, when statistics are older than the crawl."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.adoption.conftest import Install
from tests.postgres import Server, postgres  # noqa: F401 - a fixture

MANY = 5_000  # rows of an excursion
KEY = "excursion_id = 9 AND url_key = sha256('7'::bytea)"
TABLES = {
    "ledger": ("url, outcome, reason, detail, status, depth, hop, redirect_url, size, milliseconds, at, doc_id",
               "'', 'skipped', 'too_deep', '', 0, 1, 0, '', 0, 0, now(), 1"),
    "message": ("url, owner_id, reach, depth, state, attempts, not_before", "'', 1, '1:1:0', 1, 0, 0, 0"),
}  # fmt: skip


@pytest.fixture(scope="module")
def webcrawl(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Server, str]:  # noqa: F811
    """A prepared WebCrawl database, and its name."""
    install = Install(Path(tmp_path_factory.mktemp("install")), postgres)
    install.prepare()
    return postgres, urlsplit(install.urls["webcrawl"]).path.lstrip("/")


@pytest.mark.parametrize("table", TABLES)
def test_an_address_of_a_new_crawl_is_found_by_its_key_alone(table: str, webcrawl: tuple[Server, str]) -> None:
    server, database = webcrawl

    def rows(excursion: int) -> str:
        columns, values = TABLES[table]
        return (
            f"INSERT INTO {table} (excursion_id, url_key, {columns}) "
            f"SELECT {excursion}, sha256(i::text::bytea), {values} FROM generate_series(1, {MANY}) i"
        )

    with server.connect(database) as connection:
        connection.execute("SET session_replication_role = replica")  # without the rows of excursions
        for old in (1, 2, 3):
            connection.execute(rows(old))
        connection.execute(f"ANALYZE {table}")
        connection.execute(rows(9))
        answer = connection.execute(f"EXPLAIN ANALYZE SELECT id FROM {table} WHERE {KEY}")
        plan = [line for (line,) in answer.fetchall()]
    assert f"Index Scan using {table}_unique" in plan[0]
    assert not any("Rows Removed" in line for line in plan)
