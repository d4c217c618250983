"""As a new user would: from signing in to opening a search result. One browser, nothing but clicks and keys."""

import re

from playwright.sync_api import expect

TITLE = "Try it here: tools for quality improvement"
SECONDS = 1000


def test_a_newcomer_adds_a_crawl_point_crawls_propagates_and_finds_a_page(visit, open_house):
    developer = visit()
    developer.sign_in("developer")
    page = developer.page
    page.goto("/documents/")
    page.get_by_role("link", name=TITLE).click()
    page.get_by_role("link", name=re.compile("Crawl points")).first.click()
    page.get_by_role("link", name="Add a crawl point").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("URL", exact=True).fill(f"{open_house.site}/tools/")
    dialog.get_by_label("Depth limit").fill("2")
    dialog.get_by_role("button", name="Save crawl point").click()
    expect(page.get_by_role("status").first).to_contain_text("Saved")
    expect(page.locator("table")).to_contain_text("/tools/")
    developer.picture("panel")

    administrator = visit()
    administrator.sign_in("administrator")
    page = administrator.page
    page.goto("/crawls/launch/")
    page.get_by_label("Chosen documents").check()
    page.get_by_label(TITLE).check()
    page.get_by_label("Fast").check()
    page.get_by_role("button", name="Launch crawl of 1 document").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run 1")
    expect(page.locator("main")).to_contain_text("Finished", timeout=30 * SECONDS)
    administrator.picture("run")

    page.goto("/propagation/")
    page.get_by_role("link", name="New propagation").first.click()
    page.get_by_role("button", name="Propagate").click()
    expect(page.locator("main")).to_contain_text("Done", timeout=30 * SECONDS)
    administrator.picture("propagation")

    visitor = visit()
    page = visitor.page
    page.goto("/search/")
    page.get_by_label("Words to find").fill("median pencil")
    page.get_by_role("button", name="Search").click()
    result = page.get_by_role("link", name="Run charts")
    expect(result).to_be_visible()
    visitor.picture("search")
    result.click()
    expect(page).to_have_url(f"{open_house.site}/tools/run-charts.html")
    expect(page.get_by_role("heading", level=1)).to_have_text("Run charts")
