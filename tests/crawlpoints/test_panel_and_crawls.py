"""What crawls, plans and findings say on the screens of a document."""

import csv
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from clearinghouse.database.digests import digest_of
from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document
from clearinghouse.web.templatetags.formats import coming
from crawler.launching import schedules
from crawler.launching.planned_pages import next_start_of
from crawler.models import Excursion, Finding, LedgerEntry, Schedule
from crawlpoints import services
from crawlpoints.models import CrawlPoint

from .test_panel import text_of

pytestmark = pytest.mark.django_db(databases="__all__")
SignedIn = Callable[[Any], Client]
Crawled = Callable[..., Excursion]


def panel(browser: Client, document: Document) -> str:
    return " ".join(browser.get(reverse("crawl-points", args=[document.pk])).content.decode().split())


def counted(point: CrawlPoint, pages: int = 0, errors: int = 0) -> dict[str, Any]:
    """What an excursion counts for one crawl point."""
    return {"pages": pages, "failed": errors, "tallies": {"point": {str(point.pk): {"pages": pages, "errors": errors}}}}


def finding(excursion: Excursion) -> Finding:
    return Finding.objects.create(
        excursion=excursion, run_id=excursion.run_id, doc_id=excursion.doc_id, rule="page_limit", weight=2,
        sentence="Stopped at the limit of 500 pages", fixes=[],
    )  # fmt: skip


def test_the_panel_shows_the_findings_of_the_last_crawl_and_returns_after_a_decision(
    signed_in: SignedIn, editor: Any, document: Document, point: CrawlPoint, crawled: Crawled
) -> None:
    one = finding(crawled(document))
    browser = signed_in(editor)
    page = panel(browser, document)
    assert "Stopped at the limit of 500 pages" in page and "Accept or mark as solved" in page
    here = reverse("crawl-points", args=[document.pk])
    decided = browser.post(reverse("finding-decide", args=[one.pk]), {"state": "accepted", "next": here})
    assert (decided.status_code, decided.headers["Location"]) == (302, here)
    assert 'id="find-h"' in page and 'id="find-h"' not in panel(browser, document)


def test_who_may_not_change_the_document_sees_its_findings_without_buttons(
    signed_in: SignedIn, reader: Any, document: Document, point: CrawlPoint, crawled: Crawled
) -> None:
    finding(crawled(document))
    page = panel(signed_in(reader), document)
    assert "Stopped at the limit of 500 pages" in page and "Accept or mark as solved" not in page


def test_request_crawl_is_offered_to_who_may_ask(
    signed_in: SignedIn, editor: Any, administrator: Any, document: Document, point: CrawlPoint
) -> None:
    door = reverse("request-crawl", args=[document.pk])
    assert f'href="{door}"' in panel(signed_in(editor), document)
    assert door not in panel(signed_in(administrator), document)
    asked = {"document": document.pk, "to": "request"}
    browser = signed_in(editor)
    assert browser.get("/documents/choose/", asked).headers["Location"] == door
    assert 'value="request"' in browser.get("/documents/").content.decode()
    assert 'value="request"' not in signed_in(administrator).get("/documents/").content.decode()


def test_the_head_says_when_the_next_planned_crawl_begins(
    signed_in: SignedIn, editor: Any, document: Document, other_document: Document, point: CrawlPoint
) -> None:
    now = timezone.now()
    plan: dict[str, Any] = {"created_by": "administrator", "created_at": now}
    Schedule.objects.create(what=schedules.CHOSEN, doc_ids=[other_document.pk], next_at=now, **plan)
    assert "next: <a" not in panel(signed_in(editor), document)
    soon = now + timedelta(days=2)
    mine = Schedule.objects.create(what=schedules.PROJECT, project_id=document.sheet.project_id, next_at=soon, **plan)
    assert f"{timezone.localtime(soon):%a %H:%M}" in panel(signed_in(editor), document)
    assert next_start_of(other_document.pk, None) == now
    assert next_start_of(0, other_document.sheet.project_id) is None
    schedules.turn(mine, on=False, now=now)
    assert "next: <a" not in panel(signed_in(editor), document)


def test_a_start_far_away_is_told_with_its_date() -> None:
    assert ">1 Feb 2099, 02:00<" in coming(datetime(2099, 2, 1, 2, tzinfo=UTC))


def test_the_exclude_list_begins_with_the_pattern_of_the_address(
    signed_in: SignedIn, editor: Any, document: Document
) -> None:
    address = reverse("exclude-urls", args=[document.pk])
    page = signed_in(editor).get(address, {"pattern": "https://example.gov/print/*"}).content.decode()
    assert "https://example.gov/print/*</textarea>" in page


def test_a_version_that_is_no_plain_number_is_no_fault(
    signed_in: SignedIn, editor: Any, document: Document, point: CrawlPoint, entries: dict[str, str]
) -> None:
    address = reverse("crawl-point-edit", args=[document.pk, point.pk])
    answer = signed_in(editor).post(address, entries | {"version": "²", "auth_type": "²"})
    assert answer.status_code in (302, 409, 422)


def test_one_crawl_point_or_the_whole_document_is_taken_to_the_launch_form(
    signed_in: SignedIn, administrator: Any, editor: Any, document: Document, point: CrawlPoint
) -> None:
    door, browser = reverse("crawl-points-launch", args=[document.pk]), signed_in(administrator)
    assert f'formaction="{door}"' in panel(browser, document) and door not in panel(signed_in(editor), document)
    assert browser.post(door, {"point": point.pk}).url == reverse("launch") + f"?crawl_point={point.pk}"
    assert browser.post(door).url == reverse("launch") + f"?doc={document.pk}"
    form = text_of(browser.post(door, {"point": point.pk}, follow=True))
    assert point.url.removeprefix("https://example.gov/") in form and "One crawl point" in form


def test_a_run_of_a_part_says_nothing_of_the_whole_document(
    signed_in: SignedIn, editor: Any, document: Document, point: CrawlPoint, crawled: Crawled
) -> None:
    """One crawl point, or the pages that failed: the panel, the Navigator and the In Tray show the whole run before."""
    for pages in (410, 412):
        crawled(document, **counted(point, pages=pages, errors=3))
    part = crawled(document, part="failed", **counted(point, errors=2))
    browser = signed_in(editor)
    page = panel(browser, document)
    assert "412 pages" in page and "Failing" not in page and "in the last 2 runs" in page
    assert f"/crawls/{part.run_id}/" not in page
    for list_of_documents in ("/documents/", "/", "/reports/coverage/"):
        page = " ".join(browser.get(list_of_documents).content.decode().split())
        assert ">412<" in page and "in the last 2 runs" in page, list_of_documents
    assert f"/crawls/{part.run_id}/" in browser.get(reverse("document-runs", args=[document.pk])).content.decode()


def test_a_crawl_point_that_sat_out_the_newest_run_shows_the_run_that_met_it(
    signed_in: SignedIn, editor: Any, document: Document, point: CrawlPoint, protected: CrawlPoint, crawled: Crawled
) -> None:
    met = crawled(document, days=9, **counted(point, errors=4))
    crawled(document, days=1, **counted(protected, pages=7))
    browser = signed_in(editor)
    page = panel(browser, document)
    assert "Failing" in page and "4 errors" in page and "9 days ago" in page
    assert f"/crawls/{met.run_id}/errors/" in page
    assert "9 days ago" in page and point.url.removeprefix("https://example.gov") in page
    line = b"".join(browser.get(reverse("crawl-points-export", args=[document.pk])).streaming_content).decode()
    (row,) = (one for one in csv.DictReader(line.lstrip("\ufeff").splitlines()) if one["url"] == point.url)
    assert (row["pages"], row["errors"]) == ("0", "4")
    assert row["last_crawl"].startswith(f"{met.finished_at:%Y-%m-%d}")
    listed = browser.get("/crawl-points/", {"state": "failing"}).content.decode()
    assert "1 crawl point<" in listed and f'value="{point.pk}"' in listed


def test_a_failing_crawl_point_says_why(
    signed_in: SignedIn, editor: Any, document: Document, point: CrawlPoint, crawled: Crawled
) -> None:
    for runs, words in ((1, "password refused, <time"), (2, "failed in 2 runs: password refused")):
        one = crawled(document, **counted(point, errors=1))
        LedgerEntry.objects.create(
            excursion=one, doc_id=document.pk, url=point.url, url_key=digest_of(point.url), outcome="failed",
            reason="auth_failed", depth=0, at=one.finished_at,
        )  # fmt: skip
        assert words in panel(signed_in(editor), document), runs
        assert words in " ".join(signed_in(editor).get("/crawl-points/").content.decode().split())


def test_every_command_is_there_and_explains_itself_when_it_is_impossible_now(
    signed_in: SignedIn, editor: Any, administrator: Any, document: Document, point: CrawlPoint
) -> None:
    services.set_active([point], False)
    assert "Request crawl</a>" in panel(signed_in(editor), document)
    assert "Launch crawl</button>" in panel(signed_in(administrator), document)
    services.delete_crawl_point(point)
    page = signed_in(editor).get(reverse("crawl-points", args=[document.pk]), {"show": "deleted"}).content.decode()
    for command in ("Update</button>", "Delete</button>", "Test a URL</a>", "Preview</button>", "Activate</button>"):
        assert command in page, command


def test_the_head_and_the_list_tell_of_exclude_urls_and_who_added_them(
    signed_in: SignedIn, editor: Any, document: Document, point: CrawlPoint
) -> None:
    assert "<li>no exclude URLs</li>" in panel(signed_in(editor), document)
    with acting_as("anna"):
        exclude = services.add_exclude_url(document, "https://example.gov/print/*")
    with acting_as("bert"):
        services.delete_exclude_url(exclude)
        services.restore_exclude_url(exclude)
    page = panel(signed_in(editor), document)
    assert "no exclude URLs</li>" not in page and 'data-th="Added">anna, <time' in page
