"""Documents from CSV: all lines or none, and each line says what it did."""

from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from clearinghouse.audit.models import Entry
from clearinghouse.library import document_import, services
from clearinghouse.library.document_csv import UnreadableDocumentCsv, read
from clearinghouse.library.models import Document

pytestmark = pytest.mark.django_db(databases="__all__")
HEAD = "title,project,public,assigned_to,status,web_address\n"


def outcomes(text: str, **options: Any) -> list[str]:
    return [line.outcome for line in document_import.import_documents(text, **options).lines]


def test_every_column_arrives(editor: Any) -> None:
    result = document_import.import_documents(HEAD + 'Asthma,NGC,no,editor,Draft,https://ex.gov/a\n"Two, lines",,,,,\n')
    assert (result.done, result.count("add")) == (True, 2)
    document = Document.objects.get(sheet__title="Asthma")
    assert (document.sheet.project.name, document.sheet.public, document.status.name) == ("NGC", 0, "Draft")
    assert document.sheet.web_address == "https://ex.gov/a"
    assert [each.person for each in document.assignments.all()] == [editor]
    assert Document.objects.get(sheet__title="Two, lines").sheet.public == 1
    assert result.lines[0].document_id == document.pk


def test_importing_the_same_again_changes_nothing() -> None:
    text = HEAD + "Asthma,NGC,yes,,Draft,\nStroke,NGC,no,,,\n"
    document_import.import_documents(text)
    entries = Entry.objects.count()
    assert outcomes(text) == ["unchanged", "unchanged"]
    assert Document.objects.count() == 2
    assert Entry.objects.count() == entries


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (",NGC,,,,", "The title is missing"),
        ("A,NGC,perhaps,,,", "public must be yes or no"),
        ("A,NGC,,nobody,,", "There is no active user nobody"),
        ("A,NGC,,,,ftp://ex.gov/", "must start with http"),
        ("A,NGC,,,,https://u:p@ex.gov/", "Take the user name and password out"),
        ("x" * 256 + ",,,,,", "255 characters or fewer. It is 256"),
        ("A\x07,,,,,", "cannot be shown"),
    ],
)
def test_one_bad_line_stops_everything_and_says_why(line: str, message: str) -> None:
    result = document_import.import_documents(HEAD + "Good,,,,,\n" + line + "\n")
    assert not result.done
    assert [each.outcome for each in result.lines] == ["add", "error"]
    assert message in result.lines[1].message
    assert result.lines[1].number == 3
    assert not Document.objects.exists()


def test_bad_lines_can_be_skipped_on_purpose() -> None:
    assert outcomes(HEAD + "Good,,,,,\n,,,,x,\n", skip_errors=True) == ["add", "error"]
    assert Document.objects.get().title == "Good"


def test_the_same_document_twice_in_one_file_is_an_error() -> None:
    assert outcomes(HEAD + "A,P,,,,\nA,Q,,,,\nA,P,,,,\n") == ["add", "add", "error"]


def test_a_document_that_exists_otherwise_is_never_overwritten() -> None:
    services.add_document("A", project="P", status="Final")
    result = document_import.import_documents(HEAD + "A,P,no,,Draft,\n")
    assert "exists with another status and public" in result.lines[0].message
    assert Document.objects.get().status.name == "Final"


def test_columns_may_stand_in_any_order_with_semicolons_and_a_byte_order_mark() -> None:
    result = document_import.import_documents("\ufeffProject;Note;TITLE\nNGC;x;Asthma\n\n")
    assert result.ignored_columns == ["note"]
    assert Document.objects.get().sheet.project.name == "NGC"


@pytest.mark.parametrize("text", ["", "\n\n", "name,project\nA,B\n", "title,title\nA,B\n", 'title\n"open'])
def test_what_is_no_list_of_documents_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(UnreadableDocumentCsv):
        document_import.import_documents(text)


@given(st.text(max_size=300))
def test_reading_never_fails_otherwise(text: str) -> None:
    try:
        read("title,project\n" + text)
    except UnreadableDocumentCsv as refusal:
        assert str(refusal)


def test_a_fault_in_the_middle_leaves_nothing_behind(monkeypatch: Any) -> None:
    def breaks(entries: Any) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr(services.audit, "record_many", breaks)
    with pytest.raises(DatabaseError):
        document_import.import_documents(HEAD + "A,P,,,,\nB,P,,,,\nC,P,,,,\n")
    assert not Document.objects.exists()
    assert not Entry.objects.exists()


def test_a_list_asks_no_more_questions_for_more_documents_and_is_bounded(editor: Any) -> None:
    """Twenty thousand took more than a minute of one transaction, in which nobody else could write."""

    def questions(name: str, lines: int) -> int:
        with CaptureQueriesContext(connection) as asked:
            rows = "".join(f"{name} {at},P{at % 3},,editor,Draft,\n" for at in range(lines))
            assert document_import.import_documents(HEAD + rows).count("add") == lines
        return len(asked)

    few, many = questions("a", 20), questions("b", 400)
    assert many < few + 40
    assert Document.objects.filter(assignments__person=editor, status__name="Draft").count() == 420
    assert Entry.objects.filter(kind="document", action="add", sentence__regex="^Added document [ab] ").count() == 420
    assert Entry.objects.filter(action="assign", sentence__regex="^Assigned [ab] ").count() == 420
    one = Document.objects.get(sheet__title="b 7")
    entry = Entry.objects.get(kind="document", action="add", thing_id=one.pk)
    assert (entry.after, entry.document_id) == (services.facts(one), one.pk)
    assert one.fields.get().type.name == "crawl points"
    with pytest.raises(UnreadableDocumentCsv, match="At most 3,000 documents can be imported at once"):
        read("title\n" + "x\n" * 3_001)
