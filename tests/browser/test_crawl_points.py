"""The daily work at the crawl points: by keyboard alone, without JavaScript, with entries that are not saved yet."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visitor import focused, tab_to
from tests.flow.house import House
from tests.proves import proves

TITLE = "Try it here: tools for quality improvement"
EMPTY = f"""
from crawlpoints.models import CrawlPoint, CrawlPointLink
links = CrawlPointLink._base_manager.filter(document__sheet__title={TITLE!r})
numbers = list(links.values_list("pk", "crawl_point"))
for model, found in ((CrawlPointLink, 0), (CrawlPoint, 1)):
    rows = model._base_manager.filter(pk__in=[row[found] for row in numbers])
    rows._raw_delete(rows.db)  # delete() would keep them, as the product does
"""


@pytest.fixture
def empty_panel(module_house: House) -> Iterator[House]:
    """The document has no crawl point, as in the demo: what the test before left is gone."""
    yield module_house
    done = module_house.run("shell", "-v", "0", "-c", EMPTY)
    assert done.returncode == 0, done.stderr


def panel_of(visitor) -> Page:
    visitor.sign_in("developer")
    visitor.page.goto("/documents/")
    visitor.page.get_by_role("link", name=TITLE).click()
    visitor.page.get_by_role("link", name="Crawl points", exact=True).first.click()
    return visitor.page


def test_add_update_delete_and_undo_by_keyboard_alone(visit, empty_panel):
    page = panel_of(visit())
    site = empty_panel.site
    tab_to(page, "Add a crawl point", "link")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(focused(page)).to_have_attribute("name", "url")
    page.keyboard.press("Control+A")
    page.keyboard.type(f"{site}/tools/")
    page.keyboard.press("Tab")
    expect(dialog.get_by_label("Root string")).to_have_value(f"{site}/tools/")
    tab_to(page, "Root string", "textbox")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.press("Tab")
    expect(dialog.get_by_label("Root string")).to_have_value(f"{site}/tools/")  # an empty one is filled in again
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Saved")
    expect(page.locator("table")).to_contain_text("/tools/")

    box = page.get_by_role("checkbox", name=f"Select {site}/tools/")
    expect(box).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(box).to_have_css("box-shadow", re.compile("inset"))  # still a box
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


def test_escape_closes_the_dialog_and_the_focus_returns(visit, empty_panel):
    page = panel_of(visit())
    door = page.get_by_role("link", name="Add a crawl point")
    door.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(door).to_be_focused()


def test_the_same_without_javascript(visit, empty_panel):
    page = panel_of(visit(scripts=False))
    site = empty_panel.site
    page.get_by_role("link", name="Add a crawl point").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Add crawl point")
    page.get_by_label("URL", exact=True).fill(f"{site}/tools/")
    page.get_by_label("Root string").fill("")
    page.get_by_label("Address to test").fill(f"{site}/about.html")
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_label("Root string")).to_have_value(f"{site}/tools/")
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


@proves("J4")
def test_unsaved_entries_come_back_and_the_password_does_not(visit, empty_panel):
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


def test_a_preview_is_followed_to_its_end(visit, empty_panel):
    visitor = visit()
    page = panel_of(visitor)
    page.get_by_role("link", name="Add a crawl point").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("URL", exact=True).fill(f"{empty_panel.site}/tools/")
    dialog.get_by_label("Root string").fill(f"{empty_panel.site}/tools/")
    dialog.get_by_label("Depth limit").fill("1")
    dialog.get_by_role("button", name="Preview these settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Preview")
    expect(page.locator("#preview")).to_contain_text(
        "All pages that these settings reach were fetched.", timeout=60_000
    )
    visitor.picture("preview")
    page.get_by_role("button", name="Keep these settings").click()
    expect(page.locator("#status")).to_contain_text("Saved")
    expect(page.get_by_role("row").nth(1).locator("[data-th='Depth limit']")).to_have_text("1")
