"""The metacolumns: versions, nominal delete, who changed it."""

from typing import Any

import pytest
from django.db import connection, transaction

from clearinghouse.database.records import StaleRecord, acting_as, actor
from clearinghouse.library.models import Document, DocumentStatus, FieldType, Project
from tests.proves import proves

pytestmark = pytest.mark.django_db
META = {"ts", "update_dt", "update_nm"}


def stored(thing: Any) -> dict[str, Any]:
    """The row as the database holds it, by column name."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {thing._meta.db_table} WHERE {thing._meta.pk.column} = %s", [thing.pk])
        return dict(zip([column[0] for column in cursor.description], cursor.fetchone(), strict=True))


@proves("J2")
def test_a_stale_save_raises_and_the_first_save_stands() -> None:
    Project.objects.create(name="a")
    mine, theirs = Project.objects.get(), Project.objects.get()
    theirs.name = "theirs"
    theirs.save()
    mine.name = "mine"
    with pytest.raises(StaleRecord), transaction.atomic():
        mine.save()
    assert Project.objects.get().name == "theirs"


def test_a_stale_save_leaves_the_transaction_around_it_usable() -> None:
    Project.objects.create(name="a")
    mine, theirs = Project.objects.get(), Project.objects.get()
    theirs.save()
    with transaction.atomic():
        FieldType.objects.create(name="kept")
        with pytest.raises(StaleRecord):
            mine.save()
        assert FieldType.objects.filter(name="kept").exists()
    assert FieldType.objects.filter(name="kept").exists()


def test_a_stale_delete_raises_too() -> None:
    Project.objects.create(name="a")
    mine, theirs = Project.objects.get(), Project.objects.get()
    theirs.save()
    with pytest.raises(StaleRecord):
        mine.delete()


def test_a_save_of_some_fields_raises_the_version_and_sees_staleness() -> None:
    Project.objects.create(name="a")
    mine, theirs = Project.objects.get(), Project.objects.get()
    theirs.save(update_fields=["name"])
    assert stored(theirs)["ts"] == theirs.version == 2
    with pytest.raises(StaleRecord):
        mine.save(update_fields=["name"])


def test_one_copy_can_be_saved_again_and_again() -> None:
    thing = Project.objects.create(name="a")
    for _ in range(3):
        thing.save()
    assert stored(thing)["ts"] == thing.version == 4


def test_a_bulk_update_raises_the_version_and_signs_every_row() -> None:
    rows = [DocumentStatus.objects.create(name="a"), DocumentStatus.objects.create(name="a")]
    mine = rows[0]
    with acting_as("anna"):
        assert DocumentStatus.objects.filter(name="a").update(name="c") == 2
    found = DocumentStatus.objects.filter(name="c")
    assert {(row.version, row.updated_by, row.dirty) for row in found} == {(2, "anna", 1)}
    with pytest.raises(StaleRecord):
        mine.save()


def test_a_row_of_another_program_without_version_can_be_changed() -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO doc (doc_status_id, ts, deleted_fl) VALUES (NULL, NULL, NULL)")
    document = Document.objects.get()
    document.save()
    assert stored(document)["ts"] == 1
    Document.objects.update(dirty=0)
    assert stored(document)["ts"] == 2


def test_a_row_of_another_program_gets_the_defaults_of_the_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO doc (doc_status_id) VALUES (NULL)")
    row = stored(Document.objects.get())
    assert (row["deleted_fl"], row["dirty_fl"], row["ts"]) == (0, 1, 1)
    assert row["create_dt"]


@pytest.mark.parametrize("model", [DocumentStatus, FieldType, Project])
def test_delete_and_restore_keep_the_row_but_for_ts_update_dt_and_update_nm(model: Any) -> None:
    thing = model.objects.create(name="a")
    before = stored(thing)
    with acting_as("anna"):
        thing.delete()
    assert not model.objects.filter(pk=thing.pk).exists()
    assert model.everything.get(pk=thing.pk).deleted == 1
    thing.restore()
    after = stored(thing)
    assert {name for name in before if before[name] != after[name]} <= META
    assert after["ts"] == before["ts"] + 2


def test_bulk_delete_and_restore_are_nominal_too() -> None:
    thing = Project.objects.create(name="a")
    before = stored(thing)
    assert Project.objects.all().delete()[0] == 1
    assert not Project.objects.exists()
    assert Project.everything.restore() == 1
    after = stored(thing)
    assert {name for name in before if before[name] != after[name]} <= META


def test_who_changed_it_is_the_one_acting_and_the_innermost_counts() -> None:
    thing = Project.objects.create(name="a")
    assert thing.updated_by == "system"
    with acting_as("outer"), acting_as("x" * 300):
        thing.save()
        assert stored(thing)["update_nm"] == "x" * 150
    assert actor() == "system"
