"""A disk that is full to the last byte while people work: they are told so, lose nothing they typed, and read on."""

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from clearinghouse.database import full_disk
from tests.adoption.conftest import Install
from tests.faults import full_pages, namespace
from tests.postgres import postgres  # noqa: F401 - a fixture
from tests.requirements import need


@pytest.fixture(scope="module")
def found() -> Iterator[dict[str, Any]]:
    need("namespaces", namespace.possible(), "no network namespaces can be made here (root, or user namespaces)")
    yield json.loads(namespace.run("tests.faults.full_pages", seconds=400).splitlines()[-1])


def test_reading_goes_on_and_a_key_is_good_although_its_use_cannot_be_noted(found: dict[str, Any]) -> None:
    assert found["signed_in"] == 302
    assert {path: status for path, status in found["read"].items() if status != 200} == {}
    assert found["api"] == 200


def test_a_form_says_that_the_disk_is_full_and_holds_what_was_entered(found: dict[str, Any]) -> None:
    for name in ("note", "point", "sign_in"):
        assert found[name]["status"] == 507, found[name]["text"]
        assert "<h1>The disk is full</h1>" in found[name]["text"]
        assert "was logged" not in found[name]["text"]
    assert full_pages.NOTE in unescape(found["note"]["text"])
    assert 'value="http://127.0.0.1/new/"' in found["point"]["text"] and "s3cret" not in found["point"]["text"]
    assert 'name="username" type="text" value="ann"' in found["sign_in"]["text"]
    assert full_pages.PASSWORD not in found["sign_in"]["text"]


def test_a_program_is_told_in_a_word(found: dict[str, Any]) -> None:
    assert found["api_launch"]["status"] == 507
    assert json.loads(found["api_launch"]["text"])["code"] == "disk_full"


def test_those_who_look_after_it_are_told(found: dict[str, Any]) -> None:
    assert "A disk is full. Nothing can be saved" in found["ready"]["text"]
    assert "nothing can be saved, reading goes on" in found["doctor"]
    assert "writable" not in found["doctor"]
    code, said = found["rotate_keys"]
    assert code == 1 and said.startswith("The disk is full (") and "Traceback" not in said
    assert found["add_document"].startswith("The disk is full (")


def test_nobody_ends_and_everything_can_be_sent_again_when_there_is_room(found: dict[str, Any]) -> None:
    assert found["alive"] == [None] * 4, found["log"]
    assert "Traceback" not in found["log"], found["log"]
    assert found["after"] == [302, 302] and found["kept"]
    assert (found["rotated"], found["launched"]) == (0, 201)
    assert found["quick"] == [["ok"]]


# PostgreSQL says disk_full (53100) itself: here because a trigger of each table tells it to.

ON_POSTGRES = f"""
import json
from django.contrib.auth import get_user_model
from django.db import connections
from django.test import Client
from clearinghouse.accounts.keys import api_keys
from clearinghouse.accounts.models import Person, Role
from clearinghouse.library import services
user = get_user_model().objects.create_user("ann", password={full_pages.PASSWORD!r})
Person.objects.create(user=user, role=Role.ADMINISTRATOR)
key = api_keys.create(user, "a program")[1]
document = services.add_document("Measures")
browser = Client(raise_request_exception=False)
browser.force_login(user)
with connections["default"].cursor() as cursor:
    cursor.execute(
        "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$"
        " BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
    )
    for name in ("document_note", "api_key", "session", "audit"):
        table = f"clearinghouse_{{name}}"
        cursor.execute(f"CREATE TRIGGER room BEFORE INSERT OR UPDATE OR DELETE ON {{table}} EXECUTE FUNCTION no_room()")
notes = f"/documents/{{document.pk}}/notes/"
sent = browser.post(notes, {{"text": {full_pages.NOTE!r}}}, headers={{"Host": "localhost"}})
api = Client().get("/api/v1/documents/", headers={{"Authorization": f"Bearer {{key}}", "Host": "localhost"}})
read = browser.get(notes, headers={{"Host": "localhost"}})
print(json.dumps([sent.status_code, sent.content.decode(), read.status_code, api.status_code]))
"""


def test_a_full_disk_of_postgresql_is_said_alike(postgres: Any, tmp_path: Path) -> None:  # noqa: F811
    install = Install(tmp_path, postgres)
    install.prepare()
    status, page, read, api = json.loads(install.python(ON_POSTGRES).splitlines()[-1])
    assert (status, read, api) == (507, 200, 200)
    assert "<h1>The disk is full</h1>" in page and full_pages.NOTE in unescape(page)


def test_a_server_is_asked_for_room_in_a_way_that_takes_some_of_its_disk(postgres: Any) -> None:  # noqa: F811
    """A full one is met by tests/faults/long_full_disk.py: this one has room, and says how it sorted."""
    postgres.url("asked_for_room")
    with postgres.connect("asked_for_room") as connection, connection.transaction():
        connection.execute(full_disk.LITTLE_MEMORY)
        told = connection.execute(f"EXPLAIN (ANALYZE) {full_disk.SORT}").fetchall()
    assert any("external" in line and "Disk: " in line for (line,) in told), told
