"""The rules that every statement for SQL Server is held to: what they let pass, and what they must not."""

import pytest

from tests.tsql.rules import MOST_PARAMETERS, faults

RIGHT = [
    "SELECT TOP 21 [run].[id] FROM [run] WHERE [run].[state] = %s ORDER BY [run].[id] ASC",
    "SELECT [id] FROM [run] WHERE [name] LIKE %s ESCAPE '\\' ORDER BY [id] OFFSET 20 ROWS FETCH FIRST 10 ROWS ONLY",
    "SELECT CASE WHEN [x] = 1 THEN 1 ELSE 0 END AS [y] FROM [run] WITH (ROWLOCK, UPDLOCK, READPAST)",
    "SET NOCOUNT ON INSERT INTO [run] ([state]) VALUES (%s); SELECT CAST(SCOPE_IDENTITY() AS bigint)",
    "SET IDENTITY_INSERT [run] ON; INSERT INTO [run] ([id]) VALUES (%s); SET IDENTITY_INSERT [run] OFF",
    'IF NOT EXISTS (SELECT 1 FROM host WITH (UPDLOCK, HOLDLOCK) WHERE "key" = %s) INSERT INTO host ("key") VALUES (%s)',
    "SELECT [a] FROM [b] WHERE EXISTS(SELECT 1 FROM [c] WHERE [c].[limit] = [b].[true])",
    "DECLARE @var0 INT = ? ,@var1 NVARCHAR(3) = ?  \nSELECT [a] + @var0 FROM [c] WHERE [d] = @var1 GROUP BY [a]+@var0",
    "SELECT DISTINCT [run].[a] AS [b] FROM [run] ORDER BY 1 ASC OFFSET 0 ROWS",
    "SELECT [a], COUNT_BIG(*), MAX([b]) FROM [run] GROUP BY [a] HAVING COUNT_BIG(*) > 1 ORDER BY 2 DESC, 1 ASC",
    "SELECT [a], ROW_NUMBER() OVER (PARTITION BY [b] ORDER BY [c] DESC) AS [n] FROM [run]",
    "SELECT m.a FROM (SELECT a, 1 AS b FROM run UNION ALL SELECT c, 2 FROM run) AS m WHERE m.b = 2",
    "SELECT AVG(CONVERT(float, [a])) FROM [run]",
    "UPDATE run SET a = a + 1 WHERE id IN (SELECT TOP 5 id FROM run ORDER BY id)",
]
WRONG = {
    # Of other servers.
    "SELECT id FROM run ORDER BY id LIMIT 5": "LIMIT is no T-SQL",
    "SELECT id FROM run ORDER BY id OFFSET 5": "OFFSET 5 is no T-SQL",
    "INSERT INTO run (id) VALUES (%s) ON CONFLICT DO NOTHING": "ON CONFLICT is no T-SQL",
    "INSERT INTO run (id) VALUES (%s) RETURNING id": "RETURNING is no T-SQL",
    "SELECT name || title FROM run": "|| is no T-SQL",
    "SELECT tallies->>'x' FROM run": "->> is no T-SQL",
    "SELECT id::text FROM run": ":: is no T-SQL",
    "SELECT id FROM run WHERE name ILIKE %s": "ILIKE is no T-SQL",
    "SELECT id FROM run FOR UPDATE SKIP LOCKED": "FOR UPDATE is no T-SQL",
    "SELECT id FROM run WHERE at > at - INTERVAL '1 day'": "INTERVAL is no T-SQL",
    "SELECT CAST(a AS boolean) AS b FROM run": "AS boolean is no T-SQL",
    "CREATE TABLE IF NOT EXISTS run (id int)": "CREATE TABLE IF NOT EXISTS is no T-SQL",
    "SELECT rowid FROM published_index WHERE published_index MATCH %s": "rowid is no T-SQL",
    "SELECT COUNT(*) FILTER (WHERE a = 1) FROM run": "FILTER is no T-SQL",
    "SELECT LENGTH(a) FROM run": "LENGTH is no function of T-SQL",
    "SELECT json_extract(a, '$.b') FROM run": "json_extract is no T-SQL",
    "SELECT id FROM run WHERE at > now()": "now is no function of T-SQL",
    # Yes and no.
    "SELECT id FROM run WHERE alive": "no comparison",
    "SELECT id FROM run WHERE NOT alive AND state = 'x'": "no comparison",
    "SELECT id FROM run WHERE ISJSON(a)": "no comparison",
    "SELECT id FROM run WHERE alive = TRUE": "TRUE is no T-SQL",
    "SELECT id FROM run WHERE alive IS 1": "IS of something else than NULL",
    "SELECT a = b AS same FROM run": "a condition stands as a column",
    "SELECT EXISTS(SELECT 1 FROM run) AS some": "a condition stands as a column",
    "SELECT CASE WHEN alive THEN 1 ELSE 0 END FROM run": "no comparison",
    "SELECT a FROM run JOIN instance ON instance.alive": "no comparison",
    "SELECT a FROM run WHERE (a = 1) = (b = 1)": "a condition is compared",
    "SELECT a FROM run WHERE (a, b) > (%s, %s)": "rows are compared",
    "SELECT a FROM run WHERE (a, b) IN (SELECT c, d FROM host)": "rows are compared",
    "SELECT a FROM run WHERE a IN ()": "IN of nothing",
    # Order.
    "SELECT id FROM run OFFSET 5 ROWS FETCH NEXT 1 ROWS ONLY": "OFFSET without ORDER BY",
    "SELECT id FROM run ORDER BY id FETCH NEXT 1 ROWS ONLY": "FETCH without OFFSET",
    "SELECT TOP 5 id FROM run ORDER BY id OFFSET 5 ROWS": "TOP beside OFFSET",
    "SELECT a FROM run ORDER BY a > 5": "ordered by a condition",
    "SELECT a FROM run ORDER BY a, b, a DESC": "ordered twice by a",
    "SELECT a FROM (SELECT a FROM run ORDER BY a) AS b": "ORDER BY in a subquery without TOP",
    "SELECT DISTINCT a FROM run ORDER BY b": "DISTINCT, but ordered by what is not selected",
    "SELECT ROW_NUMBER() OVER (PARTITION BY a) FROM run": "a rank without ORDER BY",
    "SELECT SUM(a) OVER (ORDER BY 1) FROM run": "a window ordered by a number",
    # Groups.
    "SELECT a, COUNT(*) FROM run GROUP BY 1": "grouped by a number",
    "SELECT a + %s AS b, COUNT(*) FROM run GROUP BY a + %s": "grouped by a parameter",
    "SELECT LEFT(a, 3) AS b, COUNT(*) FROM run GROUP BY b": "grouped by a name that SELECT only gives",
    "SELECT COUNT(*) FROM run GROUP BY (SELECT MAX(b) FROM host)": "grouped by a subquery",
    "SELECT a, b, COUNT(*) FROM run GROUP BY a": "neither grouped nor counted: b",
    "SELECT a, MAX(b) FROM run": "neither grouped nor counted: a",
    "SELECT a FROM run GROUP BY a HAVING b > 1": "neither grouped nor counted: b",
    "SELECT SUM(CASE WHEN EXISTS(SELECT 1 FROM host) THEN 1 ELSE 0 END) FROM run": "an aggregate of a subquery",
    "SELECT COUNT(CASE WHEN a IN (SELECT b FROM host) THEN 1 END) FROM run": "an aggregate of a subquery",
    "SELECT MAX(COUNT(*)) FROM run GROUP BY a": "an aggregate of an aggregate",
    "SELECT AVG(milliseconds) FROM ledger": "AVG of whole numbers is a whole number there",
    "DECLARE @var0 VARBINARY = ?  \nSELECT a, COUNT(*) FROM b WHERE a = @var0 GROUP BY a": "holds one byte",
    # Tables and names.
    "SELECT a FROM (SELECT a FROM run)": "a table without a name",
    "SELECT b.a FROM (SELECT a, COUNT(*) FROM run GROUP BY a) AS b": "a column of a table in FROM has no name",
    "SELECT b.a FROM (SELECT r.id, h.id FROM run r JOIN host h ON r.a = 1) AS b": "two columns of a table in FROM are",
    "SELECT a FROM run WHERE a IN (WITH b AS (SELECT 1 AS c) SELECT c FROM b)": "WITH inside a statement",
    "UPDATE run AS r SET a = 1": "UPDATE of a table with another name",
    "DELETE FROM run AS r WHERE r.a = 1": "DELETE of a table with another name",
    "SELECT id FROM host WHERE key = %s": "a reserved word for a name: key",
    "SELECT plan FROM run": "a reserved word for a name: plan",
    "UPDATE run SET percent = %s": "a reserved word for a name: percent",
    # Rows that are written.
    "IF NOT EXISTS (SELECT 1 FROM a WHERE b = %s) INSERT INTO a (b) VALUES (%s)": "two at once may both see nothing",
    "MERGE INTO a USING b ON a.c = b.c WHEN NOT MATCHED THEN INSERT (c) VALUES (b.c);": "MERGE, which two at once",
    f"INSERT INTO run (id) VALUES {', '.join(['(1)'] * 1_001)}": "1001 rows in one VALUES",
    "SET NOCOUNT ON INSERT INTO run (id) VALUES ((1); SELECT 1": "cannot be parsed",
    "DECLARE @var0 INT = ?  \nSELECT a FROM run WHERE alive GROUP BY a": "no comparison",
    "CREATE TABLE a (b int REFERENCES c (d) ON DELETE CASCADE)": "deletes go on to other tables",
    # Not understood at all.
    "SELECT FROM WHERE": "cannot be parsed",
    "CREATE FULLTEXT INDEX ON run (title) KEY INDEX a ON b WITH (SOMETHING = ELSE)": "is not understood",
    "EXEC whatever; DROP EVERYTHING": "is not understood",
}


@pytest.mark.parametrize("sql", RIGHT)
def test_what_the_server_takes_passes(sql: str) -> None:
    assert faults(sql, 3) == []


@pytest.mark.parametrize(("sql", "fault"), WRONG.items())
def test_what_it_would_refuse_is_found(sql: str, fault: str) -> None:
    assert any(fault in found for found in faults(sql, 3)), faults(sql, 3)


def test_more_parameters_than_it_takes_are_found() -> None:
    assert faults("SELECT 1 FROM run", MOST_PARAMETERS + 1) == [f"{MOST_PARAMETERS + 1} parameters"]
