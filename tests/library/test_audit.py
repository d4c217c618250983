"""The audit only grows, and no password enters it."""

from typing import Any

import pytest
from django.db import transaction

from clearinghouse.audit import services as audit
from clearinghouse.audit.models import Entry
from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document, Project

pytestmark = pytest.mark.django_db(databases="__all__")
CANARY = "C4n4ry-password"


@pytest.mark.parametrize(
    "values",
    [
        {"password": CANARY},
        {"Password_Again": CANARY},
        {"sign_in": {"form": [{"user_password": CANARY}]}},
        {"crawl_pw_str": CANARY},
        {"client_secret": CANARY},
        {"password": {"plain": CANARY}},
        {"password": [CANARY]},
    ],
)
def test_whatever_a_key_with_password_in_it_holds_is_masked(document: Document, values: dict[str, Any]) -> None:
    entry = audit.record("change", document, "Changed", before=values, after=values)
    entry.refresh_from_db()
    assert CANARY not in str(entry.before) + str(entry.after)
    assert "••••" in str(entry.before)


def test_that_there_was_no_password_stays_visible(document: Document) -> None:
    entry = audit.record("change", document, "Changed", before={"password": ""}, after={"password": CANARY})
    assert entry.before == {"password": ""}
    assert entry.after == {"password": "••••"}


def test_an_entry_is_signed_and_names_the_thing(document: Document) -> None:
    with acting_as("anna"):
        entry = audit.record("look", document, "Looked " + "x" * 600, document_id=document.pk)
    assert (entry.actor, entry.kind, entry.thing_id, entry.document_id) == (
        "anna",
        "document",
        document.pk,
        document.pk,
    )
    assert len(entry.sentence) == 500


def test_any_value_can_be_kept(document: Document) -> None:
    project = Project.objects.get()
    entry = audit.record("x", document, "x", after={"when": document.created_at, "project": project, "many": {1}})
    entry.refresh_from_db()
    assert entry.after["project"] == project.name
    assert entry.after["many"] == [1]


def test_an_entry_is_never_changed_and_never_deleted(document: Document) -> None:
    entry = Entry.objects.first()
    entry.sentence = "Nothing happened"
    with pytest.raises(TypeError):
        entry.save()
    with pytest.raises(TypeError):
        entry.delete()


def test_no_way_of_the_orm_changes_or_deletes_an_entry(document: Document, django_user_model: Any) -> None:
    """Threat T34: also not in bulk, and not behind the back of save()."""
    entry = audit.record("change", document, "Changed", before={"a": 1}, after={"a": 2})
    entry.sentence = "Forged"
    every = Entry.objects.all()
    ways = [
        entry.save,
        entry.delete,
        lambda: every.update(sentence="Forged"),
        lambda: every.filter(pk=entry.pk).delete(),
        lambda: Entry.objects.bulk_update([entry], ["sentence"]),
        lambda: Entry.objects.update_or_create(pk=entry.pk, defaults={"sentence": "Forged"}),
        lambda: Entry.objects.bulk_create(
            [entry], update_conflicts=True, unique_fields=["id"], update_fields=["sentence"]
        ),
        lambda: Entry._base_manager.update(sentence="Forged"),
        lambda: Entry._default_manager.all().delete(),
        lambda: every._raw_delete("default"),
        lambda: entry.save_base(force_update=True),
    ]
    for number, way in enumerate(ways):
        with pytest.raises(TypeError), transaction.atomic():
            way()
            pytest.fail(f"way {number} went through")
    assert Entry.objects.get(pk=entry.pk).sentence == "Changed"
