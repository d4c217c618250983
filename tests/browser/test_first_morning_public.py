"""Somebody from the public: no account, only words to find; with JavaScript and without it."""

import re

import pytest
from playwright.sync_api import expect


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_the_public_searches_narrows_and_opens_a_copy(visit, busy_house, scripts):
    visitor = visit(scripts=scripts)
    page = visitor.page
    page.goto("/search/")
    if scripts:
        expect(page.get_by_label("Words to find")).to_be_focused()
    page.get_by_label("Words to find").fill('quality "hand hygiene"')
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_title(re.compile(r"^quality .* Search - Clearinghouse"))
    count = page.locator(".result-head").get_by_role("status")
    expect(count).to_contain_text(re.compile(r"\d+ pages? in \d\.\d\d s; index of "))
    whole = int(re.search(r"\d+", count.inner_text()).group())
    visitor.picture("search")

    facet = page.locator(".facet").filter(has_text="Project").get_by_role("link").first
    promised = int(facet.locator("b").inner_text())
    facet.click()
    expect(page.get_by_role("list", name="Filters in use")).to_be_visible()
    expect(count).to_contain_text(f"{promised} page")
    page.get_by_role("list", name="Filters in use").get_by_role("link").click()
    expect(count).to_contain_text(f"{whole} page")

    page.get_by_role("link", name="Record").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Cached copy").first.click()
    expect(page.locator("body")).to_contain_text("Copy stored on")
    visitor.picture("copy")
    page.get_by_role("link", name="Back to the results").click()
    expect(count).to_contain_text(f"{whole} page")

    page.goto("/search/?q=%22unclosed+AND+(")
    expect(page.get_by_label("Words to find")).to_have_value('"unclosed AND (')
    expect(page.get_by_role("heading", name="No page was found")).to_be_visible()
