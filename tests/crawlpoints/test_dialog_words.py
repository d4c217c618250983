"""The crawl point dialog says what it did, what it could not keep, and what is odd about what was saved."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from clearinghouse.library.models import Document
from crawler.models import Preview
from crawlpoints import queries, services
from crawlpoints.dialog.repairs import scope_words
from crawlpoints.models import CrawlPoint, ExcludeUrl

from .test_dialog import HTMX, edit, filled
from .test_panel import text_of

pytestmark = pytest.mark.django_db(databases="__all__")
LOST = "Enter the new password again; it was not kept"


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


@pytest.fixture
def new(document: Document) -> str:
    return reverse("crawl-point-new", args=[document.pk])


# ---- a password that was typed ----


@pytest.mark.parametrize("press", [{"do": "save", "depth": "deep"}, {"do": "use_root"}, {"do": "exclude_tested"}])
def test_a_typed_password_that_was_not_kept_is_asked_for_again(
    press: dict[str, str], browser: Any, document: Document, protected: CrawlPoint
) -> None:
    url = edit(document, protected)
    typed = filled(browser.get(url)) | {"password": "canary-8R"} | press
    for headers in ({}, HTMX):
        page = browser.post(url, typed, headers=headers).content.decode()
        assert page.count(LOST) == 2 and "canary" not in page  # in the summary and at the field
    assert LOST not in text_of(browser.post(url, typed | {"password": ""}))


def test_a_part_of_the_form_fetched_anew_takes_no_password_away(
    browser: Any, document: Document, protected: CrawlPoint
) -> None:
    url = edit(document, protected)
    typed = filled(browser.get(url)) | {"password": "canary-8R", "do": "detect", "sign_in_url": "http://127.0.0.1:9/"}
    alone = browser.get(url).content.decode()  # the page of its own, where the password stays as well
    assert all(f'hx-post="{url}" hx-target="#{one}"' in alone for one in ("sign-in-form", "sign-in-test", "answer"))
    part = {"HX-Request": "true", "HX-Target": "sign-in-form"}
    page = browser.post(url, typed, headers=part).content.decode()
    assert LOST not in page and "canary" not in page
    assert f'hx-post="{url}" hx-target="#sign-in-form" hx-select="#sign-in-form"' in page


def test_settings_kept_from_a_preview_ask_for_the_password_first(
    browser: Any, document: Document, protected: CrawlPoint
) -> None:
    url = edit(document, protected)
    typed = filled(browser.get(url)) | {"password": "canary-8R", "depth": "9"}
    browser.post(url, typed | {"do": "preview"})
    row = Preview.objects.get()
    assert "canary" not in str(row.entries)
    kept = browser.post(url, row.entries | {"do": "save"})
    assert kept.status_code == 422 and LOST in text_of(kept)
    assert browser.post(url, filled(kept) | {"password": "canary-8R", "do": "save"}).status_code == 302
    fresh = CrawlPoint.objects.get(pk=protected.pk)
    assert (fresh.depth, queries.password_of(fresh)) == (9, "canary-8R")


# ---- detect, preview ----


def test_a_sign_in_page_without_a_form_is_an_error_of_its_field(
    browser: Any, new: str, entries: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = entries | {"auth_type": "4", "sign_in_url": "ftp://example.gov/", "do": "detect"}
    answer = browser.post(new, asked)
    message = "This is not a web address the crawler can read"
    assert answer.status_code == 422
    assert f'<a href="#id_sign_in_url">{message}</a>' in answer.content.decode()
    assert answer.context["form"].errors["sign_in_url"] == [message]


def test_a_preview_of_what_cannot_be_read_is_refused(browser: Any, new: str, entries: dict[str, str]) -> None:
    wrong = entries | {"url": "example.gov", "root": "/", "depth": "deep", "max_pages": "many", "do": "preview"}
    answer = browser.post(new, wrong)
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == {"url", "root", "depth", "max_pages"}
    assert "Use https://example.gov/</button>" in text_of(answer)
    assert not Preview.objects.exists()


# ---- root string and scope ----


def test_the_button_for_the_folder_is_always_there(
    browser: Any, new: str, document: Document, point: CrawlPoint
) -> None:
    button = '<button class="btn s" name="do" value="use_root">Use this folder</button>'
    assert button in text_of(browser.get(new)) and button in text_of(browser.get(edit(document, point)))


def test_examples_out_of_scope_are_out_of_scope() -> None:
    about = scope_words("https://ex.gov/about/", "https://ex.gov/about/")
    assert about and about["outside"] == [("https://ex.gov/news/", ""), ("http://ex.gov/about/", "http, not https")]
    merged = scope_words("http://ex.gov/a/", "https://ex.gov/a/", merge_schemes=True)
    assert merged and merged["outside"] == [("https://ex.gov/about/", "")]
    whole = scope_words("https://ex.gov/", "https://ex.gov/", merge_schemes=True)
    assert whole and whole["outside"] == []


# ---- after a save ----


def test_save_and_add_another_shows_what_is_odd_about_the_saved_one(
    browser: Any, new: str, document: Document, entries: dict[str, str]
) -> None:
    answer = browser.post(new, entries | {"depth": "0", "max_pages": "5", "do": "again"}, follow=True)
    page = text_of(answer)
    point = queries.points_of(document).get()
    assert answer.request["PATH_INFO"] == new and filled(answer).get("url", "") == ""
    assert "Saved. Check this point" in page and "With depth limit 0 only one page is crawled" in page
    assert f'hx-get="{reverse("crawl-point-look", args=[document.pk, point.pk])}" hx-trigger="load"' in page


def test_a_sign_in_form_moves_to_https_with_everything_else(
    browser: Any, document: Document, entries: dict[str, str]
) -> None:
    base = "http://example.gov/list/"
    values = {"url": base, "root": base, "auth_type": 4, "login": "me", "password": "x", "sign_in_url": f"{base}in",
              "sign_in_user_field": "u", "sign_in_password_field": "p"}  # fmt: skip
    point, _ = services.add_crawl_point(document, values)
    fix = reverse("crawl-point-fix", args=[document.pk, point.pk])
    assert "Done: Change to https." in text_of(browser.post(fix, {"code": "unencrypted"}, follow=True))
    point.refresh_from_db()
    assert (point.url, point.sign_in_url) == ("https://example.gov/list/", "https://example.gov/list/in")


def test_excludes_that_matched_nothing_are_counted_among_the_points_to_check(
    browser: Any, document: Document, point: CrawlPoint, crawled: Any
) -> None:
    before = services.add_exclude_url(document, "https://example.gov/measures/print/*")
    during = services.add_exclude_url(document, "https://example.gov/measures/new/*")
    run = crawled(document).run
    run.created_at = timezone.now()
    run.save(update_fields=["created_at"])
    ExcludeUrl.objects.filter(pk=during.pk).update(created_at=run.created_at + timedelta(seconds=1))
    services.update_crawl_point(point, {"depth": 0, "max_pages": 5})
    page = text_of(browser.get(reverse("crawl-points", args=[document.pk]) + f"?saved={point.pk}"))
    assert "Saved. Check these 2 points" in page
    assert f"{before.pattern}</span>: Matched 0 addresses" in page
    assert f"{during.pattern}</span>: Matched 0 addresses" not in page


# ---- excludes, history ----


def test_the_hint_of_the_exclude_urls_is_word_for_word(browser: Any, new: str) -> None:
    hint = (
        "One address per line. These apply to <strong>every</strong> crawl point of this document. End with * to "
        "exclude everything that begins with the text; * elsewhere stands for anything; regex: starts a regular "
        'expression. <span id="excludes-count">0 lines</span>'
    )
    assert hint in text_of(browser.get(new))


def test_what_was_typed_is_kept_in_the_history_of_a_new_crawl_point(
    browser: Any, new: str, document: Document, entries: dict[str, str]
) -> None:
    typed = "HTTPS://Example.gov:443/list/#top"
    browser.post(new, entries | {"url": typed})
    point = queries.points_of(document).get()
    history = f"{reverse('document-history', args=[document.pk])}?point={point.pk}"
    assert f'<a href="{history}">History</a>' in text_of(browser.get(edit(document, point)))
    page = text_of(browser.get(history))
    assert "Typed as URL: " in page and typed in page
    assert f'only of the crawl point <span class="url">{point.url}</span>' in page
