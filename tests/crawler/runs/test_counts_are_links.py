"""Every number on a run page is a link, and the list behind it has exactly that many rows; the ledger balances."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from lxml import html

from clearinghouse.library.models import Document
from crawler.findings.diagnosis import diagnose_due
from crawler.models import LedgerEntry, Run
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


def doors(page: Any) -> list[tuple[str, int]]:
    """The links that are numbers, and the numbers."""
    found = []
    for link in page.xpath("//main//a[contains(concat(' ', @class, ' '), ' n ')]"):
        number = re.search(r"[\d,]+", link.text_content())
        assert number is not None
        found.append((link.get("href"), int(number.group().replace(",", ""))))
    return found


def open_door(browser: Client, here: str, href: str) -> Any:
    path = here.split("?")[0] + href if href.startswith("?") else href
    return html.fromstring(browser.get(path.split("#")[0]).content)


def rows_in(page: Any) -> int:
    """Rows of the last table of the page's list; the detail rows and "nothing found" do not count."""
    table = page.xpath("//main//table")[0]
    return len(table.xpath(".//tbody/tr[th]"))


TABS = ("", "findings/", "pages/", "urls/", "hosts/", "errors/", "changes/", "tree/", "log/", "settings/")


@pytest.fixture
def failed_run(document: Document, second_document: Document) -> Run:
    return make_run(document, second_document, state="failed", queued=0)


@pytest.fixture
def counted_run(document: Document, second_document: Document) -> Run:
    """Ended and looked through: its tabs read what was counted then."""
    make_run(document, state="finished", queued=0)
    run = make_run(document, second_document, state="finished_at_limit", queued=0)
    diagnose_due()
    return run


def all_doors(page: Any) -> list[tuple[str, int]]:
    """Numbers in the text, on chips and on tabs, with what they open."""
    found = doors(page)
    for link in page.xpath("//main//a[contains(@class, 'chip')][b] | //nav[contains(@class, 'tabs')]//a[span]"):
        number = link.xpath("b/text() | span/text()")[0]
        if number != "still looking":
            found.append((link.get("href"), int(number.replace(",", ""))))
    return found


@pytest.mark.parametrize("who", ["administrator", "editor"])
@pytest.mark.parametrize("which", ["run", "finished_run", "failed_run", "counted_run"])
def test_each_count_opens_as_many_rows(signed_in: SignedIn, request: Any, who: str, which: str) -> None:
    """Every door of every tab, and of the folders below."""
    run: Run = request.getfixturevalue(which)
    browser = signed_in(request.getfixturevalue(who))
    root = "https://quality.example.gov/"
    below = [f"tree/?open={root}", f"tree/?folder={root}", f"tree/?folder={root}measures/&open={root}measures/deep/"]
    opened: dict[str, int] = {}
    for tab in (*TABS, *below):
        here = f"/crawls/{run.pk}/{tab}"
        found = all_doors(html.fromstring(browser.get(here).content))
        assert len(found) > 3, tab
        for href, count in found:
            path = (here.split("?")[0] + href if href.startswith("?") else href).split("#")[0]
            if path not in opened:
                opened[path] = rows_behind(html.fromstring(browser.get(path).content), path)
            assert opened[path] == count, (here, href)


def rows_behind(page: Any, path: str) -> int:
    """What the list of a page counts: errors are shown in groups first, settings by crawl point."""
    if "/findings/" in path:
        return len(page.xpath("//ul[contains(@class, 'findings')]/li"))
    if path.endswith("/errors/"):
        return sum(int(cell.text_content()) for cell in page.xpath("//table[1]/tbody/tr/td[@data-th='Count']"))
    return rows_in(page)


def test_the_numbers_of_a_run_that_moves_are_doors_in_every_list(
    signed_in: SignedIn, administrator: Any, document: Document, run: Run
) -> None:
    """The list of all runs, the In Tray, and the block Running now of the document."""
    browser = signed_in(administrator)
    for here in ("/crawls/", "/", f"/documents/{document.pk}/crawl-points/"):
        found = [door for door in doors(html.fromstring(browser.get(here).content)) if f"/crawls/{run.pk}/" in door[0]]
        assert [href for href, _ in found if "outcome=redirected" in href and "outcome=queued" in href], here
        for href, count in found:
            assert rows_behind(open_door(browser, here, href), href) == count, (here, href)


def test_each_depth_opens_what_was_taken_from_the_queue_at_that_depth(
    signed_in: SignedIn, administrator: Any, run: Run
) -> None:
    browser = signed_in(administrator)
    here = f"/crawls/{run.pk}/"
    lines = html.fromstring(browser.get(here).content).xpath("//ul[@id='live-depths']/li")
    assert len(lines) == 3
    for line in lines:
        wanted = int(line.xpath("span[@class='num']")[0].text.split(" of ")[1])
        assert rows_in(open_door(browser, here, line.xpath("a")[0].get("href"))) == wanted


def test_what_a_stopped_run_left_stands_apart_and_is_among_what_was_taken(
    signed_in: SignedIn, administrator: Any, document: Document
) -> None:
    run = make_run(document, state="stopped", queued=0, left=3)
    browser = signed_in(administrator)
    here = f"/crawls/{run.pk}/"
    page = html.fromstring(browser.get(here).content)
    (line,) = page.xpath("//ul[@id='live-depths']/li[contains(., 'left')]")
    assert line.xpath("span[@class='num']")[0].text == "3 of 6, 3 left"
    assert rows_in(open_door(browser, here, line.xpath("a")[0].get("href"))) == 6
    (progress,) = page.xpath("//td//progress")
    assert int(progress.get("max")) - int(progress.get("value")) == 3 and "full" not in progress.get("class")
    key = page.xpath("//section[@aria-labelledby='dep-h']//ul[contains(@class, 'key')]")[0]
    assert [item.text_content() for item in key.xpath("li")] == ["done", "left"]


def test_each_chip_opens_as_many_rows(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    for tab in ("urls", "errors", "pages", "log"):
        here = f"/crawls/{run.pk}/{tab}/"
        for chip in html.fromstring(browser.get(here).content).xpath("//a[contains(@class, 'chip')]"):
            count = int(chip.xpath("b")[0].text)
            assert rows_in(open_door(browser, here, chip.get("href"))) == count, (tab, chip.text_content())


def test_chips_add_up_and_are_taken_back(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    page = html.fromstring(browser.get(f"/crawls/{run.pk}/urls/?reason=outside_root&reason=excluded").content)
    assert rows_in(page) == 6
    chosen = page.xpath("//a[contains(@class, 'chip')][@aria-current]")
    assert len(chosen) == 2
    assert "reason=outside_root" not in chosen[0].get("href") and "reason=excluded" in chosen[0].get("href")


def test_failures_are_chosen_by_what_the_site_answered(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    excursion = run.excursions.order_by("pk").first()
    for number, status in enumerate((403, 403, 410, 503)):
        code = f"http_{status // 100}xx"
        LedgerEntry.objects.create(
            excursion=excursion, doc_id=excursion.doc_id, url_key=number.to_bytes(32), url=f"https://a.gov/{number}",
            outcome="failed", reason=code, status=status, at=run.created_at,
        )  # fmt: skip
        for name, key in (("reason", code), ("status", str(status))):
            excursion.tallies[name][key] = excursion.tallies[name].get(key, 0) + 1
    excursion.found, excursion.failed = excursion.found + 4, excursion.failed + 4
    excursion.save(update_fields=["found", "failed", "tallies"])
    browser, here = signed_in(administrator), f"/crawls/{run.pk}/errors/?list=all"

    def chips(page: Any) -> dict[str, Any]:
        return {
            one.text_content().rsplit(" ", 1)[0].strip(): one for one in page.xpath("//a[contains(@class, 'chip')]")
        }

    found = chips(html.fromstring(browser.get(here).content))
    assert {"forbidden (403)", "gone (410)", "not found (404)", "site unavailable (503)", "timeout"} <= set(found)
    page = open_door(browser, here, found["forbidden (403)"].get("href"))
    assert rows_in(page) == 2 and page.text_content().count("forbidden (403)") == 3
    (why,) = {one.get("href") for one in page.xpath("(//tbody//a[starts-with(., 'Why?')])[1]")}
    told = open_door(browser, here, why).xpath("//tr[@id='why']")[0]
    assert "Ask the owner of the site to let the crawler in" in told.text_content()
    (alike,) = told.xpath(".//a[starts-with(normalize-space(.), 'Show the')]")
    assert alike.text_content().strip() == "Show the 2" and rows_in(open_door(browser, here, alike.get("href"))) == 2
    page = open_door(browser, here, chips(page)["timeout"].get("href"))
    timeouts = int(found["timeout"].xpath("b")[0].text)
    assert rows_in(page) == 2 + timeouts, "chips add up"
    page = open_door(browser, here, chips(page)["forbidden (403)"].get("href"))
    assert rows_in(page) == timeouts and not page.xpath("//input[@name='answered']")
    summary = html.fromstring(browser.get(f"/crawls/{run.pk}/").content)
    (forbidden,) = summary.xpath("//*[@id='why-http_4xx-403']")
    assert rows_in(open_door(browser, here, forbidden.get("href"))) == 2 == int(forbidden.text)


def test_the_ledger_balances_on_its_page(signed_in: SignedIn, editor: Any, run: Run) -> None:
    page = html.fromstring(signed_in(editor).get(f"/crawls/{run.pk}/urls/").content)
    numbers = [int(re.sub(r"\D", "", dd.text_content())) for dd in page.xpath("//dl[contains(@class,'sum')]//dd")]
    assert numbers[0] == sum(numbers[1:]) > 20


def test_a_list_longer_than_a_page_counts_all_rows(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    from tests.crawler.runs.rows import SITE

    excursion = run.excursions.order_by("pk").first()
    for number in range(120):
        LedgerEntry.objects.create(
            excursion=excursion, doc_id=excursion.doc_id, url_key=number.to_bytes(32), url=f"{SITE}/x/{number}",
            outcome="skipped", reason="outside_root", at=run.created_at,
        )  # fmt: skip
    excursion.found, excursion.skipped = excursion.found + 120, excursion.skipped + 120
    excursion.save(update_fields=["found", "skipped"])
    browser = signed_in(administrator)
    first = browser.get(f"/crawls/{run.pk}/urls/").content.decode()
    assert "1–50 of 154 addresses" in first
    last = html.fromstring(browser.get(f"/crawls/{run.pk}/urls/?page=4").content)
    assert rows_in(last) == 4
    assert "Queued" in last.xpath("//tbody")[0].text_content()


def test_text_and_depth_narrow_the_list(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    assert rows_in(html.fromstring(browser.get(f"/crawls/{run.pk}/urls/?q=CDN.example").content)) == 2
    assert rows_in(html.fromstring(browser.get(f"/crawls/{run.pk}/pages/?depth=0").content)) == 2
    assert "No address matches" in browser.get(f"/crawls/{run.pk}/urls/?q=nowhere").content.decode()
