"""The command says in one sentence what is wrong, repairs nothing by force, and can be repeated."""

import json
import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection, models

from clearinghouse.database.adoption import usable
from clearinghouse.database.adoption.dialects.sqlite_migrations import CarefulEditor
from tests.adoption.conftest import FILES, Install
from tests.proves import proves


@pytest.fixture
def embedded(tmp_path: Path) -> Install:
    """Four SQLite files, prepared."""
    install = Install(tmp_path)
    install.prepare()
    return install


def test_people_read_one_line_per_database_and_machines_one_object(tmp_path: Path) -> None:
    install = Install(tmp_path)
    plain = install.command("prepare")
    assert [line.split() for line in plain.stdout.splitlines()] == [[alias, "created"] for alias in FILES]
    told = json.loads(install.command("prepare", "--json").stdout)
    assert told == {"databases": [{"alias": alias, "state": "up to date"} for alias in FILES]}


def test_a_database_that_is_behind_is_migrated(embedded: Install) -> None:
    embedded.rows("backup", "DELETE FROM django_migrations WHERE app = 'admin' AND name > '0002'")
    assert embedded.prepare()["backup"] == "migrated"


def test_a_migration_killed_before_it_was_recorded_is_recorded(embedded: Install) -> None:
    embedded.rows("default", "DELETE FROM django_migrations WHERE app = 'audit'")
    embedded.prepare()
    assert embedded.rows("default", "SELECT count(*) FROM django_migrations WHERE app = 'audit'") != [(0,)]


@pytest.fixture
def damaged(embedded: Install) -> Install:
    """A hundred bytes of webcrawl are turned over."""
    file = embedded.file("webcrawl")
    embedded.rows("webcrawl", "PRAGMA journal_mode = DELETE")
    content = bytearray(file.read_bytes())
    content[16384:16484] = bytes(255 - byte for byte in content[16384:16484])
    file.write_bytes(content)
    return embedded


@proves("A17")
def test_a_damaged_file_is_reported_and_left_as_it_is(damaged: Install) -> None:
    file = damaged.file("webcrawl")
    content = file.read_bytes()
    done = damaged.command("prepare")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"{file} is damaged" in done.stderr
    assert file.read_bytes() == content


@proves("A17")
@pytest.mark.parametrize("command", [["crawl"], ["tick", "--once"], ["rqworker", "crawl"]], ids=lambda words: words[0])
def test_nothing_begins_to_work_on_a_damaged_file(damaged: Install, command: list[str]) -> None:
    content = damaged.file("webcrawl").read_bytes()
    done = damaged.command(*command)
    assert done.returncode == 1
    assert f"{damaged.file('webcrawl')} is damaged" in done.stderr and "Traceback" not in done.stderr
    assert damaged.file("webcrawl").read_bytes() == content


def test_a_file_that_is_something_else_is_reported_and_left_as_it_is(tmp_path: Path) -> None:
    install = Install(tmp_path)
    install.file("default").write_text("Dear diary")
    done = install.command("prepare")
    assert done.returncode == 1
    assert "is not an SQLite database" in done.stderr
    assert install.file("default").read_text() == "Dear diary"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    install = Install(tmp_path)
    install.env["CLEARINGHOUSE_DB_PRIMARY"] = f"sqlite:///{tmp_path}/nowhere/primary.sqlite3"
    done = install.command("prepare")
    assert done.returncode == 1
    assert f"primary: the folder {tmp_path}/nowhere does not exist" in done.stderr
    assert "backup" in done.stdout  # the others were prepared all the same


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    install = Install(tmp_path)
    install.env["CLEARINGHOUSE_DB_BACKUP"] = f"postgres://me@/library?host={tmp_path}"
    done = install.command("prepare")
    assert done.returncode == 1
    assert f"backup: cannot connect to library on {tmp_path}: " in done.stderr


@pytest.fixture
def as_somebody_else() -> Iterator[Path]:
    """A folder, and from here on a user, who may enter it but not write."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    yield folder
    if root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


@proves("A16")
def test_a_folder_that_cannot_be_written_is_named(as_somebody_else: Path) -> None:
    with pytest.raises(usable.Unusable, match=f"{as_somebody_else} cannot be written by this user"):
        usable.check_file("default", as_somebody_else / "library.sqlite3")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "library.sqlite3"
    folder.mkdir()
    with pytest.raises(usable.Unusable, match="is not a file"):
        usable.check_file("default", folder)


class Pet(models.Model):
    name = models.CharField(max_length=10)

    class Meta:
        app_label = "pets"  # not one of ours: dumps and checks of other tests must not meet it
        db_table = "pet"
        managed = False


@pytest.mark.django_db(transaction=True)
def test_later_migrations_keep_columns_and_triggers_of_other_programs() -> None:
    age = models.IntegerField(default=3, db_index=True)
    age.set_attributes_from_name("age")
    age.model = Pet
    name = Pet._meta.get_field("name")
    wider = models.CharField(max_length=99)
    wider.set_attributes_from_name("name")
    wider.model = Pet
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE pet (id integer PRIMARY KEY, name varchar(10), theirs text)")
        cursor.execute("CREATE TRIGGER pet_trigger AFTER INSERT ON pet BEGIN SELECT 1; END")
        cursor.execute("INSERT INTO pet VALUES (1, 'Rex', 'kept')")
    try:
        with CarefulEditor(connection) as editor:
            editor.add_field(Pet, age)
            editor.alter_field(Pet, name, wider)
            editor.add_constraint(Pet, models.UniqueConstraint(fields=["name"], name="pet_name_unique"))
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO pet (name) VALUES ('Tom')")
            cursor.execute("SELECT name, theirs, age FROM pet ORDER BY id")
            assert cursor.fetchall() == [("Rex", "kept", 3), ("Tom", None, 3)]
            cursor.execute("SELECT count(*) FROM sqlite_master WHERE tbl_name = 'pet' AND type = 'trigger'")
            assert cursor.fetchone() == (1,)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE pet")
