"""The first morning of a project manager: reports, a run with its findings, a decision, a request for a crawl."""

import re

from playwright.sync_api import Page, expect

from tests.flow.house import until

DOCUMENT = "Measures of hospital quality"


def number_in(text: str) -> int:
    return int(re.search(r"[\d,]+", text).group().replace(",", ""))


def look_at_reports(page: Page) -> None:
    menu = page.get_by_role("navigation", name="Main")
    menu.get_by_role("link", name="Reports").click()
    page.get_by_role("link", name="Coverage", exact=True).click()
    expect(page.locator("main")).to_contain_text(re.compile(r"Of \d+ documents, \d+ (?:was|were) never crawled"))
    page.get_by_label("Last crawl", exact=True).select_option(label="Never crawled")
    page.get_by_role("button", name="Apply").click()
    never = page.get_by_role("row").filter(has_text="Never crawled")
    expect(never.first).to_be_visible()
    assert never.count() == page.locator("main table").last.locator("tbody tr").count()
    page.get_by_role("link", name="Clear all").click()
    page.get_by_role("navigation", name="Reports").get_by_role("link", name="Broken links").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Broken links")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    assert download.value.suggested_filename.endswith(".csv")


def read_a_run(page: Page) -> None:
    page.goto("/crawls/1/")
    expect(page.locator("main")).to_contain_text(re.compile(r"\d+ pages stored from \d+ documents"))
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    tab = page.get_by_role("link", name=re.compile(r"^URLs"))
    promised = number_in(tab.locator(".count").inner_text())
    tab.click()
    expect(page.locator(".card-foot").filter(has_text="addresses").first).to_contain_text(f"of {promised:,} addresses")
    page.get_by_role("link", name="Why?").first.click()
    expect(page.locator("#why")).to_contain_text(re.compile("Not crawled, because|Crawled|Yes|No"))
    page.get_by_role("link", name=re.compile(r"^too deep")).click()
    expect(page.locator("tbody tr").first).to_contain_text("too deep")


def decide_about_a_finding(page: Page) -> None:
    page.goto("/crawls/1/findings/")
    look = page.get_by_role("button", name="Check now")
    if look.is_visible():  # the tick has not come by since the crawl ended
        look.click()
    finding = page.locator(".findings > li").filter(has_text="Page limit reached").first
    finding.locator("summary").click()
    finding.get_by_label("Note").fill("Three pages are enough here")
    finding.get_by_role("button", name="Accept").click()
    expect(finding).to_contain_text("Accepted by manager")
    expect(finding).to_contain_text("Three pages are enough here")
    finding.get_by_role("button", name="Open again").click()
    expect(finding.locator("summary")).to_be_visible()


def request_a_crawl(page: Page) -> None:
    page.goto("/documents/")
    page.get_by_role("radio", name=DOCUMENT).check()
    page.get_by_role("button", name="Request crawl").click()
    page.get_by_role("textbox").last.fill("The rates of 2026 are out")
    page.get_by_role("button", name="Request crawl").click()
    expect(page.get_by_role("status").first).to_contain_text("request", ignore_case=True)


def test_the_first_morning_of_a_project_manager(visit, busy_house):
    visitor = visit()
    visitor.sign_in("manager")
    page = visitor.page
    expect(page.get_by_role("heading", level=1)).to_have_text("In Tray")
    visitor.picture("in-tray")
    look_at_reports(page)
    read_a_run(page)
    decide_about_a_finding(page)
    request_a_crawl(page)

    administrator = visit()
    administrator.sign_in("administrator")
    asked = administrator.page.get_by_role("row").filter(has_text="The rates of 2026 are out")
    expect(asked).to_contain_text(DOCUMENT)
    asked.locator("summary").filter(has_text="Decline").click()
    asked.get_by_label("Reason").fill("It is crawled tonight")
    asked.get_by_role("button", name="Decline the request").click()
    expect(administrator.page.get_by_role("status").first).to_contain_text("Declined", ignore_case=True)
    until(lambda: page.goto("/") and "It is crawled tonight" in page.locator("main").inner_text(), "she is told")
    visitor.picture("in-tray-with-an-answer")
