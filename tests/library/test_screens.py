"""The pages on which documents are added, imported, edited, deleted and restored."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from clearinghouse.audit.models import Entry
from clearinghouse.library import services
from clearinghouse.library.models import Document, Project, Sheet

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def browser(signed_in: Any, administrator: Any) -> Client:
    return signed_in(administrator)


def entries(document: Document, **changed: Any) -> dict[str, Any]:
    values = {
        "title": document.title,
        "project": document.sheet.project_id,
        "public": "on",
        "version": document.version,
        "people": [each.person_id for each in document.assignments.all()],
    }
    return values | changed


def test_adding_a_document_with_a_new_project_and_people(browser: Client, editor: Any) -> None:
    """It leads to the crawl points of the document, where the first one is added."""
    given = {"title": "Stroke", "new_project": "Brain", "public": "on", "people": [editor.pk]}
    saved = browser.post("/documents/new/", given)
    document = Document.objects.get(sheet__title="Stroke")
    assert saved.url == f"/documents/{document.pk}/crawl-points/"
    page = browser.get(saved.url).content.decode()
    assert "Added Stroke." in page and f'href="{saved.url}new/"' in page
    assert document.sheet.project.name == "Brain"
    assert document.assignments.get().person == editor
    assert document.updated_by == "administrator"


def test_a_failed_save_keeps_the_entries_and_says_why(browser: Client, project: Project) -> None:
    response = browser.post("/documents/new/", {"title": "", "web_address": "intranet"})
    page = response.content.decode()
    assert response.status_code == 422
    assert "<title>Error: Add document" in page
    assert page.count("Enter the title") == 2  # in the summary and at the field
    assert 'value="intranet"' in page


def test_editing_changes_what_was_entered_and_nothing_else(browser: Client, document: Document, editor: Any) -> None:
    given = entries(document, title="Renamed", doc_id=99, deleted=1, updated_by="mallory")
    assert browser.post(f"/documents/{document.pk}/edit/", given).url == f"/documents/{document.pk}/"
    document = Document.objects.get(pk=document.pk)
    assert (document.title, document.updated_by) == ("Renamed", "administrator")
    assert document.assignments.get().person == editor


def test_a_second_editor_sees_both_versions_and_loses_nothing(browser: Client, document: Document) -> None:
    mine = entries(document, title="Mine")
    browser.post(f"/documents/{document.pk}/edit/", entries(document, title="Theirs"))
    response = browser.post(f"/documents/{document.pk}/edit/", mine)
    page = response.content.decode()
    assert response.status_code == 409
    assert "Theirs" in page
    assert 'value="Mine"' in page
    assert Sheet.objects.get(pk=document.pk).title == "Theirs"
    again = mine | {"version": Document.objects.get(pk=document.pk).version}
    assert browser.post(f"/documents/{document.pk}/edit/", again).status_code == 302
    assert Sheet.objects.get(pk=document.pk).title == "Mine"


def test_a_manager_assigns_the_people_of_the_project_and_changes_nothing_else(
    signed_in: Any, document: Document, manager: Any, editor: Any, stranger: Any
) -> None:
    browser = signed_in(manager)
    page = browser.get(f"/documents/{document.pk}/edit/").content.decode()
    assert 'name="title"' not in page
    assert "editor" in page
    assert "stranger" not in page
    browser.post(f"/documents/{document.pk}/edit/", {"title": "Hacked", "people": []})
    assert Document.objects.get(pk=document.pk).title != "Hacked"
    assert not document.assignments.exists()
    refused = browser.post(f"/documents/{document.pk}/edit/", {"people": [stranger.pk]})
    assert refused.status_code == 422
    assert not document.assignments.exists()


def test_a_deleted_document_can_be_restored_from_its_page(browser: Client, document: Document) -> None:
    browser.post(f"/documents/{document.pk}/delete/")
    assert not Document.objects.exists()
    page = browser.get(f"/documents/{document.pk}/edit/").content.decode()
    assert "Restore" in page
    assert browser.post(f"/documents/{document.pk}/restore/").url == f"/documents/{document.pk}/"
    assert Document.objects.get() == document


def test_an_import_shows_every_line_before_it_writes(browser: Client, db: Any) -> None:
    text = "title,project\nA,P\n,P\nB,P\n"
    page = browser.post("/documents/import/", {"text": text}).content.decode()
    assert "Import 2, skip 1" in page
    assert not Document.objects.exists()
    page = browser.post("/documents/import/", {"text": text, "step": "import"}).content.decode()
    assert "Imported 2 documents" in page
    for document in Document.objects.all():
        assert f'href="/documents/{document.pk}/crawl-points/"' in page
    assert Document.objects.count() == 2


def test_a_file_from_excel_is_read(browser: Client, db: Any) -> None:
    file = SimpleUploadedFile("d.csv", "title;project\r\nÄrzte;P\r\n".encode("cp1252"))
    page = browser.post("/documents/import/", {"file": file}).content.decode()
    assert "Ärzte" in page


@pytest.mark.parametrize("text", ["", "nonsense\n1", "title\n\x00"])
def test_an_unreadable_import_says_why(browser: Client, db: Any, text: str) -> None:
    response = browser.post("/documents/import/", {"file": SimpleUploadedFile("d.csv", text.encode())})
    assert response.status_code == 422
    assert "There is a problem" in response.content.decode()


def pages(document: Document) -> list[tuple[str, str, set[str]]]:
    """Method, path, and who may use it besides administrators."""
    base = f"/documents/{document.pk}"
    return [
        ("GET", "/documents/new/", set()),
        ("POST", "/documents/new/", set()),
        ("GET", "/documents/import/", set()),
        ("POST", "/documents/import/", set()),
        ("GET", f"{base}/edit/", {"manager"}),
        ("POST", f"{base}/edit/", {"manager"}),
        ("POST", f"{base}/delete/", set()),
        ("POST", f"{base}/restore/", set()),
    ]


def test_every_page_needs_sign_in_and_the_right_to_it(
    client: Client, signed_in: Any, document: Document, editor: Any, reader: Any, manager: Any, stranger: Any
) -> None:
    before = list(Document.everything.values()), list(Sheet.everything.values()), Entry.objects.count()
    for method, path, allowed in pages(document):
        assert client.generic(method, path).url.startswith("/sign-in/")
        for user in (editor, reader, manager, stranger):
            if user.get_username() in allowed:
                continue
            browser = signed_in(user)
            given = {"title": "Hacked", "text": "title\nHacked\n", "step": "import"}
            response = browser.get(path) if method == "GET" else browser.post(path, given)
            hidden = user == stranger and path.endswith("/edit/")
            assert response.status_code == (404 if hidden else 403), (user, method, path)
    assert before == (list(Document.everything.values()), list(Sheet.everything.values()), Entry.objects.count())


def test_reading_changes_nothing_and_commands_are_not_reached_by_get(
    browser: Client, document: Document, manager: Any
) -> None:
    before = list(Document.everything.values()), list(Sheet.everything.values()), Entry.objects.count()
    for method, path, _ in pages(document):
        expected = 405 if path.endswith(("/delete/", "/restore/")) else 200
        assert browser.get(path).status_code == expected, (method, path)
    assert before == (list(Document.everything.values()), list(Sheet.everything.values()), Entry.objects.count())


def test_a_number_that_is_no_document_is_404_for_everybody(browser: Client, db: Any) -> None:
    for number in (0, 12345, 10**30):
        assert browser.get(f"/documents/{number}/edit/").status_code == 404


def test_what_people_type_is_shown_as_text(browser: Client, db: Any) -> None:
    document = services.add_document("<script>alert(1)</script>")
    page = browser.get(f"/documents/{document.pk}/edit/").content.decode()
    assert "<script>alert" not in page
