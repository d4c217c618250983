"""The number beside In Tray is the number of tasks that stand there."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from clearinghouse.library.models import Document
from crawler.launching import crawl_requests
from crawlpoints import services
from tests.crawler.inbox.test_tray import limited_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture(autouse=True)
def _something_to_crawl(document: Document) -> None:
    services.add_crawl_point(document, {"url": "https://ex.gov/a/", "root": "https://ex.gov/a/"})


def number(browser: Client, path: str) -> str:
    nav = browser.get(path).content.decode().split('<nav class="nav"')[1].split("</nav>")[0]
    link = nav.split(">In Tray")[1].split("</a>")[0]
    return link.replace('<span class="count">', "").replace("</span>", "").strip()


def test_every_page_says_how_many_tasks_wait_for_this_person(
    signed_in: SignedIn, editor: Any, reader: Any, administrator: Any, document: Document
) -> None:
    limited_run(document)
    crawl_requests.ask(document, "editor", "please")
    for person, path in ((administrator, "/crawls/"), (editor, "/me/"), (reader, "/documents/")):
        browser = signed_in(person)
        before = number(browser, path)
        tasks = browser.get("/").context["all_tasks"]
        assert before == (str(tasks) if tasks else "")
    assert number(signed_in(administrator), "/crawls/") == "2"
    assert number(signed_in(editor), "/me/") == "1"


def test_the_in_tray_itself_is_never_behind(signed_in: SignedIn, administrator: Any, document: Document) -> None:
    browser = signed_in(administrator)
    assert number(browser, "/crawls/") == ""
    crawl_requests.ask(document, "editor", "please")
    assert number(browser, "/") == "1"
    assert number(browser, "/crawls/") == "1"
