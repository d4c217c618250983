"""The first morning of a content developer: from the In Tray to a crawl point that does what she wants, and back."""

import re

from playwright.sync_api import Page, expect

from tests.browser.visitor import Visitor, focused

TITLE = "Try it here: tools for quality improvement"


def open_the_panel(page: Page) -> None:
    """In Tray, Documents, the document, Crawl points: as in the desktop program."""
    expect(page.get_by_role("heading", level=1)).to_have_text("In Tray")
    expect(page.get_by_text("Hello Dana")).to_be_visible()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Documents").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Documents")
    expect(page.get_by_role("link", name=re.compile(r"Assigned to me"))).to_have_attribute("aria-current", "page")
    page.get_by_role("button", name="Crawl points").click()
    expect(page.get_by_role("status").first).to_have_text("Choose a document first.")
    expect(focused(page)).to_have_attribute("type", "radio")
    page.get_by_role("radio", name=TITLE).check()
    page.get_by_role("button", name="Crawl points").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(TITLE)


def add_with_a_mistake_and_repair_it(visitor: Visitor, site: str) -> None:
    page = visitor.page
    page.get_by_role("link", name="Add a crawl point").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("URL", exact=True)).to_have_value(f"{site}/tools/")
    dialog.get_by_label("Root string").fill("https://www.example.gov/measures/")
    dialog.get_by_label("Depth limit").fill("many")
    with visitor.expecting(422):
        dialog.get_by_role("button", name="Save crawl point").last.click()
        problem = dialog.locator(".problem")
        expect(problem).to_be_focused()
    assert page.title().startswith("Error: Add crawl point")
    wrong_depth = "Depth limit must be a whole number, like 3"
    wrong_root = "The URL does not begin with this root string, so nothing would be crawled"
    expect(problem).to_contain_text("There is a problem")
    for sentence in (wrong_root, wrong_depth):
        expect(problem.get_by_role("link", name=sentence)).to_be_visible()
        expect(dialog.locator(".field.error .msg").filter(has_text=sentence)).to_be_visible()
    visitor.picture("dialog-with-a-problem")
    problem.get_by_role("link", name=wrong_depth).click()
    expect(dialog.get_by_label("Depth limit")).to_be_focused()
    expect(dialog.get_by_label("Depth limit")).to_have_value("many")
    dialog.get_by_label("Depth limit").fill("2")
    dialog.get_by_role("button", name=f"Use {site}/tools/").click()
    expect(dialog.get_by_label("Root string")).to_have_value(f"{site}/tools/")
    expect(dialog.locator("[data-draft]")).to_have_count(0)


def try_urls_before_saving(visitor: Visitor, site: str) -> None:
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_label("Address to test").fill(f"{site}/about.html")
    dialog.get_by_role("button", name="Test", exact=True).click()
    answer = dialog.locator("#answer")
    expect(answer).to_contain_text("No, because it does not begin with the root string")
    expect(answer.locator("li.stop")).to_have_count(1)
    visitor.picture("dialog-with-tester")
    dialog.get_by_label("Address to test").fill(f"{site}/tools/run-charts.html")
    dialog.get_by_role("button", name="Test", exact=True).click()
    expect(answer).to_contain_text(re.compile(r"^\s*Yes"))


def delete(page: Page, address: str) -> None:
    page.get_by_role("checkbox", name=f"Select {address}").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#status")).to_contain_text(f"Deleted crawl point {address}.")


def delete_and_undo(page: Page, address: str) -> None:
    box = page.get_by_role("checkbox", name=f"Select {address}")
    delete(page, address)
    expect(box).to_have_count(0)
    status = page.locator("#status")
    status.get_by_role("button", name="Undo").click()
    expect(status).to_contain_text(f"Restored crawl point {address}.")
    expect(box).to_be_visible()


def test_the_first_morning_of_a_content_developer(visit, busy_house):
    visitor, site = visit(), busy_house.site
    page, address = visitor.page, f"{busy_house.site}/tools/"
    visitor.sign_in("developer")
    open_the_panel(page)
    visitor.picture("panel-empty")
    add_with_a_mistake_and_repair_it(visitor, site)
    try_urls_before_saving(visitor, site)
    page.get_by_role("dialog").get_by_role("button", name="Save crawl point").last.click()
    expect(page.locator("#status")).to_contain_text("Saved")
    row = page.get_by_role("row").filter(has=page.get_by_role("checkbox", name=f"Select {address}"))
    expect(row.locator("[data-th='Depth limit']")).to_have_text("2")

    page.get_by_role("link", name="Test a URL").click()
    page.get_by_role("textbox", name="Address to test").fill(f"{site}/tools/run-charts.html\n{site}/about.html")
    page.get_by_role("button", name="Test", exact=True).click()
    answers = page.get_by_role("row").filter(has_text=re.compile("Yes|No"))
    expect(answers).to_have_count(2)
    page.go_back()
    page.go_back()

    page.get_by_role("checkbox", name=f"Select {address}").check()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Preview")
    expect(page.locator("#preview")).to_contain_text(
        "All pages that these settings reach were fetched.", timeout=60_000
    )
    visitor.picture("preview-of-saved-settings")
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(TITLE)

    delete_and_undo(page, address)
    visitor.picture("panel")
    delete(page, address)  # the house is as it was
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Documents")
    expect(page.get_by_role("radio", name=TITLE)).to_be_checked()
