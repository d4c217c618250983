"""Who may launch by a setting of the administrators: their own documents, now; nothing of the whole house."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from clearinghouse.accounts import options
from clearinghouse.library.models import Document
from crawler.models import Excursion, Run
from crawlpoints import services
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


@pytest.fixture
def browser(signed_in: SignedIn, editor: Any) -> Client:
    options.choose({options.DEVELOPERS_LAUNCH: "yes"})
    return signed_in(editor)


def test_the_pause_of_all_crawls_is_the_administrators(
    browser: Client, signed_in: SignedIn, administrator: Any
) -> None:
    page = browser.get("/crawls/").content.decode()
    assert "Launch crawl" in page and "Pause all crawls" not in page
    assert "Pause all crawls" in signed_in(administrator).get("/crawls/").content.decode()


def test_the_launch_form_offers_neither_a_later_time_nor_the_public_servers(
    browser: Client, signed_in: SignedIn, administrator: Any, other_document: Document
) -> None:
    page = browser.get("/crawls/launch/").content.decode()
    assert "All documents I may launch" in page and other_document.sheet.project.name not in page
    for name in ("when", "propagate_after", "weekday"):
        assert f'name="{name}"' not in page
        assert f'name="{name}"' in signed_in(administrator).get("/crawls/launch/").content.decode()


def test_a_granted_launch_crawls_only_ones_own_documents(
    browser: Client, document: Document, other_document: Document
) -> None:
    for one in (document, other_document):
        url = f"https://example.gov/{one.pk}/"
        services.add_crawl_point(one, {"url": url, "root": url})
    assert browser.post("/crawls/launch/", {"what": "all", "speed": "polite"}).status_code == 302
    assert list(Excursion.objects.values_list("doc_id", flat=True)) == [document.pk]


def test_a_run_is_controlled_by_who_may_control_each_of_its_documents(
    browser: Client, document: Document, second_document: Document, other_document: Document
) -> None:
    def buttons(run: Run) -> list[bool]:
        page = browser.get(f"/crawls/{run.pk}/").content.decode()
        live = browser.get(f"/crawls/{run.pk}/live", {"since": "waiting.0.0.x"}).content.decode()
        return [word in text for text in (page, live) for word in ("do-pause", "do-ask")]

    mine, shared = make_run(document), make_run(second_document, other_document)
    assert buttons(mine) == [True, False, True, False]
    assert buttons(shared) == [False, True, False, True]


def test_a_figure_that_is_no_plain_digit_is_nonsense_and_no_fault(browser: Client, document: Document) -> None:
    run = make_run(document)
    assert browser.get(f"/crawls/{run.pk}/live", {"since": "running.².0.x", "rows": "²"}).status_code == 200
