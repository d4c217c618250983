"""Would this address be crawled? The words of the answer, with saved settings and with those of the dialog."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from clearinghouse.library.models import Document
from crawler.launching.launch import snapshot_of
from crawler.ledger.explain import DEPENDS, NO, compare, explain
from crawler.values import Snapshot
from crawlpoints import services
from crawlpoints.models import CrawlPoint
from tests.sites.misbehaving import Site, page, redirect

from .test_panel import text_of

pytestmark = pytest.mark.django_db(databases="__all__")
INSIDE = "https://example.gov/measures/a.html"


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


@pytest.fixture
def tester(document: Document) -> str:
    return reverse("crawl-points-test", args=[document.pk])


@pytest.fixture
def new(document: Document) -> str:
    return reverse("crawl-point-new", args=[document.pk])


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as one:
        one.pages["/robots.txt"] = page("User-agent: *\nDisallow: /secret/\n", kind="text/plain")
        one.pages["/a/"] = page("<title>Start</title>" + "".join(f'<a href="{n}.html">x</a>' for n in range(60)))
        one.pages["/a/round"] = redirect("/a/about")
        one.pages["/a/about"] = redirect("/a/round")
        yield one


def lines_of(shown: str) -> list[str]:
    """The answer as it is copied."""
    text = re.search(r"<details[^>]*data-copy>.*?<textarea[^>]*>(.*?)</textarea>", shown, re.DOTALL)
    assert text
    return text[1].strip().splitlines()


def asked_for(browser: Any, door: str, /, **sent: str) -> list[str]:
    return lines_of(browser.post(door, sent | {"do": "test"}).content.decode())


# ---- nothing is active ----


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (INSIDE, "point_deactivated"),
        ("ftp://example.gov/", "scheme_not_allowed"),
        ("measures", "bad_address"),
        ("https://example.gov:22/", "port_not_allowed"),
    ],
)
def test_a_document_without_an_active_crawl_point_crawls_nothing(url: str, reason: str) -> None:
    answer = explain(Snapshot(1, (), ()), url)
    assert (answer["verdict"], answer["reason"]) == (NO, reason)


def test_the_answer_without_an_active_crawl_point_reads_well(browser: Any, tester: str, point: CrawlPoint) -> None:
    services.set_active([point], False)
    lines = asked_for(browser, tester, url=point.url)
    assert lines[0] == f"{point.url}: No, because no crawl point of this document is active."
    assert "Stop: No crawl point is active" in lines
    (rest,) = [line for line in lines if line.startswith("Not checked")]
    assert rest.startswith("Not checked: Root string, endless addresses") and "robots.txt" in rest


def test_an_unticked_draft_is_looked_at_as_if_it_were_ticked(browser: Any, new: str, entries: dict[str, str]) -> None:
    asked = {name: value for name, value in entries.items() if name != "active"}
    shown = text_of(browser.post(new, asked | {"do": "test", "test": "https://example.gov/list/7.html"}))
    assert "Yes, at depth 2 at most" in shown and "Active is unticked on this form" in shown
    shown = text_of(browser.post(new, entries | {"do": "test", "test": "https://example.gov/list/7.html"}))
    assert "Active is unticked" not in shown


# ---- the depth ----


def test_without_the_page_it_was_found_on_the_depth_limit_is_the_answer(
    browser: Any, tester: str, document: Document, point: CrawlPoint
) -> None:
    answer = explain(snapshot_of(document), INSIDE)
    assert (answer["verdict"], answer["depth"]) == (DEPENDS, 3)
    lines = asked_for(browser, tester, url=INSIDE)
    assert lines[0] == f"{INSIDE}: Yes, at depth 3 at most."
    assert "Later: Depth depends on the page that links to it" in lines
    services.update_crawl_point(point, {"depth": 0})
    lines = asked_for(browser, tester, url=INSIDE)
    assert lines[0].endswith("Only if the start page redirects to it: the depth limit is 0.")
    several = browser.get(tester, {"url": f"{INSIDE}\n{INSIDE}2"}).content.decode()
    assert several.count("Depends</span>") == 2 and "Yes</span>" not in several


# ---- the checks ----


def test_under_a_yes_every_check_is_passed_or_said_to_come_later(browser: Any, tester: str, point: CrawlPoint) -> None:
    lines = asked_for(browser, tester, url=INSIDE)
    assert "Pass: Crawl point active" in lines
    assert "Later: Limits of the run: decided during the crawl" in lines
    assert "Later: Maximum pages: decided during the crawl" in lines
    assert not [line for line in lines if line.startswith("Not checked")]


def test_what_stops_an_address_is_said_once_and_what_comes_after_it_in_one_line(
    browser: Any, tester: str, document: Document, point: CrawlPoint
) -> None:
    for number in range(8):
        url = f"https://example.gov/{number}/"
        services.add_crawl_point(document, {"url": url, "root": url})
    lines = asked_for(browser, tester, url="https://example.gov/zoo/")
    stops = [line for line in lines if line.startswith("Stop")]
    assert len(stops) == 2 and "Does not begin with the root string of the crawl point" in stops[0]
    assert stops[1] == "Stop: 8 other crawl points do not let it in either"
    (rest,) = [line for line in lines if line.startswith("Not checked")]
    assert rest.endswith("network address, robots.txt, maximum pages")


def test_root_strings_and_excludes_are_named(
    browser: Any, tester: str, new: str, document: Document, point: CrawlPoint, entries: dict[str, str]
) -> None:
    services.add_crawl_point(document, {"url": "https://example.gov/about/", "root": "https://example.gov/about/"})
    services.add_exclude_url(document, "https://example.gov/zoo/*")
    lines = asked_for(browser, tester, url=INSIDE)
    named = f"of the crawl point {point.url}: https://example.gov/measures/"
    assert f"Pass: Begins with the root string {named}" in lines
    outside = asked_for(browser, tester, url="https://example.gov/about.html")
    assert "Stop: Does not begin with the root string of the crawl point https://example.gov/about/:" in outside[4]
    assert "Pass: Not excluded: 1 exclude URL of the document" in lines
    services.add_exclude_url(document, "https://example.gov/measures/a*")
    lines = asked_for(browser, tester, url=INSIDE)
    assert "Stop: Excluded by the exclude URL: https://example.gov/measures/a*" in lines
    draft = entries | {"excludes": "\nhttps://example.gov/x\nhttps://example.gov/list/7*"}
    lines = asked_for(browser, new, **draft | {"test": "https://example.gov/list/7.html"})
    assert "Stop: Excluded by line 3: https://example.gov/list/7*" in lines


def test_the_first_differing_character_is_found_behind_an_unusual_spelling() -> None:
    found = compare("HTTPS://Example.gov:443/measures/", "https://example.gov/about/")
    assert found and (found.position, found.root_hit, found.address_hit) == (21, "m", "a")


# ---- fetch it now ----


def test_fetching_tells_the_trace_what_robots_txt_says(
    browser: Any, tester: str, document: Document, site: Site
) -> None:
    services.add_crawl_point(document, {"url": site.url("/a/"), "root": site.url("/"), "depth": 1})
    assert "Later: robots.txt: not read yet; Fetch it now reads it" in asked_for(browser, tester, url=site.url("/a/"))
    assert "Pass: robots.txt allows it" in lines_of(browser.post(tester, {"url": site.url("/a/")}).content.decode())
    lines = lines_of(browser.post(tester, {"url": site.url("/secret/")}).content.decode())
    assert lines[0].endswith("No, because it is forbidden by robots.txt.")


def test_a_crawl_point_that_ignores_robots_txt_says_so(browser: Any, tester: str, document: Document) -> None:
    values = {"url": INSIDE, "root": INSIDE, "ignore_robots": 1, "ignore_robots_reason": "ours"}
    services.add_crawl_point(document, values)
    assert "Pass: robots.txt: ignored by this crawl point" in asked_for(browser, tester, url=INSIDE)


def test_a_circle_of_redirects_is_the_reason_of_its_last_hop(
    browser: Any, tester: str, document: Document, site: Site
) -> None:
    values = {"url": site.url("/a/round"), "root": site.url("/a/"), "depth": 1}
    point, _ = services.add_crawl_point(document, values)
    answer = browser.post(tester, {"url": point.url})
    assert answer.context["seen"].hops[-1].reason == "redirect_loop"
    shown = text_of(browser.get(reverse("crawl-point-look", args=[document.pk, point.pk])))
    assert "The start page cannot be stored now: redirect loop" in shown


def test_a_start_page_that_is_not_there_is_no_matter_of_links(
    browser: Any, tester: str, document: Document, site: Site
) -> None:
    point, _ = services.add_crawl_point(document, {"url": site.url("/nowhere/"), "root": site.url("/"), "depth": 1})
    shown = text_of(browser.get(reverse("crawl-point-look", args=[document.pk, point.pk])))
    assert "The start page cannot be stored now: not found (404). Enter its new address in the crawl point" in shown
    assert "the link on the page" not in shown


def test_a_list_of_links_that_was_cut_says_so(browser: Any, tester: str, document: Document, site: Site) -> None:
    services.add_crawl_point(document, {"url": site.url("/a/"), "root": site.url("/a/"), "depth": 1})
    assert "Links in scope, the first 50 of 60" in text_of(browser.post(tester, {"url": site.url("/a/")}))


# ---- many lines ----


def test_two_hundred_long_lines_are_answered_and_exported(browser: Any, tester: str, point: CrawlPoint) -> None:
    lines = "\n".join(f"{point.url}{number:03}{'x' * 100}" for number in range(201))
    shown = browser.post(tester, {"url": lines, "do": "test"})
    assert len(shown.context["answers"]) == 200
    assert "Only the first 200 lines were tested." in text_of(shown)
    sent = browser.post(f"{tester}export.csv", {"url": lines})
    assert len(b"".join(sent.streaming_content).decode().splitlines()) == 201


def test_many_lines_in_the_dialog_are_answered_by_its_entries_alone(
    browser: Any, new: str, tester: str, entries: dict[str, str]
) -> None:
    lines = "\n".join(f"https://example.gov/list/{number}" for number in range(201))
    shown = text_of(browser.post(new, entries | {"do": "fetch", "test": lines}))
    assert "Only the first 200 lines were tested." in shown
    assert "Nothing was fetched: Fetch it now takes one address." in shown
    assert "https://example.gov/list/0,https://example.gov/list/0,depends,," in shown
    assert f'href="{tester}' not in shown


# ---- from the answer to the repair ----


def test_the_folder_of_a_tested_address_can_become_the_root_string(
    browser: Any, tester: str, document: Document, point: CrawlPoint
) -> None:
    door = f"{reverse('crawl-point-edit', args=[document.pk, point.pk])}?root=https%3A%2F%2Fexample.gov%2F"
    assert f'<a class="btn s" href="{door}">' in text_of(browser.get(tester, {"url": "https://example.gov/a.html"}))
    assert 'value="https://example.gov/"' in text_of(browser.get(door))
    services.add_crawl_point(document, {"url": "https://example.gov/about/", "root": "https://example.gov/about/"})
    shown = text_of(browser.get(tester, {"url": "https://example.gov/a.html"}))
    assert shown.count("of the crawl point <span") == 2
