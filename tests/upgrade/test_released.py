"""A database of a released version, with rows in every table, becomes one of today's and loses nothing."""

import datetime
import json
from typing import Any

import pytest

from tests.adoption.conftest import Install, make_install
from tests.adoption.old_library import database_of
from tests.postgres import postgres  # noqa: F401 - a fixture
from tests.sites.graph import Page, html, serve
from tests.upgrade.released_versions import ALIASES, KEYS, recorded, versions
from tests.upgrade.state import stored

CHANGED = {"django_content_type", "auth_permission"}  # Django adds to them what this version knows


@pytest.fixture(params=[(version, vendor) for version in versions() for vendor in ("sqlite", "postgresql")],
                ids=lambda one: "-".join(one))  # fmt: skip
def released(request: Any, tmp_path: Any) -> Install:
    """An install as that version left it."""
    version, vendor = request.param
    install = make_install(request, tmp_path, vendor)
    install.version = version
    install.env |= {"CLEARINGHOUSE_CREDENTIAL_KEYS": KEYS, "CLEARINGHOUSE_ALLOWED_NETWORKS": "127.0.0.0/8"}
    done = install._run("-m", "tests.upgrade.state", version)
    assert done.returncode == 0, done.stdout + done.stderr
    return install


def test_every_row_of_a_released_version_survives_and_everything_works(released: Install) -> None:
    for alias in ALIASES:
        assert lost(released, alias) == [], "the state itself is whole"
    assert set(released.prepare().values()) <= {"migrated", "up to date"}
    for alias in ALIASES:
        assert lost(released, alias) == []
    assert released.python("from clearinghouse.database.adoption.schema_check import differences\n"
                           f"print([differences(a) for a in {ALIASES}])") == "[[], [], [], []]"  # fmt: skip
    assert set(released.prepare().values()) == {"up to date"}
    queues_that_stood_open_do(released)
    old_pages_are_found(released)
    a_password_can_be_read(released)
    a_crawl_goes_to_the_public(released)


def lost(install: Install, alias: str) -> list[str]:
    """Rows of the record that are not there, column by column as it names them."""
    found = []
    for table, held in recorded(install.version)["databases"][alias].items():
        names = ", ".join(f'"{name}"' for name in held["columns"])
        there = {comparable(row) for row in rows(install, alias, f'SELECT {names} FROM "{table}"')}
        wanted = [comparable([stored(value, "") for value in row]) for row in held["rows"]]
        found += [f"{alias}.{table}: {row}" for row in wanted if row not in there]
        assert table in CHANGED or len(there) >= len(set(wanted))
    return found


def rows(install: Install, alias: str, sql: str) -> list[tuple]:
    if install.server:
        with install.server.connect(database_of(install.urls[alias])) as connection:
            connection.execute("SET TIME ZONE 'UTC'")
            return connection.execute(sql).fetchall()
    return install.rows(alias, sql)


def comparable(row: Any) -> tuple:
    """The same for both servers: numbers, texts, bytes, moments, and JSON by what it says."""
    return tuple(_same(value) for value in row)


def _same(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, memoryview | bytes):
        return bytes(value)
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).replace(tzinfo=None).isoformat(" ")
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return str(value)
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, str) and value[:1] in "[{":
        try:
            return json.dumps(json.loads(value), sort_keys=True)
        except ValueError:
            return value
    return _moment(value) if isinstance(value, str) else value


def _moment(text: str) -> str:
    try:
        return datetime.datetime.fromisoformat(text).replace(tzinfo=None).isoformat(" ") if len(text) > 18 else text
    except ValueError:
        return text


def queues_that_stood_open_do(install: Install) -> None:
    found = rows(install, "webcrawl", "SELECT found > 0, opened, strand FROM excursion")
    assert any(opened for _, opened, _ in found)
    assert [one for one in found if bool(one[0]) != bool(one[1]) or one[2] != "web"] == []


def old_pages_are_found(install: Install) -> None:
    assert install.command("rebuild_index", "--json").returncode == 0
    found = json.loads(install.command("search", "mesure", "--json").stdout)
    assert found["total"] == 1, found


def a_password_can_be_read(install: Install) -> None:
    assert install.python(
        "from crawlpoints.models import CrawlPoint\n"
        "from clearinghouse.vault.sealing import binding_of, unseal\n"
        "p = CrawlPoint.objects.exclude(password=None).first()\n"
        "print(unseal(p.password, binding_of(p.url, p.root, p.auth_type, p.sign_in_url)))"
    ) == "pass-wörd"  # fmt: skip


def a_crawl_goes_to_the_public(install: Install) -> None:
    with serve({"/n/": Page(["/n/1"]), "/n/1": Page(body=html("Heliostat", [], "heliostats and mirrors"))}) as site:
        document = json.loads(install.command("add_document", "After the upgrade", "--json").stdout)["doc_id"]
        install.command("add_crawl_point", str(document), site.url("/n/"), "--depth", "2")
        crawl = install.command("crawl", "--doc", str(document), "--speed", "fast", "--json")
        done = json.loads(crawl.stdout)
        assert done["crawled"] == 2, crawl.stderr
        assert install.command("propagate").returncode == 0
    assert json.loads(install.command("search", "heliostats", "--json").stdout)["total"] == 1
    ledger = install.command("check_ledger", str(done["run"]))
    assert ledger.returncode == 0, ledger.stdout + ledger.stderr
