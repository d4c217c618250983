"""The Document Navigator: who sees what, filters, views, sorting, the commands of the chosen document."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawlpoints import saved_views, services
from crawlpoints.models import CrawlPoint, SavedView

from .test_panel import count_queries, text_of

pytestmark = pytest.mark.django_db(databases="__all__")
LIST = "/documents/"


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


def titles(answer: Any) -> list[str]:
    return [row.record.title for row in answer.context["page"].object_list]


@pytest.fixture
def library_of_three(document: Document, project: Any, editor: Any, crawled: Any) -> list[Document]:
    """One crawled long ago, one that failed, one without crawl points."""
    failed = library.add_document("Asthma", project=project.name)
    empty = library.add_document("Zinc", project=project.name)
    for one in (document, failed):
        services.add_crawl_point(
            one, {"url": f"https://d{one.pk}.example.gov/", "root": f"https://d{one.pk}.example.gov/"}
        )
        library.assign(one, editor)
    crawled(document, days=120, pages=40, failed=2)
    crawled(failed, days=1, state="failed", failed=1)
    return [document, failed, empty]


def test_a_developer_begins_with_the_documents_assigned_to_them(browser: Any, library_of_three: list[Document]) -> None:
    assert titles(browser.get(LIST)) == ["Asthma", "Measures of hospital quality"]
    assert titles(browser.get(LIST + "?view=all")) == ["Asthma", "Measures of hospital quality", "Zinc"]


def test_an_administrator_begins_with_all_documents(
    administrator: Any, signed_in: Any, library_of_three: list[Document], other_document: Document
) -> None:
    assert len(titles(signed_in(administrator).get(LIST))) == 4


def test_documents_of_other_projects_do_not_exist(
    browser: Any, library_of_three: list[Document], other_document: Document
) -> None:
    answer = browser.get(LIST + "?view=all")
    assert other_document.title not in text_of(answer)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("view=never", ["Zinc"]),
        ("view=failed", ["Asthma"]),
        ("view=old", ["Measures of hospital quality"]),
        ("view=empty", ["Zinc"]),
        ("view=all&q=ASTH", ["Asthma"]),
        ("view=all&q=example.gov", ["Asthma", "Measures of hospital quality"]),
        ("view=all&who=nobody", ["Zinc"]),
        ("view=all&who=me", ["Asthma", "Measures of hospital quality"]),
        ("view=mine&who=me&q=asth", ["Asthma"]),
        ("view=mine&who=", ["Asthma", "Measures of hospital quality", "Zinc"]),
        ("view=mine&who=nobody", ["Zinc"]),
        ("view=all&age=30", ["Measures of hospital quality"]),
        ("view=all&errors=1", ["Asthma", "Measures of hospital quality"]),
        ("view=all&nopoints=1", ["Zinc"]),
        ("view=all&project=Guidelines", []),
        ("view=all&sort=-title", ["Zinc", "Measures of hospital quality", "Asthma"]),
        ("view=all&sort=-pages", ["Measures of hospital quality", "Asthma", "Zinc"]),
        ("view=all&sort=last", ["Zinc", "Measures of hospital quality", "Asthma"]),
        ("view=nonsense&age=x&page=99&rows=7&sort=nonsense&selected=x", ["Asthma", "Measures of hospital quality"]),
    ],
)
def test_views_filters_and_sorting(
    browser: Any, library_of_three: list[Document], query: str, expected: list[str]
) -> None:
    answer = browser.get(f"{LIST}?{query}")
    assert answer.status_code == 200
    assert (titles(answer) if answer.context["page"].paginator.count else []) == expected


def test_an_empty_result_offers_to_clear_the_filters(browser: Any, library_of_three: list[Document]) -> None:
    page = text_of(browser.get(LIST + "?view=all&q=nothing+like+this"))
    assert "No document matches these filters." in page and "Clear filters" in page


def test_each_figure_of_a_row_is_a_door(browser: Any, library_of_three: list[Document]) -> None:
    page = text_of(browser.get(LIST))
    document = library_of_three[0]
    assert f'<a class="n" href="/documents/{document.pk}/crawl-points/">1 of 1</a>' in page
    assert f'/pages/?doc={document.pk}">40</a>' in page and f'/errors/?doc={document.pk}">2</a>' in page


def test_the_commands_belong_to_the_chosen_document(browser: Any, document: Document) -> None:
    choose = reverse("documents-choose")
    for command, name in (("points", "crawl-points"), ("excludes", "exclude-urls"), ("runs", "document-runs")):
        answer = browser.get(choose, {"document": document.pk, "to": command})
        assert answer.url == reverse(name, args=[document.pk])
    assert "Choose a document first." in text_of(browser.get(choose, {"to": "points"}, follow=True))


def test_done_returns_to_the_list_as_it_was_with_the_document_chosen(browser: Any, document: Document) -> None:
    browser.get(LIST + "?view=all&sort=-title")
    panel = text_of(browser.get(reverse("crawl-points", args=[document.pk])))
    back = f"/documents/?view=all&sort=-title&selected={document.pk}"
    assert f'href="{back.replace("&", "&amp;")}">Done</a>' in panel
    assert " checked autofocus" in text_of(browser.get(back))


def test_the_spreadsheet_has_the_rows_of_the_filter_and_no_formula(
    browser: Any, library_of_three: list[Document], editor: Any, project: Any
) -> None:
    library.assign(library.add_document("=1+1", project=project.name), editor)
    body = b"".join(browser.get(reverse("documents-export") + "?view=mine").streaming_content).decode()
    assert len(body.splitlines()) == 4
    assert ",'=1+1," in body


def test_a_title_is_text_and_never_markup(browser: Any, document: Document, editor: Any, project: Any) -> None:
    library.assign(library.add_document("<script>alert(1)</script>", project=project.name), editor)
    assert "<script>alert(1)" not in browser.get(LIST).content.decode()


def test_the_list_asks_as_often_for_sixty_documents_as_for_two(
    browser: Any, document: Document, editor: Any, project: Any, crawled: Any
) -> None:
    def add(count: int) -> None:
        for number in range(count):
            one = library.add_document(f"Document {number}", project=project.name)
            library.assign(one, editor)
            crawled(one, pages=3)

    add(2)
    browser.get(LIST)
    few = count_queries(lambda: browser.get(LIST))
    add(58)
    assert count_queries(lambda: browser.get(LIST + "?rows=100")) <= few + 4  # the address is remembered once
    assert count_queries(lambda: browser.get(LIST + "?rows=100")) == few
    assert few <= 20


def test_the_page_of_a_document_has_its_runs_and_its_history(
    browser: Any, document: Document, point: CrawlPoint, crawled: Any
) -> None:
    last = crawled(document, pages=12, failed=1)
    page = text_of(browser.get(reverse("document", args=[document.pk])))
    assert f"Run {last.run_id}" in page and "Added crawl point" in page and "1 of 1" in page


# ---- saved views ----


def test_a_filter_is_kept_under_a_name_and_forgotten_again(browser: Any, document: Document) -> None:
    query = "view=all&q=asthma&errors=1"
    page = text_of(
        browser.post("/documents/views/save/", {"name": " My  view ", "query": f"{query}&page=3"}, follow=True)
    )
    assert "Saved the view My view." in page and f'href="?{query.replace("&", "&amp;")}"' in page
    browser.post("/documents/views/save/", {"name": "My view", "query": "view=never"})
    view = SavedView.objects.get()
    assert view.query == "view=never"
    page = text_of(browser.post("/documents/views/delete/", {"view": view.pk}, follow=True))
    assert "Deleted the view My view." in page and not SavedView.objects.exists()


def test_a_view_needs_a_name_and_belongs_to_one_person(
    browser: Any, document: Document, manager: Any, signed_in: Any
) -> None:
    assert "Enter a name for this view." in text_of(browser.post("/documents/views/save/", {"name": " "}, follow=True))
    browser.post("/documents/views/save/", {"name": "Mine", "query": "view=all"})
    other = signed_in(manager)
    other.post("/documents/views/delete/", {"view": SavedView.objects.get().pk})
    assert "Mine" not in text_of(other.get(LIST)) and SavedView.objects.exists()


def test_views_are_never_changed_by_a_get_or_a_visitor(browser: Any, document: Document) -> None:
    for door in ("save", "delete"):
        assert browser.get(f"/documents/views/{door}/").status_code == 405
        assert Client().post(f"/documents/views/{door}/", {"name": "x"}).status_code == 302
    assert not SavedView.objects.exists()


def test_administrators_find_import_and_add_document(
    browser: Any, document: Document, administrator: Any, signed_in: Any
) -> None:
    page = text_of(signed_in(administrator).get(LIST))
    assert "Import documents" in page and "Add document" in page
    assert "Import documents" not in text_of(browser.get(LIST))


def test_all_saved_views_stand_on_one_page_to_be_opened_renamed_and_deleted(
    signed_in: Any, editor: Any, stranger: Any, document: Document
) -> None:
    browser = signed_in(editor)
    mine = saved_views.keep(editor, "Old ones", "age=90&view=all")
    saved_views.keep(editor, "Stale", "age=older", "coverage")
    theirs = saved_views.keep(stranger, "Not yours", "view=all")
    assert 'href="/me/views/"' in browser.get("/me/").content.decode()
    page = text_of(browser.get("/me/views/"))
    assert 'href="/documents/?age=90&amp;view=all">Old ones' in page
    assert 'href="/reports/coverage/?age=older">Stale' in page and "Not yours" not in page
    page = text_of(browser.post("/me/views/", {"view": mine.pk, "name": "Ninety days"}, follow=True))
    assert "The view is called Ninety days now." in page and "Old ones" not in page
    other = saved_views.keep(editor, "Second", "view=all")
    page = text_of(browser.post("/me/views/", {"view": other.pk, "name": "Ninety days"}, follow=True))
    assert "You have a view Ninety days already." in page and ">Second</a>" in page
    for view in (other, theirs):
        browser.post("/me/views/", {"view": view.pk, "do": "delete"})
    assert set(SavedView.objects.values_list("name", flat=True)) == {"Ninety days", "Stale", "Not yours"}


def test_every_page_of_a_document_leads_back_to_the_list_as_it_was(
    signed_in: Any, editor: Any, document: Document, point: CrawlPoint
) -> None:
    browser = signed_in(editor)
    browser.get("/documents/?view=all&q=hospital&sort=-pages")
    back = f'href="/documents/?view=all&amp;q=hospital&amp;sort=-pages&amp;selected={document.pk}"'
    here = f"/documents/{document.pk}/"
    for page in (
        "", "crawl-points/", "crawl-points/new/", f"crawl-points/{point.pk}/edit/", "crawl-points/import/",
        "crawl-points/test/", "exclude-urls/", "history/", "notes/", "pages/", "runs/", "previews/", "request-crawl/",
    ):  # fmt: skip
        answer = browser.get(f"{here}{page}")
        assert answer.status_code == 200 and back in answer.content.decode(), page


def test_the_filter_keeps_order_and_rows_and_offers_the_people_one_sees(
    signed_in: Any, administrator: Any, editor: Any, library_of_three: list[Document]
) -> None:
    browser = signed_in(administrator)
    page = text_of(browser.get(LIST, {"sort": "-pages", "rows": "50"}))
    assert '<input type="hidden" name="sort" value="-pages">' in page
    assert '<input type="hidden" name="rows" value="50">' in page
    assert 'href="?view=never&amp;sort=-pages&amp;rows=50"' in page
    assert "<option>editor</option>" in page
    answer = browser.get(LIST, {"who": "editor", "sort": "-pages"})
    assert titles(answer) == ["Measures of hospital quality", "Asthma"]
    assert "<option selected>editor</option>" in text_of(answer)
    page = text_of(browser.get("/crawl-points/", {"rows": "100"}))
    assert '<input type="hidden" name="rows" value="100">' in page


def test_captions_tell_the_order_and_the_sums_lead_to_what_they_add_up(
    browser: Any, library_of_three: list[Document]
) -> None:
    page = text_of(browser.get(LIST, {"view": "all", "sort": "-pages"}))
    assert "All documents, sorted by Pages, descending." in page
    assert '<a href="?view=all&amp;sort=-pages">40 pages</a>' in page
    assert '<a href="?view=all&amp;sort=-errors&amp;errors=1">3 errors</a>' in page
    panel = text_of(browser.get(reverse("crawl-points", args=[library_of_three[0].pk]), {"sort": "-depth"}))
    assert "Crawl points for this document, sorted by Depth limit, descending" in panel
    assert "Crawl points of all documents, sorted by URL, ascending" in text_of(browser.get("/crawl-points/"))


def test_what_is_empty_is_left_out_where_a_row_is_a_card(browser: Any, library_of_three: list[Document]) -> None:
    page = text_of(browser.get(LIST, {"view": "empty"}))
    assert 'data-th="Pages" class="num na"' in page and 'data-th="Trend" class="fit num na"' in page


def test_own_views_count_their_documents(browser: Any, editor: Any, library_of_three: list[Document]) -> None:
    saved_views.keep(editor, "With errors", "view=all&errors=1")
    assert "With errors <b>2</b>" in text_of(browser.get(LIST))
