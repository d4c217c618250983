"""What clearinghouse.database.sql_server sets right of mssql-django, and texts told apart letter by letter."""

import json
import subprocess
import sys

import pytest

from tests.faults.house import BASE

GROUPED = "SELECT a, COUNT(*) FROM b WHERE c = %s GROUP BY a"
# In a process of its own: the back end for SQL Server changes Django.
ASKED = f"""
import json, os
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
import django
django.setup()
from django.db.models import Count
from clearinghouse.columns import Exact
from crawler.models import PageVersion
from crawler.ledger.site_folders import in_groups
from tests.tsql import server

here = server.connection("webcrawl")

def compiled(rows):
    return server.told(here, *here.ops.compiler("SQLCompiler")(rows.query, here, "webcrawl").as_sql())[0]

def declared(value):
    return server.told(here, {GROUPED!r}, [value])

values = dict(digest=bytearray(32), shown=memoryview(bytes(32)), long=bytes(9000), astral=chr(0x1F600) * 2, empty="",
              nothing=None)
told = {{name: declared(value)[0] for name, value in values.items()}}
told["sent"] = type(declared(values["digest"])[1][0]).__name__
starts = in_groups(PageVersion.objects.all(), "https://a.example/").values("start")
told["folders"] = compiled(starts.annotate(n=Count("id")))
told["exact"] = compiled(PageVersion.objects.annotate(u=Exact("url")).filter(u="https://a.example/A").values("id"))
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", ASKED], cwd=BASE, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("digest", "VARBINARY(32)"),
        ("shown", "VARBINARY(32)"),
        ("long", "VARBINARY(max)"),
        ("astral", "NVARCHAR(4)"),  # the server counts UTF-16
        ("empty", "NVARCHAR(1)"),
    ],
)
def test_a_parameter_of_a_grouped_question_is_declared_as_wide_as_it_is(
    told: dict[str, str], value: str, kind: str
) -> None:
    assert told[value].split("\n") == [
        f"DECLARE @var0 {kind} = ?  ",
        "SELECT a, COUNT(*) FROM b WHERE c = @var0 GROUP BY a",
    ]


def test_what_can_be_hashed_is_sent_and_nothing_is_nothing(told: dict[str, str]) -> None:
    assert told["sent"] == "bytes"
    assert told["nothing"] == "SELECT a, COUNT(*) FROM b WHERE c = NULL GROUP BY a"


def test_a_folder_is_told_from_the_one_that_is_written_in_capitals(told: dict[str, str]) -> None:
    exact = "LEFT([page_version].[url] COLLATE Latin1_General_100_BIN2, "
    assert told["folders"].count(exact) == 5  # twice in what is selected and in GROUP BY, once in WHERE
    assert "WHERE [page_version].[url] COLLATE Latin1_General_100_BIN2 = ?" in told["exact"]
