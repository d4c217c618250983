"""Searching in a column finds words in any case, in every script, on SQLite as on the servers."""

import pytest

from clearinghouse.audit.models import Entry
from crawler.models import LedgerEntry

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("ÉTUDE de qualité", "étude"), ("étude", "ÉTUDE D"[:5]), ("Éclair 100% [neu]", "écLAIR 100% [NEU]"),
        ("ПРОВЕРКА качества", "проверка К"), ("Ελλάδα", "ΕΛΛΆ"), ("质量*改进?", "量*改"), ("Žluťoučký", "žLUŤ"),
    ],
)  # fmt: skip
def test_every_case_is_found(stored: str, asked: str) -> None:
    Entry.objects.create(actor="a", action="add", kind="document", sentence=stored)
    assert Entry.objects.filter(sentence__icontains=asked).count() == 1


@pytest.mark.parametrize(
    ("stored", "asked"), [("etude", "étude"), ("质量改进", "量*改"), ("é b", "é[ab]"), ("éxb", "é?b")]
)
def test_what_is_not_there_is_not_found(stored: str, asked: str) -> None:
    Entry.objects.create(actor="a", action="add", kind="document", sentence=stored)
    assert not Entry.objects.filter(sentence__icontains=asked).exists()


def test_plain_words_are_asked_as_before() -> None:
    assert "LIKE" in str(LedgerEntry.objects.filter(url__icontains="abc").query)


@pytest.mark.parametrize(
    ("stored", "asked", "same"), [("ÉVA", "éva", True), ("éva b", "éva", False), ("eva", "éva", False)]
)
def test_names_are_the_same_in_any_case(stored: str, asked: str, same: bool) -> None:
    Entry.objects.create(actor="a", action="add", kind="document", sentence=stored)
    assert Entry.objects.filter(sentence__iexact=asked).exists() is same
