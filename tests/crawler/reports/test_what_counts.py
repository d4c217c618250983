"""Reports say which crawls they do not count, and what could not have counted."""

from typing import Any

import pytest
from django.utils import timezone

from clearinghouse.library.models import Document
from crawler.models import Run
from crawlpoints import services

from .test_reports import SignedIn, lines, text

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def test_an_exclude_url_is_not_blamed_for_runs_before_it_was_added(
    signed_in: SignedIn, editor: Any, document: Document, runs: list[Run]
) -> None:
    """Two runs: it was added between them, and stopped nothing in the second."""
    exclude = services.add_exclude_url(document, "https://quality.example.gov/none/*")
    exclude.created_at = runs[0].created_at + (runs[1].created_at - runs[0].created_at) / 2
    exclude.save(update_fields=["created_at"])
    browser = signed_in(editor)

    def counted(query: str = "") -> list[tuple[Any, str]]:
        (cells, _), = browser.get(f"/reports/exclusions/{query}").context["rows"]  # fmt: skip
        return [(cell.text, cell.sub) for column, cell in cells if column.num]

    assert counted("?show=idle") == [(0, ""), (None, "new since"), (None, "")]
    assert lines(browser, "/reports/exclusions/export.csv")[1][2:5] == ["0", "", ""]
    exclude.created_at = timezone.now()
    exclude.save(update_fields=["created_at"])
    assert counted() == [(None, "new since"), (None, "new since"), (None, "")]
    assert not browser.get("/reports/exclusions/?show=idle").context["rows"], "it could stop nothing yet"


def test_activity_says_which_crawls_it_does_not_count(
    signed_in: SignedIn, editor: Any, document: Document, runs: list[Run]
) -> None:
    browser = signed_in(editor)
    assert "cancelled and" not in text(browser, "/reports/activity/")
    runs[0].excursions.update(state="cancelled")
    Run.objects.filter(pk=runs[0].pk).update(state="cancelled")
    sentence = browser.get("/reports/activity/").context["report"].sentence
    assert sentence.endswith("in this period. 1 crawl was cancelled and is not counted.")
