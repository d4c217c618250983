"""The page of one address, and the answer to Why?"""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from lxml import html

from crawler.models import LedgerEntry, Run
from crawler.screens.trace import compare

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


def text_of(answer: Any) -> str:
    return " ".join(html.fromstring(answer.content).xpath("//main")[0].text_content().split())


def entry(run: Run, ending: str) -> LedgerEntry:
    return LedgerEntry.objects.filter(excursion__run=run, url__endswith=ending).order_by("pk")[0]


def test_text_source_metas_and_links(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser = signed_in(editor)
    page = f"/crawls/{run.pk}/pages/{entry(run, 'measures/').pk}/"
    assert "Text of" in text_of(browser.get(page))
    source = browser.get(page + "?show=source").content.decode()
    assert "&lt;title&gt;Start &amp; more&lt;/title&gt;" in source and "<title>Start" not in source
    assert "A <b> person" in text_of(browser.get(page + "?show=metas"))
    out = text_of(browser.get(page + "?show=out"))
    assert "1–7 of 7 links" in out and "Failed" in out and "Skipped" in out
    assert "1–5 of 5 pages" in text_of(browser.get(page + "?show=in"))


def test_the_path_leads_from_the_crawl_point(signed_in: SignedIn, editor: Any, run: Run) -> None:
    text = text_of(signed_in(editor).get(f"/crawls/{run.pk}/pages/{entry(run, '/slow.html').pk}/"))
    site = "https://quality.example.gov/measures/"
    assert f"crawl point {site} → {site}1.html → here, depth 2" in text
    assert "Not crawled, because it took longer than allowed" in text


def test_a_circle_of_found_on_ends(signed_in: SignedIn, editor: Any, run: Run) -> None:
    one, two = entry(run, "/1.html"), entry(run, "/2.html")
    LedgerEntry.objects.filter(pk=one.pk).update(found_on=two.url_key)
    LedgerEntry.objects.filter(pk=two.pk).update(found_on=one.url_key)
    assert signed_in(editor).get(f"/crawls/{run.pk}/pages/{one.pk}/").status_code == 200


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        ("careers/", "Not crawled, because it does not begin with the root string"),
        ("print/7.html", "Not crawled, because it matches an exclude URL"),
        ("deep/er.html", "Not crawled, because it is deeper than the depth limit"),
        ("private/", "Not crawled, because it is forbidden by robots.txt"),
        ("missing.html", "Not crawled, because the site answered with a 4xx status (404)"),
        ("/old", "Redirected to https://quality.example.gov/measures/1.html"),
        ("measures/", "Crawled: stored as new or changed"),
    ],
)
def test_why(signed_in: SignedIn, editor: Any, run: Run, ending: str, sentence: str) -> None:
    answer = signed_in(editor).get(f"/crawls/{run.pk}/urls/?why=e{entry(run, ending).pk}")
    why = html.fromstring(answer.content).xpath("//tr[@id='why']")[0]
    assert sentence in " ".join(why.text_content().split())
    stops = why.xpath(".//li[@class='stop']")
    assert len(stops) == (1 if sentence.startswith("Not crawled") else 0)


def test_why_of_a_queued_address(signed_in: SignedIn, editor: Any, run: Run) -> None:
    waiting = run.excursions.order_by("pk").first().messages.first()
    text = text_of(signed_in(editor).get(f"/crawls/{run.pk}/urls/?outcome=queued&why=m{waiting.pk}"))
    assert "Not crawled yet: it waits in the queue" in text


def test_alike_addresses_are_counted_and_listed(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser = signed_in(editor)
    page = html.fromstring(browser.get(f"/crawls/{run.pk}/urls/?why=e{entry(run, 'report.pdf').pk}").content)
    (link,) = page.xpath("//tr[@id='why']//a[starts-with(normalize-space(.), 'Show the')]")
    listed = html.fromstring(browser.get(link.get("href")).content)
    assert link.text_content().strip() == "Show the 2" and len(listed.xpath("//tbody/tr[th]")) == 2


def test_a_dangerous_address_is_never_a_link(signed_in: SignedIn, editor: Any, run: Run) -> None:
    bad = entry(run, "careers/")
    LedgerEntry.objects.filter(pk=bad.pk).update(url="javascript:alert(1)", reason="scheme_not_allowed")
    for path in (f"/crawls/{run.pk}/pages/{bad.pk}/", f"/crawls/{run.pk}/urls/?why=e{bad.pk}"):
        page = html.fromstring(signed_in(editor).get(path).content)
        assert not page.xpath("//a[starts-with(@href, 'javascript')]")


def test_where_root_and_address_part() -> None:
    found = compare("https://quality.example.gov/m/", "https://cdn.example.net/")
    assert found is not None and (found.position, found.root_hit, found.address_hit) == (9, "q", "c")
    short = compare("https://a.org/measures/", "https://a.org/measures")
    assert short is not None and (short.root_hit, short.address_hit) == ("/", "")
    assert compare("https://a.org/", "https://a.org/x") is None
