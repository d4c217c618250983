"""docs/postgresql.md on a real cluster, word for word: with the roles its statements make, the product prepares,
crawls, propagates and searches; what these roles should not be able to do is refused."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import psycopg
import pytest

from tests.adoption import old_library
from tests.faults.house import House
from tests.house.tree import BASE
from tests.postgres import Server, programs
from tests.requirements import need
from tests.sites.graph import Page, serve

PAPER = (BASE / "docs" / "postgresql.md").read_text()
CREATE, MEMBER, READ = re.findall(r"```sql\n(.*?)```", PAPER, re.S)
ADDRESSES = dict(re.findall(r"^(CLEARINGHOUSE_DB\w*)=(\S+)$", PAPER, re.M))
OTHERS = "CREATE ROLE reports LOGIN PASSWORD 'r'; CREATE ROLE stranger LOGIN PASSWORD 's'"
REFUSED = {
    "make a database": "CREATE DATABASE another",
    "make a role": "CREATE ROLE another",
    "make itself a superuser": "ALTER ROLE clearinghouse SUPERUSER",
    "become somebody else": "SET ROLE tester",
    "change the server": "ALTER SYSTEM SET fsync = off",
    "read a file of the server": "SELECT pg_read_file('postgresql.conf')",
    "run a program on the server": "COPY (SELECT 1) TO PROGRAM 'true'",
    "see the passwords of roles": "SELECT rolpassword FROM pg_authid",
}


@dataclass
class Cluster:
    server: Server
    house: House

    def address(self, database: str, role: str, password: str) -> str:
        return f"postgres://{role}:{password}@/{database}?host={self.server.folder}&port=5432"

    def connect(self, database: str, role: str, password: str) -> psycopg.Connection:
        return psycopg.connect(self.address(database, role, password), autocommit=True)

    def ask(self, database: str, sql: str, role: str = "", password: str = "") -> list[tuple]:
        own = re.search(r"PASSWORD '([^']+)'", CREATE)
        assert own
        with self.connect(database, role or "clearinghouse", password or own[1]) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """As a database administrator makes it after reading the page; roles sign in with their passwords."""
    need("postgres", programs() is not None, "initdb, pg_ctl and postgres are not installed")
    server = Server.installed()
    assert server
    try:
        _ask_for_passwords(server)
        for statement in f"{CREATE};{OTHERS}".split(";"):
            if statement.strip():
                server.execute(statement, database="postgres")
        here = f"?host={server.folder}&port=5432"
        urls = {name: re.sub(r"@[^/]+/", "@/", address) + here for name, address in ADDRESSES.items()}
        made = Cluster(server, House(tmp_path_factory.mktemp("house"), urls))
        made.house.manage("prepare")
        made.ask("primary_library", READ)
        yield made
    finally:
        server.stop()


def _ask_for_passwords(server: Server) -> None:
    """But not of the account that made the cluster, which is the tests' own."""
    rules = server.folder / "data" / "pg_hba.conf"
    rules.write_text(f"local all tester trust\nlocal all all scram-sha-256\n{rules.read_text()}")
    server.execute("SELECT pg_reload_conf()", database="postgres")


def test_what_the_page_names_is_what_the_product_is_given() -> None:
    assert set(ADDRESSES) == {
        "CLEARINGHOUSE_DB",
        *(f"CLEARINGHOUSE_DB_{name}" for name in ("WEBCRAWL", "PRIMARY", "BACKUP")),
    }
    databases = set(re.findall(r"CREATE DATABASE (\w+)", CREATE))
    assert {address.rpartition("/")[2] for address in ADDRESSES.values()} == databases
    ((role, password),) = set(re.findall(r"CREATE ROLE (\w+) LOGIN PASSWORD '([^']+)'", CREATE))
    assert {unquote(one) for one in re.findall(r"//([^@]+)@", " ".join(ADDRESSES.values()))} == {f"{role}:{password}"}


def test_with_these_roles_a_page_is_crawled_propagated_and_found(cluster: Cluster) -> None:
    house = cluster.house
    with serve({"/m/": Page(["/m/a"]), "/m/a": Page(body=b"<html><body>a handover of the ward</body></html>")}) as site:
        document = house.manage("add_document", "Measures")["doc_id"]
        house.manage("add_crawl_point", str(document), site.url("/m/"), "--depth", "2")
        run = house.manage("crawl", "--speed", "fast")
    assert (run["state"], run["crawled"]) == ("finished", 2)
    assert {target["pages"] for target in house.manage("propagate")["targets"]} == {2}
    assert house.manage("search", "handover")["total"] == 1
    house.manage("check_ledger")
    house.python(
        "from clearinghouse.database.adoption import database_views\ndatabase_views.drop_views('primary')"
    )  # as a migration does
    house.manage("prepare")
    seen = "SELECT crawl_page_url FROM doc_crawl_page"
    assert len(cluster.ask("primary_library", seen, "reports", "r")) == 2, "who reads reads on after an upgrade"


@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED.keys())
def test_the_role_of_the_product_may_not(cluster: Cluster, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        cluster.ask("webcrawl", statement)


@pytest.mark.parametrize("database", ["doc_library", "webcrawl", "primary_library", "backup_library"])
def test_nobody_else_gets_in(cluster: Cluster, database: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        cluster.ask(database, "SELECT 1", "stranger", "s")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        cluster.ask(database, "SELECT 1", "clearinghouse", "a-wrong-one")


def test_who_reads_writes_nothing_and_reads_nothing_else(cluster: Cluster) -> None:
    for statement in (
        "SELECT text FROM published_version",
        "UPDATE live_generation SET generation = 7",
        "CREATE TABLE t (n int)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            cluster.ask("primary_library", statement, "reports", "r")
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        cluster.ask("doc_library", "SELECT 1", "reports", "r")


def test_a_doc_library_of_somebody_else_is_adopted_by_a_member_of_their_role(cluster: Cluster, tmp_path: Path) -> None:
    server = cluster.server
    server.execute("CREATE ROLE librarian LOGIN PASSWORD 'l'", database="postgres")
    server.execute("CREATE DATABASE theirs OWNER librarian TEMPLATE template0", database="postgres")
    with cluster.connect("theirs", "librarian", "l") as connection:
        for statement in old_library.definitions("postgresql", metacolumns=True):
            connection.execute(statement)
        old_library.fill(connection.execute, "%s", 3)
    named = re.sub(r"/doc_library\?", "/theirs?", cluster.house.databases["CLEARINGHOUSE_DB"])
    house = House(tmp_path / "house", cluster.house.databases | {"CLEARINGHOUSE_DB": named})
    house.var.mkdir()
    for why, grant in (
        ("permission denied for table", "SELECT ON ALL TABLES IN SCHEMA public"),
        ("permission denied for schema", "CREATE ON SCHEMA public"),
        ("must be owner of", "CREATE ON SCHEMA public"),
    ):
        refused = house.start("prepare")
        said = "".join(refused.communicate(timeout=120))
        assert refused.returncode == 1 and f"default: {why} " in said, said
        assert "; let clearinghouse own this database and its tables, or be a member of the role that does" in said
        with cluster.connect("theirs", "librarian", "l") as connection:
            connection.execute(f"GRANT {grant} TO clearinghouse")
    server.execute(MEMBER, database="postgres")
    prepared = {one["alias"]: one["state"] for one in house.manage("prepare")["databases"]}
    assert prepared["default"] == "adopted"
    assert len(cluster.ask("theirs", "SELECT doc_crawl_page_id FROM doc_crawl_page")) == 3
    with cluster.connect("theirs", "librarian", "l") as connection:
        connection.execute("UPDATE crawl_point SET page_depth_int = 3 WHERE crawl_point_id = 7")
