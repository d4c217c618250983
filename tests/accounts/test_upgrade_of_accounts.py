"""From the accounts of 0.1.0: keys that never ended get an end, sessions of 14 days are gone, people stay."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.flow.house import BASE, House

# As a database of 0.1.0 was: the first migration of the accounts, and Django's own table of sessions.
BEFORE = """
import django; django.setup()
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
executor = MigrationExecutor(connection)
executor.migrate([("access", "0001_initial"), ("contenttypes", "0002_remove_content_type_name")])
apps = executor.loader.project_state([("access", "0001_initial")]).apps
User, Key = apps.get_model("auth", "User"), apps.get_model("access", "ApiKey")
Person = apps.get_model("access", "Person")
for name, active in (("ann", True), ("gone", False)):
    user = User.objects.create(username=name, is_active=active)
    Person.objects.create(user=user, role="developer", rows="50")
    Key.objects.create(user=user, name="nightly", beginning="chk_abcd", digest=name * 10)
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE django_session (session_key varchar(40), session_data text, expire_date datetime)")
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path / "var")
    house.folder.mkdir()
    yield house
    house.close()


def test_keys_and_sessions_of_before_get_an_end_and_people_stay(house: House) -> None:
    done = subprocess.run([sys.executable, "-c", BEFORE], cwd=BASE, env=house.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert house.run("prepare").returncode == 0
    assert house.run("prepare").returncode == 0
    with closing(sqlite3.connect(house.folder / "doc_library.sqlite3")) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        assert not {"django_session", "clearinghouse_failed_sign_in"} & tables
        assert {"clearinghouse_session", "clearinghouse_recent_event"} <= tables
        keys = database.execute(
            "SELECT username, expires_at, revoked_at FROM clearinghouse_api_key k JOIN auth_user u ON u.id = k.user_id"
            " ORDER BY username"
        ).fetchall()
        people = database.execute(
            "SELECT role, rows, must_change_password_fl, deactivated_at FROM clearinghouse_person"
        ).fetchall()
    assert people == [("developer", "50", 0, None)] * 2
    (ann, until, live), (gone, _, revoked) = keys
    assert (ann, live, gone) == ("ann", None, "gone") and revoked
    left = datetime.fromisoformat(until).replace(tzinfo=UTC) - datetime.now(UTC)
    assert timedelta(days=89) < left < timedelta(days=91)
