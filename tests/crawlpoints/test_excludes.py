"""Exclude URLs: what they would hit before they are saved, and a running crawl that takes them over."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from lxml import html

from clearinghouse.database.digests import digest_of
from clearinghouse.library.models import Document
from crawler.models import Excursion, Message, PageHead, PageVersion
from crawlpoints import queries, services
from crawlpoints.models import CrawlPoint, ExcludeUrl

from .test_panel import text_of

pytestmark = pytest.mark.django_db(databases="__all__")
BASE = "https://example.gov/measures/"


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


def store(document: Document, url: str) -> None:
    key = digest_of(url)
    version = PageVersion.objects.create(
        run_id=1, doc_id=document.pk, url_key=key, url=url, digest=key, type_id=1, found_at=timezone.now()
    )
    PageHead.objects.create(doc_id=document.pk, url_key=key, version_id=version.pk)


def queue(excursion: Excursion, url: str) -> None:
    Message.objects.create(excursion=excursion, url_key=digest_of(url), url=url, owner_id=1, reach="1:0:0:0", depth=1)


def test_hits_are_counted_over_stored_and_waiting_addresses_and_nothing_is_saved(
    browser: Any, document: Document, other_document: Document, running: Any
) -> None:
    for number in range(3):
        store(document, f"{BASE}print/{number}.html")
    store(document, f"{BASE}list.html")
    store(other_document, f"{BASE}print/9.html")
    queue(running(document), f"{BASE}print/7.html")
    url = reverse("exclude-urls", args=[document.pk])
    page = text_of(browser.post(url, {"pattern": f"{BASE}print/*\nregex:nowhere\nmeasures", "do": "hits"}))
    assert "Hits among 5 known addresses" in page
    assert "<strong>3 stored pages</strong></a> and <strong>1 waiting address</strong>" in page
    assert "matches none of them" in page
    assert not ExcludeUrl.objects.exists()


def test_hits_say_where_they_end_and_lead_to_the_pages(browser: Any, document: Document) -> None:
    for number in range(23):
        store(document, f"{BASE}print/{number:02}.html")
    store(document, f"{BASE}list.html")
    lines = "\n".join([f"{BASE}print/*", *(f"{BASE}{number}" for number in range(24))])
    url = reverse("exclude-urls", args=[document.pk])
    page = text_of(browser.post(url, {"pattern": lines, "do": "hits"}))
    assert "and 3 more" in page
    assert "Only the first 20 of these lines were checked; 5 lines were not." in page
    door = f"{reverse('document-pages', args=[document.pk])}?folder=https%3A%2F%2Fexample.gov%2Fmeasures%2Fprint%2F"
    assert f'<a href="{door}"><strong>23 stored pages</strong></a>' in page
    assert "1–23 of 23 pages" in text_of(browser.get(door))


def test_the_list_can_be_applied_to_the_running_crawl(browser: Any, document: Document, running: Any) -> None:
    services.add_exclude_url(document, f"{BASE}print/*")
    apply = reverse("exclude-urls-apply", args=[document.pk])
    assert "No crawl of this document is running" in text_of(browser.post(apply, follow=True))
    excursion = running(document)
    page = text_of(browser.post(apply, follow=True))
    assert f"Applied 1 exclude URL to run {excursion.run_id}; the run uses them within seconds." in page
    excursion.refresh_from_db()
    assert (excursion.snapshot["excludes"], excursion.control) == (queries.patterns_of(document), "exclude")


def test_an_exclude_url_that_excluded_nothing_is_pointed_out_after_a_save(
    browser: Any, document: Document, point: CrawlPoint, crawled: Any
) -> None:
    exclude = services.add_exclude_url(document, f"{BASE}print/*")
    run = crawled(document).run_id
    page = text_of(browser.get(reverse("crawl-points", args=[document.pk]) + f"?saved={point.pk}"))
    assert f": Matched 0 addresses in run {run}." in page and ">0</span>" in page
    later = services.add_exclude_url(document, f"{BASE}later/*")
    rows = browser.get(reverse("exclude-urls", args=[document.pk])).context["excludes"]
    assert {row["rule"]: row["matched"] for row in rows} == {f"{BASE}print/*": 0, f"{BASE}later/*": None}
    for one in (exclude, later):
        browser.post(reverse("exclude-urls-delete", args=[document.pk]), {"exclude": one.pk})
    assert not queries.excludes_of(document)


def test_the_runs_below_it_follow_the_block_running_now(browser: Any, document: Document, running: Any) -> None:
    excursion = running(document)

    def row(page: Any) -> tuple[str, str]:
        (one,) = html.fromstring(page.content).xpath("//section[@id='runs']//tbody/tr")
        return one.xpath("td")[0].text_content(), one.xpath("td[@data-th='Pages']/a/text()")[0]

    page = browser.get(reverse("document", args=[document.pk]))
    poll = html.fromstring(page.content).xpath("//*[@id='live-poll']/@hx-get")[0]
    assert row(page) == ("Running", "4") and browser.get(poll).status_code == 204
    Excursion.objects.filter(pk=excursion.pk).update(crawled=5, control="pause")
    moved = browser.get(poll)
    assert row(moved) == ("Pausing", "5")
    poll = html.fromstring(moved.content).xpath("//*[@id='live-poll']/@hx-get")[0]
    Excursion.objects.filter(pk=excursion.pk).update(unfinished=False, state="finished", control="")
    assert row(browser.get(poll)) == ("Finished", "5")
    panel = html.fromstring(browser.get(reverse("crawl-points-running", args=[document.pk])).content)
    assert not panel.xpath("//section[@id='runs']"), "other pages do not list them"


def test_the_block_running_now_is_sent_only_when_it_moved(browser: Any, document: Document, running: Any) -> None:
    excursion = running(document)
    url = reverse("crawl-points-running", args=[document.pk])
    mark = browser.get(url).context["mark"]
    assert browser.get(url, {"since": mark}).status_code == 204
    Excursion.objects.filter(pk=excursion.pk).update(crawled=5)
    assert 'value="5"' in text_of(browser.get(url, {"since": mark}))
    Excursion.objects.filter(pk=excursion.pk).update(unfinished=False, state="finished")
    page = text_of(browser.get(url, {"since": mark}))
    assert "The crawl of this document has ended." in page and "hx-get" not in page
