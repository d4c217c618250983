"""The crawl point panel, by plain forms: what a browser without JavaScript does."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from lxml import html

from clearinghouse.library.models import Document
from crawlpoints import queries, services
from crawlpoints.models import CrawlPoint, ExcludeUrl

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def panel(document: Document) -> str:
    return reverse("crawl-points", args=[document.pk])


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def count_queries(ask: Callable[[], Any]) -> int:
    cache.clear()  # of the counts in the navigation
    total = 0
    contexts = [CaptureQueriesContext(connections[alias]) for alias in ("default", "webcrawl")]
    for context in contexts:
        context.__enter__()
    ask()
    for context in contexts:
        context.__exit__(None, None, None)
        total += len(context)
    return total


def test_a_document_without_crawl_points_explains_them(browser: Any, panel: str) -> None:
    page = text_of(browser.get(panel))
    assert "No crawl points yet" in page and "Add a crawl point" in page and "A worked example" in page


@pytest.mark.parametrize("name", ["crawl-points", "exclude-urls"])
def test_the_other_pages_of_the_document_stay_in_sight(
    browser: Any, document: Document, point: CrawlPoint, name: str
) -> None:
    here = reverse(name, args=[document.pk])
    (tabs,) = html.fromstring(browser.get(here).content).xpath("//nav[@aria-label='Document']")
    links = {link.get("href"): link.get("aria-current") for link in tabs.iter("a")}
    others = ("", "crawl-points/", "exclude-urls/", "pages/", "runs/", "notes/", "history/")
    assert list(links) == [f"/documents/{document.pk}/{each}" for each in others]
    assert [path for path, current in links.items() if current] == [here]


def test_the_table_shows_the_words_of_each_column(
    browser: Any, panel: str, point: CrawlPoint, document: Document
) -> None:
    values = {"url": "https://example.gov/a/", "root": "https://example.gov/", "active": False, "max_pages": ""}
    services.add_crawl_point(document, values)
    page = text_of(browser.get(panel))
    for words in ("same site", "No limit", "Inactive", "Active", "never", "2 crawl points", "1 active"):
        assert words in page


def test_every_figure_opens_the_list_it_counts(
    browser: Any, panel: str, point: CrawlPoint, document: Document, crawled: Any
) -> None:
    last = crawled(document, pages=412, failed=3, tallies={"point": {str(point.pk): {"pages": 412, "errors": 3}}})
    page = browser.get(panel).content.decode()
    assert f'href="/crawls/{last.run_id}/pages/?doc={document.pk}"' in page
    assert f'href="/crawls/{last.run_id}/errors/?doc={document.pk}"' in page


def test_a_crawl_point_with_only_errors_is_failing(
    browser: Any, panel: str, point: CrawlPoint, document: Document, crawled: Any
) -> None:
    for _ in range(3):
        crawled(document, failed=1, tallies={"point": {str(point.pk): {"errors": 1}}})
    page = text_of(browser.get(panel))
    assert "Failing" in page and "failed in 3 runs" in page


def test_all_inactive_is_said(browser: Any, panel: str, point: CrawlPoint) -> None:
    services.set_active([point], False)
    assert "All crawl points are inactive: this document will be skipped" in text_of(browser.get(panel))


def test_a_run_that_uses_the_crawl_points_is_said(
    browser: Any, panel: str, point: CrawlPoint, document: Document, running: Any
) -> None:
    run = running(document).run
    page = text_of(browser.get(panel))
    assert f"Run {run.pk}</a> is crawling this document with the settings saved at" in page
    assert "Running now" in page and 'value="4" max="10"' in page


def test_a_reader_sees_the_table_and_whom_to_ask(
    document: Document, panel: str, point: CrawlPoint, reader: Any, manager: Any, signed_in: Any
) -> None:
    page = text_of(signed_in(reader).get(panel))
    assert point.url[len("https://example.gov") :] in page
    assert "You can view but not change. Ask the project manager, manager." in page
    assert "Delete" not in page and "crawl-points/new/" not in page and 'name="point"' not in page


@pytest.mark.parametrize("command", ["choose", "delete", "bulk"])
def test_a_command_pressed_too_early_explains_itself(
    command: str, browser: Any, panel: str, point: CrawlPoint, document: Document
) -> None:
    answer = browser.post(f"{panel}{command}/", {"do": "activate"}, follow=True)
    assert "Select a crawl point first." in text_of(answer)


def test_update_opens_the_chosen_crawl_point(
    browser: Any, panel: str, point: CrawlPoint, protected: CrawlPoint
) -> None:
    assert browser.post(f"{panel}choose/", {"point": point.pk}).url == f"{panel}{point.pk}/edit/"
    answer = browser.post(f"{panel}choose/", {"point": [point.pk, protected.pk]}, follow=True)
    assert "Select one crawl point to update. 2 are selected." in text_of(answer)


def test_delete_asks_nothing_and_undo_brings_the_row_back(
    browser: Any, panel: str, point: CrawlPoint, document: Document
) -> None:
    page = text_of(browser.post(f"{panel}delete/", {"point": point.pk}, follow=True))
    assert f"Deleted crawl point {point.url}." in page and "Undo" in page
    assert not queries.points_of(document).exists()
    page = text_of(browser.post(f"{panel}restore/", {"point": point.pk}, follow=True))
    assert f"Restored crawl point {point.url}." in page and "Undo" not in page
    assert queries.points_of(document).get() == point


def test_undo_goes_with_the_next_action(
    browser: Any, panel: str, point: CrawlPoint, protected: CrawlPoint, document: Document
) -> None:
    browser.post(f"{panel}delete/", {"point": point.pk})
    assert "Undo" in text_of(browser.get(panel))
    browser.post(f"{panel}bulk/", {"point": protected.pk, "do": "deactivate"})
    page = text_of(browser.get(panel))
    assert "Deleted crawl point" not in page and "Deactivated 1 crawl point." in page


def test_after_a_delete_the_next_row_has_the_focus_but_is_not_ticked(
    browser: Any, panel: str, point: CrawlPoint, protected: CrawlPoint
) -> None:
    answer = browser.post(f"{panel}delete/", {"point": protected.pk}, follow=True)
    assert answer.redirect_chain[-1][0].endswith(f"?at={point.pk}")
    assert "autofocus" in text_of(answer) and " checked" not in text_of(answer)


def test_deleting_during_a_run_says_what_the_run_does(
    browser: Any, panel: str, point: CrawlPoint, document: Document, running: Any
) -> None:
    running(document)
    page = text_of(browser.post(f"{panel}delete/", {"point": point.pk}, follow=True))
    assert "The running crawl fetches no more of its pages." in page


def test_show_deleted_lists_them_with_restore(browser: Any, panel: str, point: CrawlPoint) -> None:
    services.delete_crawl_point(point)
    assert "Show 1 deleted" in text_of(browser.get(panel))
    page = text_of(browser.get(f"{panel}?show=deleted"))
    assert "struck" in page and "Restore" in page


def test_who_restores_one_of_several_deleted_goes_on_seeing_the_others(
    browser: Any, panel: str, document: Document
) -> None:
    for name in "ab":
        url = f"https://ex.gov/{name}/"
        services.delete_crawl_point(services.add_crawl_point(document, {"url": url, "root": url})[0])
    for left in (1, 0):
        point = queries.deleted_points_of(document).first()
        page = text_of(browser.post(f"{panel}restore/", {"point": point.pk, "show": "deleted"}, follow=True))
        assert ("Deleted crawl points" in page) is bool(left)
    assert "Deleted crawl points" not in text_of(browser.get(f"{panel}?show=deleted"))


def test_restore_refuses_while_a_twin_lives(browser: Any, panel: str, point: CrawlPoint, document: Document) -> None:
    services.delete_crawl_point(point)
    services.add_crawl_point(document, {"url": point.url, "root": point.root})
    page = text_of(browser.post(f"{panel}restore/", {"point": point.pk}, follow=True))
    assert "This document already has this crawl point" in page
    assert queries.points_of(document).count() == 1


def test_activate_and_deactivate(browser: Any, panel: str, point: CrawlPoint) -> None:
    page = text_of(browser.post(f"{panel}bulk/", {"point": point.pk, "do": "deactivate"}, follow=True))
    assert "Deactivated 1 crawl point." in page
    assert CrawlPoint.objects.get(pk=point.pk).active == 0
    page = text_of(browser.post(f"{panel}bulk/", {"point": point.pk, "do": "deactivate"}, follow=True))
    assert "Nothing to do: 1 crawl point is deactivated already." in page


def test_exclude_urls_are_added_removed_and_brought_back(browser: Any, panel: str, document: Document) -> None:
    url = reverse("exclude-urls", args=[document.pk])
    page = text_of(browser.post(url, {"pattern": "https://example.gov/print/*\nhttps://example.gov/old"}, follow=True))
    assert "Added 2 exclude URLs." in page and "begins with" in page and "exact" in page
    exclude = ExcludeUrl.objects.get(pattern="https://example.gov/old")
    page = text_of(browser.post(f"{url}delete/", {"exclude": exclude.pk}, follow=True))
    assert "Deleted exclude URL https://example.gov/old." in page and "Undo" in page
    browser.post(f"{url}restore/", {"exclude": exclude.pk})
    assert queries.excludes_of(document).count() == 2


def test_added_exclude_urls_are_taken_back_on_the_list(browser: Any, document: Document) -> None:
    url = reverse("exclude-urls", args=[document.pk])
    sent = {"pattern": "https://example.gov/print/*\nhttps://example.gov/old", "back": "list"}
    assert "Undo" in text_of(browser.post(url, sent, follow=True))
    answer = browser.post(reverse("crawl-points-undo", args=[document.pk]), {"back": "list"}, follow=True)
    assert answer.request["PATH_INFO"] == url and "Undone: 2 changes were taken back." in text_of(answer)
    assert not queries.excludes_of(document)


def test_a_wrong_exclude_url_stays_in_the_form_with_its_message(browser: Any, document: Document) -> None:
    url = reverse("exclude-urls", args=[document.pk])
    answer = browser.post(url, {"pattern": "https://example.gov/ok\nmeasures"})
    page = text_of(answer)
    assert answer.status_code == 422
    assert "Line 1: This is not an address: &quot;measures&quot;" in page
    assert "<title>Error:" in page
    assert queries.patterns_of(document) == ["https://example.gov/ok"]


def test_the_spreadsheet_has_every_column_but_the_password(
    browser: Any, panel: str, protected: CrawlPoint, document: Document
) -> None:
    services.update_crawl_point(protected, {"note": '=HYPERLINK("https://evil.example")'})
    answer = browser.get(f"{panel}export.csv")
    body = b"".join(answer.streaming_content).decode()
    assert answer["Content-Type"].startswith("text/csv")
    assert body.splitlines()[0].lstrip("\ufeff").startswith("document_id,document_title,crawl_point_id,url,root_string")
    assert "'=HYPERLINK" in body and "sealed" not in body and "canary" not in body


def test_the_tester_answers_with_the_checks_of_the_crawler(browser: Any, panel: str, point: CrawlPoint) -> None:
    page = text_of(browser.get(f"{panel}test/", {"url": "https://example.gov/about/"}))
    assert "No, because it does not begin with the root string" in page and page.count(">Not checked<") == 1
    page = text_of(browser.get(f"{panel}test/", {"url": f"{point.url}\nhttps://example.gov/about/"}))
    assert "Yes, at depth 0" in page and "Answers" in page


def test_the_panel_asks_as_often_for_forty_rows_as_for_two(
    browser: Any, panel: str, document: Document, crawled: Any
) -> None:
    def add(first: int, last: int) -> None:
        for number in range(first, last):
            url = f"https://example.gov/{number}/"
            services.add_crawl_point(document, {"url": url, "root": url})
            services.add_exclude_url(document, f"https://example.gov/{number}/print/*")

    crawled(document, pages=5, tallies={"point": {"1": {"pages": 5}}})
    add(0, 2)
    few = count_queries(lambda: browser.get(panel))
    add(2, 40)
    assert count_queries(lambda: browser.get(panel)) == few
    assert few <= 25


def test_the_panel_shows_every_crawl_point_however_many(browser: Any, panel: str, document: Document) -> None:
    for number in range(40):
        url = f"https://example.gov/p{number:02}/"
        services.add_crawl_point(document, {"url": url, "root": url})
    page = browser.get(panel).content.decode()
    assert page.count('<input type="checkbox" name="point"') == 40 and "40 crawl points" in page
