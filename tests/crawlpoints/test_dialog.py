"""The crawl point dialog as a plain form: saving, refusing, repairing, and two people at once."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from clearinghouse.addresses import networks
from clearinghouse.database.digests import digest_of
from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document
from crawler.models import Message, PageHead, PageVersion
from crawlpoints import queries, services
from crawlpoints.models import CrawlPoint
from tests.proves import proves

pytestmark = pytest.mark.django_db(databases="__all__")
CANARY = "canary-7Q"
HTMX = {"HX-Request": "true", "HX-Target": "dialog"}


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


@pytest.fixture
def new(document: Document) -> str:
    return reverse("crawl-point-new", args=[document.pk])


def edit(document: Document, point: CrawlPoint) -> str:
    return reverse("crawl-point-edit", args=[document.pk, point.pk])


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def filled(answer: Any) -> dict[str, str]:
    """Every entry of the form as the browser would send it back unchanged."""
    form = answer.context["form"]
    values = {field.name: field.value() for field in form}
    return {
        name: "on" if value is True else str(value)
        for name, value in values.items()
        if value is not None and value is not False
    }


def test_a_new_dialog_has_the_usual_limits_and_the_documents_excludes(
    browser: Any, new: str, document: Document
) -> None:
    services.add_exclude_url(document, "https://example.gov/print/*")
    values = filled(browser.get(new))
    assert (values["depth"], values["max_pages"], values["active"]) == ("3", "500", "on")
    assert values["excludes"] == "https://example.gov/print/*"


def test_the_web_address_of_the_document_is_offered_for_the_first_crawl_point(
    browser: Any, new: str, document: Document, point: CrawlPoint
) -> None:
    document.sheet.web_address = "https://prevention.example.org/ulcer/a.html"
    document.sheet.save()
    assert filled(browser.get(new)).get("url", "") == ""
    services.delete_crawl_point(point)
    answer = browser.get(new)
    assert filled(answer)["url"] == "https://prevention.example.org/ulcer/a.html"
    assert filled(answer)["root"] == "https://prevention.example.org/ulcer/"
    assert "Filled in from the document; you can enter another address." in text_of(answer)


def test_saving_leads_back_to_the_panel_with_the_new_row(
    browser: Any, new: str, document: Document, entries: dict[str, str]
) -> None:
    answer = browser.post(new, entries, follow=True)
    point = queries.points_of(document).get()
    assert answer.redirect_chain[-1][0].endswith(f"crawl-points/?saved={point.pk}&at={point.pk}")
    assert f"Saved crawl point {point.url}" in text_of(answer)
    assert point.updated_by == "editor"


def test_save_and_add_another_leads_to_an_empty_dialog(browser: Any, new: str, entries: dict[str, str]) -> None:
    answer = browser.post(new, entries | {"do": "again"}, follow=True)
    assert answer.request["PATH_INFO"] == new
    assert "Saved crawl point https://example.gov/list/index.html" in text_of(answer)


def test_cautions_are_listed_after_saving_with_their_repair(
    browser: Any, new: str, document: Document, entries: dict[str, str]
) -> None:
    page = text_of(
        browser.post(new, entries | {"root": "https://example.gov/li", "depth": "0", "max_pages": "5"}, follow=True)
    )
    point = queries.points_of(document).get()
    assert "Saved. Check these 2 points" in page
    assert "https://example.gov/li also matches /li-old and /li2" in page
    fix = reverse("crawl-point-fix", args=[document.pk, point.pk])
    page = text_of(browser.post(fix, {"code": "cut_segment"}, follow=True))
    assert "Done: Use https://example.gov/list/." in page and "Saved. Check this point" in page
    point.refresh_from_db()
    assert point.root == "https://example.gov/list/"


def test_wrong_entries_come_back_with_a_summary_that_says_the_same_as_the_fields(
    browser: Any, new: str, entries: dict[str, str]
) -> None:
    answer = browser.post(new, entries | {"url": "", "depth": "deep", "note": "keep me"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "<title>Error: Add crawl point" in page
    for field, message in (("id_url", "Enter the URL where the crawl starts"),
                           ("id_depth", "Depth limit must be a whole number, like 3")):  # fmt: skip
        assert f'<a href="#{field}">{message}</a>' in page
        assert page.count(message) == 2
    assert 'id="id_depth_error"' in page and 'aria-invalid="true"' in page
    assert "keep me" in page and 'value="deep"' in page
    assert not CrawlPoint.everything.exists()


def test_a_wrong_root_string_can_be_repaired_with_one_press(browser: Any, new: str, entries: dict[str, str]) -> None:
    wrong = entries | {"root": "https://www.example.gov/"}
    assert "Use https://example.gov/list/</button>" in text_of(browser.post(new, wrong))
    answer = browser.post(new, wrong | {"do": "use_root"})
    assert answer.status_code == 200
    assert filled(answer)["root"] == "https://example.gov/list/"


def test_a_forgotten_scheme_can_be_repaired_with_one_press(browser: Any, new: str, entries: dict[str, str]) -> None:
    wrong = entries | {"url": "example.gov", "root": ""}
    assert "Did you mean https://example.gov/?" in text_of(browser.post(new, wrong))
    values = filled(browser.post(new, wrong | {"do": "use_url"}))
    assert (values["url"], values["root"]) == ("https://example.gov/", "https://example.gov/")


def test_a_twin_can_be_opened(
    browser: Any, new: str, document: Document, point: CrawlPoint, entries: dict[str, str]
) -> None:
    answer = browser.post(new, entries | {"url": point.url, "root": point.root})
    assert answer.status_code == 422
    assert f'<a href="{edit(document, point)}">Open it</a>' in text_of(answer)


def test_an_unchanged_form_changes_no_value(browser: Any, document: Document, protected: CrawlPoint) -> None:
    url = edit(document, protected)
    before = services.facts(protected)
    answer = browser.post(url, filled(browser.get(url)) | {"do": "save"})
    assert answer.status_code == 302
    fresh = CrawlPoint.objects.get(pk=protected.pk)
    assert services.facts(fresh) == before
    assert queries.password_of(fresh) == CANARY


def test_the_password_is_never_shown(browser: Any, document: Document, protected: CrawlPoint) -> None:
    url = edit(document, protected)
    shown = browser.get(url)
    typed = "second-canary-8R"
    refused = browser.post(url, filled(shown) | {"depth": "x", "password": typed, "do": "save"})
    tested = browser.post(url, filled(shown) | {"password": typed, "do": "test", "test": "https://a.org/"})
    panel = browser.get(reverse("crawl-points", args=[document.pk]))
    overview = browser.get(reverse("document", args=[document.pk]))
    for answer in (shown, refused, tested, panel, overview):
        page = answer.content.decode()
        assert CANARY not in page and typed not in page and "sealed:" not in page
    assert "A password is saved" in text_of(shown)
    assert refused.status_code == 422


def test_a_password_removed_or_lost_is_said(browser: Any, document: Document, protected: CrawlPoint) -> None:
    url = edit(document, protected)
    values = filled(browser.get(url))
    moved = {"url": "https://data.example.net/", "root": "https://data.example.net/"}
    page = text_of(browser.post(url, values | moved | {"do": "save"}, follow=True))
    assert "The saved password was removed, because it may only be used for the site" in page
    assert "No password is saved" in page


def test_the_tester_uses_the_entries_as_they_are(browser: Any, new: str, entries: dict[str, str]) -> None:
    asked = entries | {"do": "test", "test": "https://example.gov/list/7.html"}
    assert "Yes, at depth 2 at most" in text_of(browser.post(new, asked))
    asked |= {"excludes": "https://example.gov/list/7*"}
    assert "No, because it matches an exclude URL" in text_of(browser.post(new, asked))
    assert not CrawlPoint.everything.exists()


def test_excludes_of_the_dialog_are_the_documents_list(browser: Any, document: Document, point: CrawlPoint) -> None:
    services.add_exclude_url(document, "https://example.gov/old")
    url = edit(document, point)
    values = filled(browser.get(url))
    browser.post(url, values | {"excludes": "https://example.gov/new*", "do": "save"})
    assert queries.patterns_of(document) == ["https://example.gov/new*"]


def test_examples_of_what_is_in_scope_stand_under_the_root_string(
    browser: Any, document: Document, point: CrawlPoint
) -> None:
    page = text_of(browser.get(edit(document, point)))
    assert "In scope: " in page and "https://example.gov/measures/list.html" in page
    assert "https://example.gov/about/" in page and "(http, not https)" in page


# ---- with htmx: the same answers as a fragment ----


def test_htmx_gets_the_dialog_alone_and_a_redirect_of_the_whole_page(
    browser: Any, new: str, document: Document, entries: dict[str, str]
) -> None:
    fragment = browser.get(new, headers=HTMX).content.decode()
    assert fragment.lstrip().startswith("<dialog") and "<html" not in fragment
    answer = browser.post(new, entries, headers=HTMX)
    assert (answer.status_code, answer["HX-Redirect"].split("?")[0]) == (
        200,
        reverse("crawl-points", args=[document.pk]),
    )


def test_htmx_gets_a_refusal_as_the_dialog_with_422(browser: Any, new: str, entries: dict[str, str]) -> None:
    answer = browser.post(new, entries | {"url": ""}, headers=HTMX)
    assert answer.status_code == 422
    assert answer.content.decode().lstrip().startswith("<dialog")


# ---- two people ----


@proves("J3")
def test_a_form_that_is_sent_twice_saves_one_crawl_point(browser: Any, new: str, entries: dict[str, str]) -> None:
    """A double press, the back button, a connection that broke after the answer was on its way (fault J3)."""
    before = CrawlPoint.objects.count()
    first, second = browser.post(new, entries), browser.post(new, entries)
    assert (first.status_code, second.status_code) == (302, 422)
    assert "already" in text_of(second)
    assert CrawlPoint.objects.count() == before + 1


@proves("J2")
def test_the_second_of_two_people_sees_both_versions_and_nothing_is_lost(
    browser: Any, document: Document, point: CrawlPoint
) -> None:
    url = edit(document, point)
    mine = filled(browser.get(url))
    with acting_as("ann"):
        services.update_crawl_point(CrawlPoint.objects.get(pk=point.pk), {"depth": 7, "note": "from ann"})
    answer = browser.post(url, mine | {"depth": "5", "max_pages": "90", "do": "save"})
    page = text_of(answer)
    assert answer.status_code == 409
    assert "ann changed this crawl point" in page and "from ann" in page
    assert CrawlPoint.objects.get(pk=point.pk).depth == 7
    chosen = {row["name"]: row["chosen"] for row in answer.context["rows"]}
    assert chosen == {"depth": "theirs", "max_pages": "yours", "note": "theirs"}


def test_the_choice_field_by_field_is_saved(browser: Any, document: Document, point: CrawlPoint) -> None:
    url = edit(document, point)
    mine = filled(browser.get(url))
    with acting_as("ann"):
        services.update_crawl_point(CrawlPoint.objects.get(pk=point.pk), {"depth": 7, "note": "from ann"})
    page = browser.post(url, mine | {"depth": "5", "max_pages": "90", "do": "save"}).content.decode()
    again = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
    again |= {"choice-depth": "yours", "choice-max_pages": "yours", "choice-note": "theirs", "do": "save"}
    assert browser.post(url, again).status_code == 302
    fresh = CrawlPoint.objects.get(pk=point.pk)
    assert (fresh.depth, fresh.max_pages, fresh.note) == (5, 90, "from ann")


def test_a_password_typed_before_a_conflict_is_asked_for_again_not_shown(
    browser: Any, document: Document, protected: CrawlPoint
) -> None:
    url = edit(document, protected)
    mine = filled(browser.get(url))
    services.update_crawl_point(CrawlPoint.objects.get(pk=protected.pk), {"depth": 7})
    answer = browser.post(url, mine | {"depth": "5", "password": "typed-9S", "do": "save"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "typed-9S" not in page and "enter it again" in page


def test_the_entries_for_a_crawl_point_deleted_meanwhile_stay(
    browser: Any, new: str, document: Document, point: CrawlPoint
) -> None:
    url = edit(document, point)
    mine = filled(browser.get(url))
    with acting_as("ann"):
        services.delete_crawl_point(CrawlPoint.objects.get(pk=point.pk))
    answer = browser.post(url, mine | {"note": "keep me", "do": "save"})
    page = text_of(answer)
    assert answer.status_code == 409 and "keep me" in page
    assert "ann deleted this crawl point meanwhile; restore it under Show deleted" in page
    assert f'action="{new}"' in page and "?show=deleted" in page
    assert browser.post(new, filled(answer) | {"do": "save"}).status_code == 302
    assert queries.points_of(document).get().note == "keep me"
    assert browser.get(url).status_code == 404


@pytest.fixture
def nothing_opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The operator has allowed no network."""
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "")
    networks.forget_settings()
    yield
    monkeypatch.undo()
    networks.forget_settings()


def test_a_name_inside_a_closed_network_is_refused_and_its_address_stays_unsaid(
    browser: Any, new: str, document: Document, entries: dict[str, str], nothing_opened: None
) -> None:
    inside = entries | {"url": "http://localhost/a/", "root": "http://localhost/a/", "depth": "deep"}
    answer = browser.post(new, inside)
    assert answer.status_code == 422
    assert "localhost is on a private network. Ask an administrator to allow its address" in text_of(answer)
    assert "127.0.0.1" not in text_of(answer) and "::1" not in text_of(answer)
    assert "Depth limit must be a whole number, like 3" in text_of(answer)


def test_a_name_saved_before_is_not_asked_for_again(
    browser: Any, document: Document, entries: dict[str, str], nothing_opened: None
) -> None:
    point, _ = services.add_crawl_point(document, {"url": "http://localhost/a/", "root": "http://localhost/a/"})
    saved = entries | {"url": point.url, "root": point.root, "version": str(point.version), "note": "kept"}
    assert browser.post(edit(document, point), saved).status_code == 302
    assert CrawlPoint.objects.get().note == "kept"


def test_the_hits_of_new_exclude_lines_are_shown_before_they_are_saved(
    browser: Any, new: str, document: Document, entries: dict[str, str], running: Any
) -> None:
    excursion = running(document)
    for path in ("print/1", "print/2", "a"):
        url = f"https://example.gov/list/{path}"
        Message.objects.create(
            excursion=excursion, url_key=digest_of(url), url=url, owner_id=1, reach="1:0:0:0", depth=1, found_on=None
        )
    url = "https://example.gov/list/print/old"
    stored = PageVersion.objects.create(
        run_id=1, doc_id=document.pk, url_key=digest_of(url), url=url, digest=digest_of(url), type_id=1,
        found_at=timezone.now(),
    )  # fmt: skip
    PageHead.objects.create(doc_id=document.pk, url_key=stored.url_key, version_id=stored.pk)
    lines = {"excludes": "*old.html\nhttps://example.gov/list/print/*", "excludes_opened": '["*old.html"]'}
    page = text_of(browser.post(new, entries | lines | {"do": "hits"}))
    assert "<strong>1 stored page</strong></a> and <strong>2 waiting addresses</strong>" in page
    assert "print/<wbr>old" in page and "<code>*old.html</code>" not in page
    assert not queries.patterns_of(document)


def test_the_answer_can_be_copied_as_text(browser: Any, new: str, entries: dict[str, str]) -> None:
    page = browser.post(new, entries | {"do": "test", "test": "https://example.gov/other/"}).content.decode()
    text = re.search(r"<details[^>]*data-copy>.*?<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert text and "Copy this answer" in page
    lines = text[1].strip().splitlines()
    assert lines[0].startswith("https://example.gov/other/: No, because it does not begin with the root string")
    assert "Stop: Does not begin with the root string of this crawl point: character 21 is o, not l" in lines


def test_an_empty_root_string_is_filled_in_where_no_script_did(
    browser: Any, new: str, document: Document, entries: dict[str, str]
) -> None:
    empty = entries | {"root": " "}
    answer = browser.post(new, empty | {"do": "test", "test": "https://example.gov/list/a.html"})
    assert "Yes, " in text_of(answer) and filled(answer)["root"] == "https://example.gov/list/"
    assert browser.post(new, empty | {"do": "save"}).status_code == 302
    assert queries.points_of(document).get(url=entries["url"]).root == "https://example.gov/list/"


def test_a_proposed_maximum_stands_in_the_field_and_is_saved_only_by_saving(browser: Any, document: Document) -> None:
    point, _ = services.add_crawl_point(document, {"url": "https://example.gov/", "root": "https://example.gov/"})
    page = text_of(browser.get(edit(document, point) + "?max_pages=1200"))
    assert re.search(r'name="max_pages"[^>]*value="1200"', page) or re.search(
        r'value="1200"[^>]*name="max_pages"', page
    )
    point.refresh_from_db()
    assert not point.max_pages
    assert browser.get(edit(document, point) + "?max_pages=²").status_code == 200
