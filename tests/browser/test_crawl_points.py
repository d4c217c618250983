"""The daily work at the crawl points: by keyboard alone, without JavaScript, with entries that are not saved yet."""

import re

from playwright.sync_api import Page, expect

from tests.browser.visitor import focused, tab_to

TITLE = "Try it here: tools for quality improvement"


def panel_of(visitor) -> Page:
    visitor.sign_in("developer")
    visitor.page.goto("/documents/")
    visitor.page.get_by_role("link", name=TITLE).click()
    visitor.page.get_by_role("link", name="Crawl points", exact=True).first.click()
    return visitor.page


def test_add_update_delete_and_undo_by_keyboard_alone(visit, open_house):
    page = panel_of(visit())
    site = open_house.site
    tab_to(page, "Add a crawl point", "link")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(focused(page)).to_have_attribute("name", "url")
    page.keyboard.press("Control+A")
    page.keyboard.type(f"{site}/tools/")
    page.keyboard.press("Tab")
    expect(dialog.get_by_label("Root string")).to_have_value(f"{site}/tools/")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Saved")
    expect(page.locator("table")).to_contain_text("/tools/")

    box = page.get_by_role("checkbox", name=f"Select {site}/tools/")
    expect(box).to_be_focused()
    page.keyboard.press("F2")
    expect(dialog).to_be_visible()
    tab_to(page, "Depth limit", "textbox")
    page.keyboard.press("Control+A")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Saved")
    expect(page.get_by_role("row").nth(1).locator("[data-th='Depth limit']")).to_have_text("1")

    expect(box).to_be_focused()
    page.keyboard.press("Delete")
    expect(page.locator("#status")).to_contain_text(f"Deleted crawl point {site}/tools/.")
    tab_to(page, "Undo", "button")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text(f"Restored crawl point {site}/tools/.")
    expect(page.get_by_role("row").nth(1).locator("[data-th='Depth limit']")).to_have_text("1")


def test_escape_closes_the_dialog_and_the_focus_returns(visit, open_house):
    page = panel_of(visit())
    door = page.get_by_role("link", name="Add a crawl point")
    door.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(door).to_be_focused()


def test_the_same_without_javascript(visit, open_house):
    page = panel_of(visit(scripts=False))
    site = open_house.site
    page.get_by_role("link", name="Add a crawl point").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Add crawl point")
    page.get_by_label("URL", exact=True).fill(f"{site}/tools/")
    page.get_by_label("Root string").fill(f"{site}/tools/")
    page.get_by_label("Address to test").fill(f"{site}/about.html")
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.locator("#answer")).to_contain_text("No, because it does not begin with the root string")
    page.get_by_role("button", name="Save crawl point").last.click()
    expect(page.locator("#status")).to_contain_text("Saved")
    page.get_by_role("checkbox", name=f"Select {site}/tools/").check()
    page.get_by_role("button", name="Update").click()
    page.get_by_label("Depth limit").fill("1")
    page.get_by_role("button", name="Save crawl point").last.click()
    expect(page.get_by_role("row").nth(1).locator("[data-th='Depth limit']")).to_have_text("1")
    page.get_by_role("checkbox", name=f"Select {site}/tools/").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#status")).to_contain_text(f"Deleted crawl point {site}/tools/.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#status")).to_contain_text(f"Restored crawl point {site}/tools/.")


def test_unsaved_entries_come_back_and_the_password_does_not(visit, open_house):
    page = panel_of(visit())
    page.get_by_role("link", name="Add a crawl point").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Depth limit").fill("7")
    dialog.get_by_label("Basic").check()
    dialog.get_by_label("Password", exact=True).fill("canary-7Q")
    page.keyboard.press("Escape")
    page.reload()
    page.get_by_role("link", name="Add a crawl point").click()
    expect(dialog.locator("[data-draft]")).to_contain_text(re.compile(r"Unsaved entries from \d\d:\d\d"))
    dialog.get_by_role("button", name="Restore").click()
    expect(dialog.get_by_label("Depth limit")).to_have_value("7")
    expect(dialog.get_by_label("Basic")).to_be_checked()
    expect(dialog.get_by_label("Password", exact=True)).to_have_value("")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Add a crawl point").click()
    dialog.get_by_role("button", name="Discard").click()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Add a crawl point").click()
    expect(dialog.locator("[data-draft]")).to_have_count(0)


def test_a_preview_is_followed_to_its_end(visit, open_house):
    visitor = visit()
    page = panel_of(visitor)
    page.get_by_role("link", name="Add a crawl point").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("URL", exact=True).fill(f"{open_house.site}/tools/")
    dialog.get_by_label("Root string").fill(f"{open_house.site}/tools/")
    dialog.get_by_label("Depth limit").fill("1")
    dialog.get_by_role("button", name="Preview these settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Preview")
    expect(page.locator("#preview")).to_contain_text("All pages these settings reach were looked at.", timeout=60_000)
    visitor.picture("preview")
    page.get_by_role("button", name="Keep these settings").click()
    expect(page.locator("#status")).to_contain_text("Saved")
    expect(page.get_by_role("row").nth(1).locator("[data-th='Depth limit']")).to_have_text("1")
