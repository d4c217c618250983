"""Hosts, errors in groups, changes, the tree, settings compared: what each tab says."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from lxml import html

from clearinghouse import __version__
from clearinghouse.library.models import Document
from crawler.findings.diagnosis import diagnose_due
from crawler.launching import control
from crawler.launching.launch import LaunchRequest, launch
from crawler.launching.launch_subset import SubsetChoice, addresses_again
from crawler.ledger.error_groups import pattern_of
from crawler.ledger.page_tree import Node, first_links
from crawler.ledger.site_folders import by_folder, by_site, median_of
from crawler.models import ErrorGroup, Excursion, LedgerEntry, PageVersion, Run
from crawler.runs.tabs import address_lists
from crawler.runs.tabs.tab_settings import differing
from crawler.runs.tabs.tree_picture import picture_of
from crawler.upkeep.pruning import erase
from crawlpoints import services
from tests.crawler.runs.rows import SITE, make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


def text_of(answer: Any) -> str:
    return " ".join(html.fromstring(answer.content).xpath("//main")[0].text_content().split())


def test_the_sites_of_an_ended_run_are_kept_until_a_document_of_it_is_pruned(finished_run: Run) -> None:
    before = sum(group.found for group in by_site(finished_run, None))
    assert by_site(finished_run, None) is by_site(finished_run, None)
    gone = finished_run.excursions.order_by("pk").first()
    assert gone is not None
    list(erase.excursion(gone.pk))
    assert 0 < sum(group.found for group in by_site(finished_run, None)) < before


def test_sites_and_folders_balance_with_the_ledger(run: Run) -> None:
    groups = by_site(run, None)
    assert [group.start for group in groups] == [f"{SITE}/", "https://cdn.example.net/"]
    found = LedgerEntry.objects.filter(excursion__run=run).count() + 5  # and what waits
    assert sum(group.found for group in groups) == found
    assert all(
        group.found == group.pages + group.redirected + group.skipped + group.errors + group.queued for group in groups
    )
    assert groups[0].median == 120 and (groups[0].pages, groups[0].robots, groups[0].excluded) == (13, 2, 2)
    folders = by_folder(run, None, f"{SITE}/")
    assert [folder.start for folder in folders] == [
        f"{SITE}/{name}/" for name in ("archive", "careers", "indicators", "measures")
    ]
    assert sum(folder.found for folder in folders) == groups[0].found
    here = next(one for one in by_folder(run, None, f"{SITE}/measures/") if one.start == f"{SITE}/measures/")
    assert here.pages == 6


def test_folders_are_told_apart_by_upper_and_lower_case(run: Run) -> None:
    row = LedgerEntry.objects.filter(excursion__run=run, url__endswith="measures/1.html").get()
    LedgerEntry.objects.filter(pk=row.pk).update(url=f"{SITE}/Measures/1.html")
    assert sum(group.pages for group in by_folder(run, None, f"{SITE}/measures/")) == 5


def test_the_middle_of_counted_values() -> None:
    assert median_of([(10, 1), (20, 5), (900, 2)]) == 20 and median_of([(7, 1)]) == 7 and median_of([]) == 0


@pytest.mark.parametrize(
    ("url", "shape"),
    [
        ("https://a.gov/cal/2026/11.html", "/cal/N/N.html"),
        ("https://a.gov/x?page=3&id=9", "/x?id&page"),
        ("https://a.gov/f/0f8fad5b-d9cb-469f-a165-70867728950e/", "/f/N/"),
        ("https://a.gov/", "/"),
    ],
)
def test_addresses_of_one_trouble_have_one_shape(url: str, shape: str) -> None:
    assert pattern_of(url) == ("https://a.gov/", shape)


def told(browser: Client, run: Run) -> list[str]:
    page = html.fromstring(browser.get(f"/crawls/{run.pk}/errors/").content)
    return [" ".join(row.text_content().split()) for row in page.xpath("//tbody/tr")]


@pytest.mark.parametrize("looked_through", [False, True])
def test_errors_come_in_groups_that_open(
    signed_in: SignedIn, editor: Any, document: Document, looked_through: bool
) -> None:
    first = make_run(document, state="finished", queued=0)
    row = LedgerEntry.objects.filter(excursion__run=first, reason="timeout").get()
    LedgerEntry.objects.filter(pk=row.pk).update(url=f"{SITE}/measures/gone-since.html")
    diagnose_due()
    second = make_run(document, state="finished", queued=0)
    if looked_through:
        diagnose_due()
    browser = signed_in(editor)
    rows = told(browser, second)
    assert len(rows) == 2
    assert "missing.html not found (404) Enter its new address in the crawl point, or correct the link" in rows[0]
    assert " 1 New" in rows[0] and "slow.html timeout Crawl it again later." in rows[1] and " 1 New" in rows[1]
    assert "gone-since.html timeout, 1 address" in text_of(browser.get(f"/crawls/{second.pk}/errors/"))
    page = html.fromstring(browser.get(f"/crawls/{second.pk}/errors/").content)
    (opened,) = page.xpath("//tbody/tr[1]/th/a/@href")
    listed = html.fromstring(browser.get(f"/crawls/{second.pk}/errors/{opened}").content)
    assert len(listed.xpath("//tbody/tr[th]")) == 1


def test_an_error_is_known_or_solved_as_people_say_and_opens_again_by_itself(
    signed_in: SignedIn, editor: Any, document: Document
) -> None:
    run = make_run(document, state="finished", queued=0)
    diagnose_due()
    browser, here = signed_in(editor), f"/crawls/{run.pk}/errors/"
    form = html.fromstring(browser.get(here).content).xpath("//form[contains(@action, '/mark/')]")[0]
    answer = browser.post(form.get("action"), {"state": "solved", "next": here})
    assert answer["Location"] == here and "found. 1 Solved" in told(browser, run)[0]
    browser.post(form.get("action"), {"state": "known", "next": here})
    assert "found. 1 Known" in told(browser, run)[0]
    browser.post(form.get("action"), {"state": "solved", "next": here})
    again = make_run(document, state="finished", queued=0)
    diagnose_due()
    assert "found. 1 New" in told(browser, again)[0]
    assert "Errors in the last 2 runs" in told(browser, again)[0]


def test_retry_fetches_the_errors_of_the_group_only(
    signed_in: SignedIn, administrator: Any, document: Document
) -> None:
    services.add_crawl_point(document, {"url": f"{SITE}/measures/", "root": f"{SITE}/measures/"})
    run = make_run(document, state="finished", queued=0)
    browser = signed_in(administrator)
    page = html.fromstring(browser.get(f"/crawls/{run.pk}/errors/").content)
    (door,) = page.xpath("//tbody/tr[1]//a[starts-with(normalize-space(), 'Retry this one')]/@href")
    asked = html.fromstring(browser.get(door).content)
    assert "1 page that failed last time" in asked.xpath("//*[@id='scope']")[0].text_content()
    values = {field.get("name"): field.get("value") for field in asked.xpath("//main//input[@type='hidden']")}
    values |= {"what": "chosen", "doc": [document.pk], "only": "failed", "speed": "polite"}
    assert browser.post("/crawls/launch/", values).status_code == 302
    excursion = Excursion.objects.order_by("-pk")[0]
    assert addresses_again(excursion) == [f"{SITE}/measures/missing.html"]


def same_versions(first: Run, second: Run) -> None:
    """The crawler writes no version for an unchanged page: the rows of the second run name those of the first."""
    before = dict(LedgerEntry.objects.filter(excursion__run=first).values_list("url", "version_id"))
    for row in LedgerEntry.objects.filter(excursion__run=second, version_id__isnull=False):
        changed = row.url.endswith("measures/")
        old = before[row.url]
        row.version_id, row.previous_version_id = (row.version_id if changed else old), old
        row.outcome = "crawled" if changed else "unchanged"
        row.save()
        if changed:
            PageVersion.objects.filter(pk=row.version_id).update(digest=b"x" * 32)


def test_changes_say_why_pages_are_gone(signed_in: SignedIn, editor: Any, document: Document) -> None:
    first, second = (make_run(document, state="finished", queued=0) for _ in range(2))
    same_versions(first, second)
    now = LedgerEntry.objects.filter(excursion__run=second, url__endswith="/2.html")
    now.update(outcome="failed", reason="http_4xx", status=404, version_id=None, previous_version_id=None)
    LedgerEntry.objects.filter(excursion__run=second, url__endswith="/3.html").delete()
    PageVersion.objects.update(links=b"")
    browser = signed_in(editor)
    page = browser.get(f"/crawls/{second.pk}/changes/")
    counts = [int(one.text) for one in html.fromstring(page.content).xpath("//a[contains(@class,'chip')]/b")]
    assert counts == [0, 1, 2, 0, 3] and f"Compared with run {first.pk}" in text_of(page)
    gone = text_of(browser.get(f"/crawls/{second.pk}/changes/?kind=gone"))
    assert "2.html now not found (404)" in gone and "3.html no longer linked" in gone


def test_a_first_crawl_is_all_new(signed_in: SignedIn, editor: Any, document: Document) -> None:
    run = make_run(document, state="finished", queued=0)
    told = text_of(signed_in(editor).get(f"/crawls/{run.pk}/changes/"))
    assert "No crawl of this document finished before" in told


@pytest.mark.parametrize("tab", ["pages/?sort=url", "urls/?sort=url", "errors/?list=all&sort=url"])
def test_lists_of_several_documents_name_the_document_of_each_row(
    signed_in: SignedIn, administrator: Any, finished_run: Run, monkeypatch: pytest.MonkeyPatch, tab: str
) -> None:
    browser, address = signed_in(administrator), f"/crawls/{finished_run.pk}/{tab}"

    def documents(query: str) -> tuple[set[str], list[str], list[str]]:
        page = html.fromstring(browser.get(address + query).content)
        cells = page.xpath("//td[@data-th='Document']")
        links = [link for cell in cells for link in cell.xpath("a/@href")]
        return {cell.text_content() for cell in cells}, links, page.xpath("//select[@name='doc']/option/text()")

    names, links, choices = documents("")
    assert names == {"Measures of hospital quality", "Patient safety indicators"}
    assert choices == ["All 2 documents", *sorted(names)]
    second = finished_run.excursions.get(title="Patient safety indicators")
    assert any(f"doc={second.doc_id}" in link for link in links)
    monkeypatch.setattr(address_lists, "COUNTED_DOCUMENTS", 1)
    assert documents("")[2] == [], "very many are not listed"
    assert documents(f"&doc={second.doc_id}")[::2] == ({second.title}, ["All 2 documents", second.title])
    Excursion.objects.exclude(pk=second.pk).delete()
    assert documents("")[0] == set(), "of one document only, nothing is said of it in each row"


def test_figures_and_chips_are_those_of_the_document_that_is_chosen(
    signed_in: SignedIn, editor: Any, finished_run: Run
) -> None:
    second = finished_run.excursions.get(title="Patient safety indicators")
    browser, address = signed_in(editor), f"/crawls/{finished_run.pk}/"
    page = html.fromstring(browser.get(f"{address}pages/?doc={second.doc_id}").content)
    chips = {link.text_content().split()[0]: link for link in page.xpath("//a[@class='chip']")}
    assert chips["All"].xpath("b/text()") == [str(second.crawled + second.unchanged)]
    assert all(f"doc={second.doc_id}" in chip.get("href") for chip in chips.values())
    page = html.fromstring(browser.get(f"{address}urls/?doc={second.doc_id}").content)
    (found, *others) = page.xpath("//dl//a")
    assert found.text_content() == str(second.found)
    assert all(f"doc={second.doc_id}" in link.get("href") for link in (found, *others))


def test_the_crawl_point_that_is_asked_for_is_called_by_its_address(
    signed_in: SignedIn, editor: Any, run: Run, document: Document
) -> None:
    point, _ = services.add_crawl_point(document, {"url": f"{SITE}/measures/", "root": f"{SITE}/measures/"})
    for tab in ("urls", "pages"):
        told = text_of(signed_in(editor).get(f"/crawls/{run.pk}/{tab}/?point={point.pk}"))
        assert f"found first from the crawl point {point.url}." in told


def names_in(page: Any) -> list[str]:
    return [row.text_content().strip() for row in page.xpath("//table/tbody/tr/th")]


def test_what_is_outside_is_one_line_without_commands(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser, path = signed_in(editor), f"/crawls/{run.pk}/tree/"
    page = html.fromstring(browser.get(path).content)
    rows = page.xpath("//table/tbody/tr")
    assert ["Exclude this folder" in row.text_content() for row in rows] == [True, True, True, False, False]
    assert rows[3].xpath("td[@data-th='Found']")[0].text_content() == "2", "careers/, of both documents"
    page = html.fromstring(browser.get(path + rows[4].xpath("th/a/@href")[0]).content)
    assert names_in(page)[-2:] == ["Outside the root string: 1 site", "https://cdn.example.net/"]
    outside = page.xpath("//table/tbody/tr")[-1]
    assert "Exclude" not in outside.text_content()


def test_folders_open_in_place_and_alone(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser, path = signed_in(editor), f"/crawls/{run.pk}/tree/"
    opened = html.fromstring(browser.get(path).content)
    names = ["indicators/", "measures/", "Outside the root string: 1 folder"]
    assert names_in(opened) == [f"{SITE}/", *names, "Outside the root string: 1 site"], "the only site is open"
    closed = html.fromstring(browser.get(path + opened.xpath("(//tbody/tr)[1]/th/a/@href")[0]).content)
    assert names_in(closed) == [f"{SITE}/", "Outside the root string: 1 site"]
    again = html.fromstring(browser.get(path + closed.xpath("(//tbody/tr)[1]/th/a/@href")[0]).content)
    assert names_in(again) == names_in(opened)
    alone = text_of(browser.get(f"{path}?folder={SITE}/measures/"))
    assert "right here" in alone and "One folder up" in alone


def test_the_picture_names_each_page_under_the_page_it_was_found_on(signed_in: SignedIn, editor: Any, run: Run) -> None:
    path = f"/crawls/{run.pk}/tree/"
    page = html.fromstring(signed_in(editor).get(path).content)
    (start, other) = page.xpath("//section[@aria-labelledby='pic-h']/ul/li")
    assert start.xpath("a/text()") == ["Title of start"]
    assert (
        "/measures/" in start.text_content() and "crawl point of Measures of hospital quality" in start.text_content()
    )
    assert "crawl point of Patient safety indicators" in other.text_content()
    assert start.xpath("details[@open]/summary/text()") == ["5 pages found on it"]
    found = start.xpath("details/ul/li")
    assert [one.xpath("string(a)") for one in found] == [f"Title of {n}.html" for n in (1, 3, 5, 2, 4)]
    assert [one.xpath("string(span[2])") for one in found] == ["", "", "", ", depth 2", ", depth 2"]
    entry = LedgerEntry.objects.get(excursion__run=run, url__endswith="measures/1.html")
    assert found[0].xpath("a/@href") == [f"/crawls/{run.pk}/pages/{entry.pk}/"]
    page = html.fromstring(signed_in(editor).get(f"{path}?folder={SITE}/measures/deep/").content)
    assert not page.xpath("//section[@aria-labelledby='pic-h']"), "nothing is stored there"


def test_a_folder_alone_shows_the_pages_elsewhere_that_led_to_it(run: Run) -> None:
    excursion = run.excursions.order_by("pk")[0]
    deep = LedgerEntry.objects.get(excursion=excursion, url__endswith="measures/1.html")
    LedgerEntry.objects.filter(pk=deep.pk).update(url=f"{SITE}/measures/deep/1.html")
    (above, found), count = first_links(run, None, f"{SITE}/measures/deep/", None)
    assert count == 1 and above.elsewhere and above.url == f"{SITE}/measures/" and found.parent == above.key


def test_a_picture_of_odd_trees_ends() -> None:
    key = [(1, bytes([number])) for number in range(4)]
    circle = [Node(n, "http://a/", n % 2, key[n], key[(n + 1) % 4]) for n in range(4)]
    assert [branch.level for branch in picture_of(circle)] == [0, 1, 2, 3]
    chain = [
        Node(n, f"http://a/{n}", n, (1, n.to_bytes(2)), (1, (n - 1).to_bytes(2)) if n else None) for n in range(500)
    ]
    branches = picture_of(chain)
    assert [branch.level for branch in branches] == [*range(8), *[8] * 492]
    assert sum(branch.begins for branch in branches) == sum(len(branch.ends) for branch in branches) == 8
    assert (branches[0].below, branches[8].remark, branches[9].remark) == (499, "depth 8", "depth 9")
    assert picture_of([]) == picture_of(circle[:1]) == []


def test_settings_are_compared_with_the_current_ones(signed_in: SignedIn, editor: Any, document: Document) -> None:
    point, _ = services.add_crawl_point(document, {"url": f"{SITE}/measures/", "root": f"{SITE}/measures/"})
    run = make_run(document, state="finished", queued=0)
    excursion = Excursion.objects.get(run=run)
    excursion.snapshot["points"][0] |= {"id": point.pk, "depth": 7, "login": "the-account"}
    excursion.save()
    told = text_of(signed_in(editor).get(f"/crawls/{run.pk}/settings/?compare=1"))
    page = html.fromstring(signed_in(editor).get(f"/crawls/{run.pk}/settings/?compare=1").content)
    rows = [
        [cell.text_content() for cell in row] for row in page.xpath("//section[@aria-labelledby='diff-h']//tbody/tr")
    ]
    assert [f"Depth limit of {SITE}/measures/", "Measures of hospital quality", "7", str(point.depth)] in rows
    assert "Exclude URL" in told and "the-account" not in told
    assert differing(excursion.snapshot, excursion.snapshot) == []


def compared(browser: Client, run: Run) -> tuple[list[str], str]:
    """What is listed as changed, and all that is said."""
    answer = browser.get(f"/crawls/{run.pk}/settings/?compare=1")
    rows = html.fromstring(answer.content).xpath("//section[@aria-labelledby='diff-h']//tbody/tr/th")
    return [row.text_content() for row in rows], text_of(answer)


def test_errors_that_are_in_no_group_are_admitted(signed_in: SignedIn, editor: Any, finished_run: Run) -> None:
    browser = signed_in(editor)
    diagnose_due()
    assert "are grouped here" not in text_of(browser.get(f"/crawls/{finished_run.pk}/errors/"))
    ErrorGroup.objects.filter(reason="timeout").first().delete()
    told = text_of(browser.get(f"/crawls/{finished_run.pk}/errors/"))
    assert "3 of 4 errors are grouped here" in told and "All errors one by one" in told


def test_what_a_launch_narrowed_itself_is_no_change_of_the_settings(
    signed_in: SignedIn, administrator: Any, document: Document
) -> None:
    browser = signed_in(administrator)
    points = [
        services.add_crawl_point(document, {"url": url, "root": url, "max_pages": most, "depth": 3})[0]
        for url, most in ((f"{SITE}/a/", 500), (f"{SITE}/b/", 0))
    ]
    limited = launch(LaunchRequest([document.pk], by="administrator", max_pages=50))
    changes, told = compared(browser, limited)
    assert changes == [] and "The maximum of 50 pages was of this run only." in told
    assert "50of this run; 500 of its own" in told and "50of this run; no limit of its own" in told
    Run.objects.filter(pk=limited.pk).update(state="cancelled")
    Excursion.objects.update(unfinished=False, state="cancelled")
    one = launch(LaunchRequest([document.pk], by="administrator", choice=SubsetChoice(point_id=points[0].pk)))
    changes, told = compared(browser, one)
    assert changes == [] and "the others are not compared" in told
    points[0].depth = 2
    points[0].save()
    assert compared(browser, one)[0] == [f"Depth limit of {SITE}/a/"]
    again = (then := one.excursions.get().snapshot) | {"points": [then["points"][0] | {"depth": 0}]}
    assert differing(again, then, "failed") == [] and differing(again, then) != []


def test_the_settings_of_a_run_name_its_version_its_pace_and_its_limits(
    signed_in: SignedIn, administrator: Any, document: Document
) -> None:
    services.add_crawl_point(document, {"url": f"{SITE}/a/", "root": f"{SITE}/a/"})
    run = launch(LaunchRequest([document.pk], by="administrator", max_pages=50, speed="medium"))
    control.set_speed(run, "fast", "administrator")
    told = text_of(signed_in(administrator).get(f"/crawls/{run.pk}/settings/"))
    assert f"Clearinghouse Web Crawl {__version__}" in told and "at most 50 pages for each crawl point" in told
    assert "Medium: 0.2 s between two requests to a site, 2 connections to it; changed to Fast since" in told


def test_chips_of_pages_and_pressing_why(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser = signed_in(editor)
    row = LedgerEntry.objects.filter(excursion__run=run, url__endswith="measures/2.html").get()
    failed = LedgerEntry.objects.filter(excursion__run=run, reason="timeout").order_by("pk")[0]
    opened = html.fromstring(browser.get(f"/crawls/{run.pk}/errors/?list=all&why=e{failed.pk}").content)
    assert "Not crawled, because it took longer than allowed" in opened.xpath("//tr[@id='why']")[0].text_content()
    page = html.fromstring(browser.get(f"/crawls/{run.pk}/pages/?why=e{row.pk}").content)
    assert "Crawled: the same as last time" in page.xpath("//tr[@id='why']")[0].text_content()


def test_a_host_can_be_added_or_excluded_where_one_document_is_meant(
    signed_in: SignedIn, editor: Any, reader: Any, run: Run, document: Document
) -> None:
    here = f"/crawls/{run.pk}/hosts/?doc={document.pk}"
    page = html.fromstring(signed_in(editor).get(here).content)
    inside, outside = (row.xpath(".//td[@class='acts']/a/@href") for row in page.xpath("//tbody/tr"))
    assert outside[0] == f"/documents/{document.pk}/crawl-points/new/?url=https%3A%2F%2Fcdn.example.net%2F"
    assert inside[1].endswith("?pattern=https%3A%2F%2Fquality.example.gov%2F*")
    assert len(inside) == len(outside) + 1 == 3, "what is outside needs no exclude URL"
    assert len(html.fromstring(signed_in(reader).get(here).content).xpath("//tbody/tr[2]//td[@class='acts']/a")) == 1
    of_several = html.fromstring(signed_in(editor).get(f"/crawls/{run.pk}/hosts/").content)
    doors = of_several.xpath("//tbody/tr[1]//td[@class='acts']/a[contains(., 'Add') or contains(., 'Exclude')]/@href")
    assert doors == ["?choose=1"] * 2, "first a document is chosen"


def test_every_tab_of_a_run_that_goes_on_has_its_percent_in_the_title(
    signed_in: SignedIn, administrator: Any, run: Run
) -> None:
    browser = signed_in(administrator)
    for tab in ("", "urls/", "errors/", "log/", "settings/"):
        title = browser.get(f"/crawls/{run.pk}/{tab}").content.decode().partition("<title>")[2].partition("<")[0]
        assert re.match(r"\(\d+%\) ", title) and f"Run {run.pk}" in title, tab
