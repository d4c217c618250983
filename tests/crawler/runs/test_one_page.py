"""The page of one address, and the answer to Why?"""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from lxml import html

from clearinghouse.database.digests import digest_of
from crawler.ledger.explain import compare
from crawler.ledger.views.word_diff import difference
from crawler.models import LedgerEntry, PageBody, PageVersion, Run
from tests.proves import proves

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]
TEST, POINTS = "Test with the current settings", "Crawl points of the document"


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


def test_every_link_of_a_page_can_be_asked_about(signed_in: SignedIn, editor: Any, run: Run) -> None:
    """With the page it was found on, since the depth depends on it."""
    start = entry(run, "measures/")
    page, browser = f"/crawls/{run.pk}/pages/{start.pk}/", signed_in(editor)
    test = f"/documents/{start.excursion.doc_id}/crawl-points/test/?url="
    doors = html.fromstring(browser.get(page + "?show=out").content).xpath("//main//a[starts-with(., 'Why?')]/@href")
    assert len(doors) == 7 and all(door.startswith(test) for door in doors)
    assert all(door.endswith("&found_on=https%3A%2F%2Fquality.example.gov%2Fmeasures%2F") for door in doors)
    assert {browser.get(door).status_code for door in doors} == {200}
    assert browser.get(page + "?show=in").content.decode().count(">Why?<") == 5
    changes = browser.get(f"/crawls/{run.pk}/changes/?doc={start.excursion.doc_id}").content.decode()
    assert f'href="{test}' in changes


def test_a_root_string_is_compared_in_its_canonical_form() -> None:
    found = compare("HTTPS://Quality.Example.gov:443/measures/", "https://quality.example.gov/careers/")
    assert found is not None
    assert (found.position, found.root_hit, found.address_hit) == (29, "m", "c")


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
        ("missing.html", "Not crawled, because the site answered 404: there is no page at this address"),
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


def new_version(run: Run, text: str) -> LedgerEntry:
    """The start page with the text it had and the one it has now."""
    row = entry(run, "measures/")
    now = PageVersion.objects.get(pk=row.version_id)
    PageVersion.objects.filter(pk=now.pk).update(text="The risk adjusted 2023 rates of all hospitals")
    old_id = now.pk
    now.pk, now.text, now.digest = None, text, digest_of(text)
    now.save(force_insert=True)
    LedgerEntry.objects.filter(pk=row.pk).update(version_id=now.pk, previous_version_id=old_id)
    return row


def test_versions_are_compared_word_by_word(signed_in: SignedIn, editor: Any, run: Run) -> None:
    row = new_version(run, "The risk adjusted 2025 rates of all <b>hospitals</b>")
    answer = signed_in(editor).get(f"/crawls/{run.pk}/pages/{row.pk}/?show=versions")
    page = html.fromstring(answer.content)
    assert [part.text_content() for part in page.xpath("//ins")] == ["Added: 2025", "Added: <b>hospitals</b>"]
    assert [part.text_content() for part in page.xpath("//del")] == ["Removed: 2023", "Removed: hospitals"]
    assert len(page.xpath("//section[@aria-labelledby='part-h']//tbody/tr")) == 2


def test_long_texts_are_compared_in_a_moment_and_alike_stretches_left_out() -> None:
    words = [f"word{number}" for number in range(20_000)]
    found = difference(" ".join(words), " ".join([*words[:9_000], "new", *words[9_000:]]))
    assert (found.added, found.removed, found.complete) == (1, 0, True)
    assert [piece.kind for piece in found.pieces] == ["left_out", "same", "added", "same", "left_out"]
    assert not difference(" ".join(words), " ".join(words[::-1])).complete
    assert difference("the same", "the  same").pieces == []


@proves("J5")
def test_a_cached_copy_can_harm_nobody(signed_in: SignedIn, editor: Any, run: Run) -> None:
    row = entry(run, "measures/")
    version = PageVersion.objects.get(pk=row.version_id)
    bad = b"<html><head><meta http-equiv=refresh content='0;url=//evil'></head><body><script>alert(1)</script>Hi"
    PageBody.objects.filter(pk=version.digest).update(content=bad)
    browser, address = signed_in(editor), f"/crawls/{run.pk}/pages/{row.pk}/copy"
    answer = browser.get(address)
    policy = answer["Content-Security-Policy"]
    assert policy.startswith("sandbox;") and "allow-" not in policy and "default-src 'none'" in policy
    assert answer["Content-Type"] == "text/html; charset=utf-8" and answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "no-referrer" and b"Copy stored on" in answer.content
    assert f'href="http://testserver/crawls/{run.pk}/pages/{row.pk}/"' in answer.content.decode(), "the way back"
    PageVersion.objects.filter(pk=version.pk).update(type_id=7, content_type="text/html")
    answer = browser.get(address)
    assert answer["Content-Type"] == "application/octet-stream" and "attachment" in answer["Content-Disposition"]
    assert browser.get(f"/crawls/{run.pk}/pages/{entry(run, 'careers/').pk}/copy").status_code == 404


@pytest.mark.parametrize(
    ("who", "ending", "offered"),
    [
        ("editor", "careers/", [TEST, "Add as crawl point", POINTS]),
        ("editor", "1.html", [TEST, "Exclude", POINTS]),
        ("reader", "careers/", [TEST, POINTS]),
    ],
)  # fmt: skip
def test_what_can_be_done_about_an_address(
    signed_in: SignedIn, request: Any, run: Run, who: str, ending: str, offered: list[str]
) -> None:
    browser = signed_in(request.getfixturevalue(who))
    answer = browser.get(f"/crawls/{run.pk}/urls/?why=e{entry(run, ending).pk}")
    links = html.fromstring(answer.content).xpath("//tr[@id='why']//a[contains(@class,'btn')]")
    named = [link for link in links if link.text.strip() in offered]
    assert [link.text.strip() for link in named] == offered
    assert all(browser.get(link.get("href")).status_code == 200 for link in named)
