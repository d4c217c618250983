"""A help page for each screen, and the link to it in the head of the screen."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver

from clearinghouse.library.models import Document
from clearinghouse.web.help_topics import PARTS, REPORTS, TABS, TOPICS
from crawler.help_views import TOPICS as PAGES
from crawler.reports.views import REPORTS as ALL_REPORTS
from crawler.runs.tabs.tab_frame import _TABS as ALL_TABS
from tests.accounts.matrix import NO, ROWS, SHUT
from tests.accounts.routes import routes
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


@pytest.mark.parametrize("topic", PAGES)
def test_every_topic_has_a_page_that_is_open_to_everyone(client: Client, topic: str) -> None:
    page = client.get(f"/help/{topic}/")
    assert page.status_code == 200
    assert f"<h1>{PAGES[topic][0]}</h1>" in page.content.decode()


def test_screens_name_topics_that_exist_and_screens_that_exist() -> None:
    parts = {topic for _, topics in PARTS.values() for topic in topics.values()}
    assert set(TOPICS.values()) | parts == set(PAGES)
    assert set(TOPICS) | set(PARTS) <= {route.name for route in routes(get_resolver())}


def test_the_head_of_a_screen_links_to_its_own_page(
    signed_in: SignedIn, administrator: Any, document: Document
) -> None:
    run = make_run(document)
    browser = signed_in(administrator)
    for path, topic in {
        "/": "in-tray", "/documents/": "documents", f"/documents/{document.pk}/crawl-points/": "crawl-points",
        f"/documents/{document.pk}/crawl-points/new/": "dialog", f"/crawls/{run.pk}/urls/": "run-urls",
        f"/crawls/{run.pk}/": "runs",
        f"/crawls/{run.pk}/compare/{run.pk}/": "compare", "/crawls/": "runs", "/crawls/?tab=calendar": "calendar",
        f"/crawls/{run.pk}/findings/": "findings", "/crawls/launch/": "launch", "/crawls/schedules/": "schedules",
        "/reports/": "reports", "/reports/coverage/": "report-coverage",
        "/settings/people/": "people", "/me/keys/": "api-keys",
        "/settings/workers/": "machines", "/me/": "preferences", "/me/notifications/": "notices",
    }.items():  # fmt: skip
        assert f'<a href="/help/{topic}/">Help</a>' in browser.get(path).content.decode(), path
    assert '<a href="/help/">Help</a>' in browser.get("/help/").content.decode()


def test_each_tab_of_a_run_and_each_report_has_a_short_page_of_its_own(client: Client) -> None:
    assert set(TABS) == set(ALL_TABS) and set(REPORTS) == set(ALL_REPORTS)
    for topic in [*(f"run-{tab}" for tab in TABS), *(f"report-{name}" for name in REPORTS), "compare", "calendar"]:
        page = client.get(f"/help/{topic}/").content.decode()
        body = page.split("<main")[1].split('id="more-h"')[0]
        assert 3 <= body.count("<p>") <= 12, topic
        assert f'href="/help/{topic}/"' in client.get("/help/").content.decode()


def test_every_page_people_look_at_has_a_help_page_of_its_own() -> None:
    """A new screen needs a line in clearinghouse/web/help_topics.py, or here, if it is no page with a head."""
    no_page = (
        "-export",
        "-live",
        "-choose",
        "-copy",
        "-csv",
        "-feed",
        "-running",
        "-cached",
        "-opensearch",
        "-suggest",
        "-opened",
    )
    pages = {name for name, (get, *_) in ROWS.items() if get not in (NO, SHUT) and not name.endswith(no_page)}
    pages -= {name for name in pages if name.startswith(("api-", "admin:"))} - {"api-keys", "api-docs"}
    pages -= {"healthz", "readyz", "metrics"}  # machines look at them
    assert pages - set(TOPICS) == {"help", "help-topic", "sign-in"}


def test_the_keys_are_listed_where_the_question_mark_leads(client: Client) -> None:
    assert 'id="keys"' in client.get("/help/").content.decode()
