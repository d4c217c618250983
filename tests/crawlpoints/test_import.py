"""CSV out and in again: nothing changes by itself, each line says what it would do, one Undo takes all back."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from clearinghouse.accounts import options
from clearinghouse.library.models import Document
from crawlpoints import queries, services
from crawlpoints.imports import short_import
from crawlpoints.models import CrawlPoint

from .test_panel import text_of

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def panel(document: Document) -> str:
    return reverse("crawl-points", args=[document.pk])


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


def exported(browser: Any, url: str) -> str:
    return b"".join(browser.get(url).streaming_content).decode()


def state(document: Document) -> list[dict[str, Any]]:
    return [services.facts(point) for point in queries.points_of(document)]


def test_what_was_exported_imports_with_0_changes(
    browser: Any, panel: str, document: Document, point: CrawlPoint, protected: CrawlPoint
) -> None:
    services.update_crawl_point(point, {"note": "=risky\nsecond line", "append": "?print=1", "max_pages": 0})
    services.set_active([protected], False)
    text = exported(browser, f"{panel}export.csv")
    for sent in ({"text": text}, {"file": SimpleUploadedFile("points.csv", text.encode())}):
        page = text_of(browser.post(f"{panel}import/", sent | {"do": "check"}))
        assert "0 changes: nothing in these lines differs" in page and "Unchanged" in page
        assert "Import 1" not in page


def test_a_browser_sends_other_line_ends_and_nothing_changes(
    browser: Any, panel: str, document: Document, point: CrawlPoint
) -> None:
    services.update_crawl_point(point, {"note": "one\ntwo"})
    text = exported(browser, f"{panel}export.csv").replace("\r\n", "\n").replace("\n", "\r\n")
    assert short_import.plan_points(document, text).effective == 0


def test_each_line_says_what_it_would_do_and_one_undo_takes_all_back(
    browser: Any, panel: str, document: Document, point: CrawlPoint, protected: CrawlPoint
) -> None:
    before = state(document)
    text = (
        "crawl_point_id,url,root_string,depth_limit,maximum_pages,colour\n"
        f"{point.pk},{point.url},{point.root},9,,red\n"
        f",https://new.example.org/a/b.html,,2,50,\n"
        ",measures,,2,50,\n"
    )
    page = text_of(browser.post(f"{panel}import/", {"text": text, "do": "check"}))
    assert "This column is not known and will be ignored: colour." in page
    assert 'depth_limit: <span class="url muted">3</span> → <span class="url">9</span>' in page
    assert "Add" in page and "URL must start with http:// or https://" in page and "Import 2, skip 1" in page
    assert state(document) == before
    page = text_of(browser.post(f"{panel}import/", {"text": text, "do": "import"}, follow=True))
    assert "Imported 2 crawl points: 1 added, 1 changed. 1 line skipped." in page
    assert CrawlPoint.objects.get(pk=point.pk).depth == 9
    assert CrawlPoint.objects.get(url__contains="new.example.org").max_pages == 50
    browser.post(f"{panel}undo/")
    assert state(document) == before


def test_a_line_without_a_number_is_found_by_url_and_root(document: Document, point: CrawlPoint) -> None:
    plan = short_import.plan_points(document, f"url;root_string;note\n{point.url};{point.root};why\n")
    assert [(line.outcome, line.changes) for line in plan.lines] == [("change", [("note", "empty", "why")])]


def test_lines_of_other_documents_and_doubles_are_errors(document: Document, point: CrawlPoint) -> None:
    text = (
        "document_id,crawl_point_id,url,depth_limit\n"
        f"999999,,https://a.example.org/,1\n,999999,https://b.example.org/,1\n"
        f",,https://c.example.org/,1\n,,https://c.example.org/,2\n,{point.pk},{point.url},1\n,{point.pk},{point.url},2\n"
    )
    plan = short_import.plan_points(document, text)
    assert [line.outcome for line in plan.lines] == ["error", "error", "add", "error", "change", "error"]


def test_a_password_is_asked_for_in_the_dialog(document: Document) -> None:
    text = "url,authentication,user_id\nhttps://a.example.org/,Basic,me\nhttps://a.example.org/,Magic,me\n"
    first, second = short_import.plan_points(document, text).lines
    assert "Passwords are never in a CSV: use the dialog" in first.message
    assert "'Magic' is not a kind of authentication" in second.message


@pytest.mark.parametrize("text", ["", "depth_limit\n3\n", 'url\n"open', "url,url\na,b\n"])
def test_what_is_no_list_is_refused_with_a_sentence(text: str, browser: Any, panel: str) -> None:
    answer = browser.post(f"{panel}import/", {"text": text, "do": "check"})
    assert answer.status_code == 422
    assert "There is a problem" in text_of(answer)


def test_exclude_urls_make_the_same_round_trip(browser: Any, document: Document) -> None:
    url = reverse("exclude-urls", args=[document.pk])
    services.add_exclude_url(document, "https://example.gov/print/*")
    text = exported(browser, f"{url}export.csv")
    assert "0 changes" in text_of(browser.post(f"{url}import/", {"text": text, "do": "check"}))
    more = {"text": text + ",,https://example.gov/old\n,,nonsense\n", "do": "import"}
    page = text_of(browser.post(f"{url}import/", more, follow=True))
    assert "Imported 1 exclude URL: 1 added, 0 changed. 1 line skipped." in page
    assert queries.patterns_of(document) == ["https://example.gov/old", "https://example.gov/print/*"]
    browser.post(reverse("crawl-points-undo", args=[document.pk]))
    assert queries.patterns_of(document) == ["https://example.gov/print/*"]


def test_plain_lines_are_exclude_urls_too(document: Document) -> None:
    plan = short_import.plan_excludes(document, "https://example.gov/a\n\nregex:(\nhttps://example.gov/a\n")
    assert [line.outcome for line in plan.lines] == ["add", "error", "unchanged"]


def test_a_line_without_limits_takes_those_the_administrators_chose(document: Document) -> None:
    options.choose({options.DEPTH: "6", options.MAX_PAGES: "0"})
    line = short_import.plan_points(document, "url\nhttps://a.example.org/b/\n").lines[0]
    assert (line.values["depth"], line.values["max_pages"]) == (6, 0)


def test_back_to_the_lines_keeps_what_was_pasted(browser: Any, panel: str) -> None:
    text = "url,depth_limit\nhttps://new.example.org/a/,2\n"
    page = text_of(browser.post(f"{panel}import/", {"text": text, "do": "check"}))
    assert 'value="back">Back to the lines</button>' in page and "step 2 of 3" in page
    answer = browser.post(f"{panel}import/", {"text": text, "do": "back"})
    assert answer.status_code == 200 and "https://new.example.org/a/,2" in answer.content.decode()
    assert "There is a problem" not in text_of(answer) and "step 1 of 3" in text_of(answer)


def test_what_a_colleague_changed_since_the_lines_were_shown_is_shown_again_and_not_overwritten(
    browser: Any, panel: str, point: CrawlPoint
) -> None:
    sent = {"text": f"crawl_point_id,url,depth_limit\n{point.pk},{point.url},9\n"}
    seen = browser.post(f"{panel}import/", sent | {"do": "check"}).context["plan"].seen
    services.update_crawl_point(CrawlPoint.objects.get(pk=point.pk), {"depth": 5})
    answer = browser.post(f"{panel}import/", sent | {"do": "import", "seen": seen})
    page = text_of(answer)
    assert answer.status_code == 409 and "Somebody else changed one of these crawl points meanwhile." in page
    assert CrawlPoint.objects.get(pk=point.pk).depth == 5
    assert 'depth_limit: <span class="url muted">5</span> → <span class="url">9</span>' in page
    browser.post(f"{panel}import/", sent | {"do": "import", "seen": answer.context["plan"].seen})
    assert CrawlPoint.objects.get(pk=point.pk).depth == 9


def test_undo_of_imported_exclude_urls_stays_in_their_list(browser: Any, document: Document) -> None:
    url = reverse("exclude-urls", args=[document.pk])
    browser.post(f"{url}import/", {"text": "https://example.gov/old", "do": "import"})
    assert 'name="back" value="list"' in text_of(browser.get(url))
    answer = browser.post(reverse("crawl-points-undo", args=[document.pk]), {"back": "list"})
    assert answer.url == url and queries.patterns_of(document) == []
