"""A database on SQL Server is named by one address, and nobody else loads its drivers."""

import subprocess
import sys

import pytest

from clearinghouse.database.aliases import from_url
from tests.faults.house import BASE

LOADED = """
import sys
import django
django.setup()
from django.db import connections
from tests.tsql import server
before = [name for name in ("pyodbc", "mssql", "mssql_python") if name in sys.modules]
made = server.connection()
parts = made.get_connection_params()
print(before, "mssql" in sys.modules)
print(made._build_connection_string(parts, parts["OPTIONS"].get("driver", "")))
"""


def test_the_address_says_where_who_and_how() -> None:
    told = from_url("mssql://reader:p%40ss%2Fword@db.example.org:1444/doc_library")
    assert (told["ENGINE"], told["HOST"], told["PORT"]) == (
        "clearinghouse.database.sql_server",
        "db.example.org",
        "1444",
    )
    assert (told["NAME"], told["USER"], told["PASSWORD"]) == ("doc_library", "reader", "p@ss/word")
    assert told["OPTIONS"] == {
        "driver": "ODBC Driver 18 for SQL Server",
        "extra_params": "Encrypt=yes;MARS_Connection=yes",
    }
    assert told["CONN_HEALTH_CHECKS"] is True


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("TrustServerCertificate=yes", "Encrypt=yes;MARS_Connection=yes;TrustServerCertificate=yes"),
        ("encrypt=strict", "Encrypt=strict;MARS_Connection=yes"),
        ("MultiSubnetFailover=Yes", "Encrypt=yes;MARS_Connection=yes;MultiSubnetFailover=Yes"),
    ],
)
def test_other_words_of_the_address_go_to_the_driver(query: str, options: str) -> None:
    assert from_url(f"mssql://a:b@c/d?{query}")["OPTIONS"]["extra_params"] == options


def test_the_driver_can_be_chosen_and_told_how_long_to_wait() -> None:
    options = from_url("mssql://a:b@c/d?driver=ODBC+Driver+17+for+SQL+Server&query_timeout=30")["OPTIONS"]
    assert (options["driver"], options["query_timeout"]) == ("ODBC Driver 17 for SQL Server", 30)
    options = from_url("mssql://a:b@c/d?python_driver=mssql_python")["OPTIONS"]
    assert options == {"python_driver": "mssql_python", "extra_params": "Encrypt=yes"}


def test_the_drivers_are_loaded_only_when_a_database_is_on_sql_server() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n" + LOADED],
        cwd=BASE, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    loaded, words = done.stdout.splitlines()
    assert loaded == "[] True"
    assert words == (
        "DRIVER=ODBC Driver 18 for SQL Server;SERVER=db.example.org;UID=clearinghouse;PWD=secret;DATABASE=doc_library;"
        "Encrypt=yes;MARS_Connection=yes"
    )
