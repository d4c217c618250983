"""The pages of one document: overview, runs, stored pages as table and tree, notes."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from clearinghouse.audit.models import Entry
from clearinghouse.database.digests import digest_of
from clearinghouse.library.models import Document
from crawler.models import Excursion, PageHead, PageVersion, Run
from crawlpoints import services
from crawlpoints.documents import document_notes
from crawlpoints.models import DocumentNote
from tests.crawler.runs.rows import make_run

from .test_panel import count_queries, text_of

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Client:
    client: Client = signed_in(editor)
    return client


def at(document: Document, name: str) -> str:
    return reverse(f"document-{name}", args=[document.pk])


def show(run: Run, document: Document) -> None:
    """As the crawler does when it stores a page: the document shows this version."""
    for version in PageVersion.objects.filter(run_id=run.pk, doc_id=document.pk):
        key, values = version.url_key, {"version_id": version.pk}
        PageHead.objects.update_or_create(doc_id=document.pk, url_key=key, defaults=values)


def store(document: Document, *paths: str) -> None:
    for path in paths:
        url = f"https://example.gov/{path}"
        version = PageVersion.objects.create(
            run_id=1, doc_id=document.pk, url_key=digest_of(url), url=url, digest=digest_of(url), size=2000,
            type_id=2 if url.endswith(".pdf") else 1, title=f"Title {path}", found_at="2026-11-12T10:00:00Z",
        )  # fmt: skip
        PageHead.objects.create(doc_id=document.pk, url_key=version.url_key, version_id=version.pk)


def test_the_overview_leads_to_every_page_of_the_document(browser: Client, document: Document) -> None:
    make_run(document)
    document_notes.add_note(document, "Ask the webmaster before noon")
    page = text_of(browser.get(reverse("document", args=[document.pk])))
    for name in ("runs", "pages", "notes", "history"):
        assert at(document, name) in page
    assert "Ask the webmaster before noon" in page and "editor" in page and ">Runs <" in page


def test_the_runs_of_a_document_are_listed_newest_first_and_can_be_compared(
    browser: Client, document: Document, crawled: Any
) -> None:
    old, new = crawled(document, days=9, pages=7), crawled(document, pages=8, failed=2)
    answer = browser.get(at(document, "runs"))
    assert [line["one"].pk for line in answer.context["runs"]] == [new.pk, old.pk]
    page = text_of(answer)
    assert reverse("run-compare", args=[new.run_id, old.run_id]) in page
    assert f"/crawls/{new.run_id}/errors/?doc={document.pk}" in page
    crawled(document, state="failed")
    failed = browser.get(at(document, "runs") + "?state=failed")
    assert [line["one"].pk for line in failed.context["runs"]] == [Excursion.objects.latest("pk").pk]


def test_a_crawl_is_compared_with_the_complete_one_before_it(browser: Client, document: Document, crawled: Any) -> None:
    whole = crawled(document, days=9, pages=7)
    states = ("stopped", "cancelled", "finished")
    stopped, cancelled, last = (crawled(document, days=3, pages=2, state=state) for state in states)
    expected = [whole.pk, whole.pk, whole.pk, None]
    for path in (reverse("document", args=[document.pk]), at(document, "runs")):
        lines = browser.get(path).context["runs"]
        assert [line["before"] and line["before"].pk for line in lines] == expected, path
    stops = browser.get(at(document, "runs") + "?state=stopped").context["runs"]
    assert [line["before"].pk for line in stops] == [whole.pk]
    answer = browser.get(f"/crawls/{last.run_id}/")
    offered = [other.pk for other in answer.context["other_runs"]]
    assert offered == [cancelled.run_id, stopped.run_id, whole.run_id]
    assert f'<option value="{whole.run_id}" selected>' in text_of(answer)


def test_a_document_never_crawled_says_so(browser: Client, document: Document) -> None:
    assert "Never crawled" in text_of(browser.get(at(document, "runs")))
    assert "No pages stored yet" in text_of(browser.get(at(document, "pages")))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["a/", "a/b/1.html", "a/b/2.pdf", "c.html"]),
        ("?q=TITLE%20a/b", ["a/b/1.html", "a/b/2.pdf"]),
        ("?type=2", ["a/b/2.pdf"]),
        ("?folder=https://example.gov/a/", ["a/", "a/b/1.html", "a/b/2.pdf"]),
        ("?folder=https://example.gov/a/&here=1", ["a/"]),
        ("?sort=-url", ["c.html", "a/b/2.pdf", "a/b/1.html", "a/"]),
        ("?type=x&sort=y&page=99&here=1", ["a/", "a/b/1.html", "a/b/2.pdf", "c.html"]),
    ],
)
def test_stored_pages_are_filtered_by_the_address(
    browser: Client, document: Document, query: str, expected: list[str]
) -> None:
    store(document, "a/", "a/b/1.html", "a/b/2.pdf", "c.html")
    answer = browser.get(at(document, "pages") + query)
    assert [row[0].url.removeprefix("https://example.gov/") for row in answer.context["rows"]] == expected
    exported = b"".join(browser.get(at(document, "pages-export") + query).streaming_content).decode()
    assert [line.split(",")[2].removeprefix("https://example.gov/") for line in exported.splitlines()[1:]] == expected


def test_the_tree_opens_in_place_and_each_folder_counts_its_pages(browser: Client, document: Document) -> None:
    store(document, "a/", "a/b/1.html", "a/b/2.pdf", "c.html")
    tree = at(document, "pages") + "?view=tree"
    lines = browser.get(tree).context["lines"]
    assert [(line.name, line.folder.pages, line.opened) for line in lines] == [("https://example.gov/", 4, False)]
    lines = browser.get(tree + "&open=https://example.gov/&open=https://example.gov/a/").context["lines"]
    shown = [(line.level, line.name, line.folder.pages) for line in lines]
    assert shown == [
        (0, "https://example.gov/", 4), (1, "right here", 1), (1, "a/", 3), (2, "right here", 1), (2, "b/", 2),
    ]  # fmt: skip


def test_a_stored_page_leads_to_the_run_that_met_it_last(browser: Client, document: Document) -> None:
    run = make_run(document)
    show(run, document)
    answer = browser.get(at(document, "pages"))
    assert f"/crawls/{run.pk}/pages/" in text_of(answer)
    assert all(entry for _, _, entry in answer.context["rows"])


def test_lists_of_a_document_ask_the_same_number_of_queries_however_long(
    browser: Client, document: Document, crawled: Any
) -> None:
    paths = [at(document, name) for name in ("runs", "pages", "notes")]

    def fill(start: int, count: int) -> None:
        for number in range(start, start + count):
            crawled(document, pages=number)
            document_notes.add_note(document, f"Note {number}")
        store(document, *(f"f{number}/p" for number in range(start, start + count)))

    fill(0, 3)
    few = [count_queries(lambda path=path: browser.get(path)) for path in paths]
    fill(3, 20)
    assert [count_queries(lambda path=path: browser.get(path)) for path in paths] == few
    assert max(few) <= 16


def test_a_note_is_added_deleted_and_restored_with_its_author(browser: Client, document: Document) -> None:
    page = at(document, "notes")
    assert browser.post(page, {"text": " Moved to a new server in May \r\nAsk first "}).status_code == 302
    note = DocumentNote.objects.get()
    assert (note.text, note.author) == ("Moved to a new server in May \nAsk first", "editor")
    assert "Moved to a new server in May" in text_of(browser.get(page))
    answer = browser.post(at(document, "notes-delete"), {"note": note.pk}, follow=True)
    assert "Deleted the note." in text_of(answer) and "Undo" in text_of(answer)
    assert not DocumentNote.objects.exists()
    browser.post(at(document, "notes-restore"), {"note": note.pk})
    assert DocumentNote.objects.get().text == note.text
    sentences = Entry.objects.filter(kind="documentnote").order_by("id").values_list("sentence", flat=True)
    assert list(sentences) == ["Added a note", "Deleted a note", "Restored a note"]


@pytest.mark.parametrize(("text", "message"), [("  ", "Enter the note"), ("x" * 2001, "2,000 characters or fewer")])
def test_a_note_that_cannot_be_kept_comes_back(browser: Client, document: Document, text: str, message: str) -> None:
    answer = browser.post(at(document, "notes"), {"text": text})
    assert answer.status_code == 422 and message in text_of(answer) and "<title>Error: " in text_of(answer)
    assert not DocumentNote.objects.exists()


def test_the_notes_of_crawl_points_and_runs_stand_beside_those_of_the_document(
    browser: Client, document: Document, crawled: Any
) -> None:
    values = {"url": "https://example.gov/", "root": "https://example.gov/", "note": "the list of measures"}
    services.add_crawl_point(document, values)
    Run.objects.filter(pk=crawled(document).run_id).update(note="after the relaunch")
    page = text_of(browser.get(at(document, "notes")))
    assert "the list of measures" in page and "after the relaunch" in page


def test_a_reader_reads_notes_and_writes_none(reader: Any, signed_in: Any, document: Document) -> None:
    document_notes.add_note(document, "<script>alert(1)</script>")
    page = text_of(signed_in(reader).get(at(document, "notes")))
    assert "&lt;script&gt;" in page and "Add a note" not in page and "You can view but not change" in page
