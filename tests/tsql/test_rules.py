"""The rules that every statement for SQL Server is held to: what they let pass, and what they must not."""

import pytest

from tests.tsql.rules import MOST_PARAMETERS, faults

RIGHT = [
    "SELECT TOP 21 [run].[id] FROM [run] WHERE [run].[state] = %s ORDER BY [run].[id] ASC",
    "SELECT [id] FROM [run] WHERE [name] LIKE %s ESCAPE '\\' ORDER BY [id] OFFSET 20 ROWS FETCH FIRST 10 ROWS ONLY",
    "SELECT CASE WHEN [x] = 1 THEN 1 ELSE 0 END AS [y] FROM [run] WITH (ROWLOCK, UPDLOCK, READPAST)",
    "SET NOCOUNT ON INSERT INTO [run] ([state]) VALUES (%s); SELECT CAST(SCOPE_IDENTITY() AS bigint)",
    'IF NOT EXISTS (SELECT 1 FROM host WITH (UPDLOCK, HOLDLOCK) WHERE "key" = %s) INSERT INTO host ("key") VALUES (%s)',
    "SELECT [a] FROM [b] WHERE EXISTS(SELECT 1 FROM [c] WHERE [c].[limit] = [b].[true])",
]
WRONG = [
    "SELECT id FROM run ORDER BY id LIMIT 5",
    "SELECT id FROM run ORDER BY id OFFSET 5",
    "SELECT id FROM run OFFSET 5 ROWS FETCH NEXT 1 ROWS ONLY",
    "INSERT INTO run (id) VALUES (%s) ON CONFLICT DO NOTHING",
    "INSERT INTO run (id) VALUES (%s) RETURNING id",
    "SELECT id FROM run WHERE alive",
    "SELECT id FROM run WHERE NOT alive AND state = 'x'",
    "SELECT id FROM run WHERE alive = TRUE",
    "SELECT a = b AS same FROM run",
    "SELECT EXISTS(SELECT 1 FROM run) AS some",
    "SELECT CASE WHEN alive THEN 1 ELSE 0 END FROM run",
    "SELECT a FROM run JOIN instance ON instance.alive",
    "SELECT a FROM run ORDER BY a > 5",
    "SELECT a FROM (SELECT a FROM run ORDER BY a) AS b",
    "SELECT name || title FROM run",
    "SELECT tallies->>'x' FROM run",
    "SELECT id::text FROM run",
    "SELECT id FROM run WHERE name ILIKE %s",
    "SELECT id FROM run FOR UPDATE SKIP LOCKED",
    "SELECT id FROM host WHERE key = %s",
    "UPDATE run SET left = %s",
    "CREATE TABLE IF NOT EXISTS run (id int)",
    "SELECT rowid FROM published_index WHERE published_index MATCH %s",
    "SELECT FROM WHERE",
    "CREATE FULLTEXT INDEX ON run (title) KEY INDEX a ON b WITH (SOMETHING = ELSE)",
]


@pytest.mark.parametrize("sql", RIGHT)
def test_what_the_server_takes_passes(sql: str) -> None:
    assert faults(sql, 3) == []


@pytest.mark.parametrize("sql", WRONG)
def test_what_it_would_refuse_is_found(sql: str) -> None:
    assert faults(sql, 3)


def test_more_parameters_than_it_takes_are_found() -> None:
    assert faults("SELECT 1 FROM run", MOST_PARAMETERS + 1) == [f"{MOST_PARAMETERS + 1} parameters"]
