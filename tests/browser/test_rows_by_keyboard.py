"""Where the focus is: after a row has gone, after the dialog has closed, in the tester and in its answer."""

import re

from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.visitor import focused, tab_to

TWO_POINTS = "Infection prevention"


def boxes_of(page: Page) -> Locator:
    """Of the rows."""
    return page.locator("tbody").get_by_role("checkbox")


def panel(page: Page) -> None:
    page.goto("/documents/")
    page.get_by_role("link", name=TWO_POINTS).click()
    page.get_by_role("link", name="Crawl points", exact=True).first.click()
    expect(boxes_of(page)).to_have_count(2)


def test_the_focus_goes_to_the_next_row_and_undo_brings_it_back(visit, busy_house):
    visitor = visit()
    visitor.sign_in("developer")
    page = visitor.page
    panel(page)
    names = [box.get_attribute("aria-label") for box in boxes_of(page).all()]
    page.get_by_role("checkbox", name=names[0], exact=True).focus()
    page.keyboard.press("Delete")
    expect(page.locator("#status")).to_contain_text("Deleted crawl point")
    expect(page.get_by_role("checkbox", name=names[1], exact=True)).to_be_focused()
    tab_to(page, "Undo", "button")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Restored crawl point")
    expect(page.get_by_role("checkbox", name=names[0], exact=True)).to_be_focused()


def test_a_url_is_tested_by_keyboard_in_the_dialog_and_on_its_page(visit, busy_house):
    visitor = visit()
    visitor.sign_in("developer")
    page = visitor.page
    panel(page)
    box = boxes_of(page).first
    box.focus()
    page.keyboard.press("F2")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    tab_to(page, "Address to test", "textbox")
    page.keyboard.type(f"{busy_house.site}/about.html")
    page.keyboard.press("Tab")
    expect(focused(page)).to_have_text("Test")
    page.keyboard.press("Enter")
    expect(dialog.locator("#answer")).to_contain_text("No, because it does not begin with the root string")
    expect(focused(page)).to_have_text("Test")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    tab_to(page, "Test a URL", "link")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Would this address be crawled?")
    tab_to(page, "Address to test", "textbox")
    page.keyboard.type(f"{busy_house.site}/about.html")
    tab_to(page, "Test", "button")
    page.keyboard.press("Enter")
    expect(page.locator(".verdict, .trace").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("No, because it does not begin with the root string")


def test_keys_on_a_row_do_only_what_they_are_named_for(visit, busy_house):
    """Delete never opens or changes anything where there is no Delete; Enter never presses another command."""
    visitor = visit()
    visitor.sign_in("developer")
    page = visitor.page
    page.goto("/documents/")
    page.get_by_role("radio").first.focus()
    page.keyboard.press("Delete")
    expect(page.get_by_role("heading", level=1)).to_have_text("Documents")
    page.get_by_role("radio").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/documents/\d+/crawl-points/$"))

    page.goto("/crawl-points/")
    boxes = boxes_of(page)
    boxes.nth(0).check()
    boxes.nth(1).focus()
    for key in ("Delete", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_contain_text("Update crawl point")
    page.keyboard.press("Escape")
    expect(boxes.nth(1)).to_be_focused()
    expect(page.locator("#status")).to_be_empty()


def test_the_dialog_gives_the_focus_back_to_what_opened_it(visit, busy_house):
    visitor = visit()
    visitor.sign_in("developer")
    page = visitor.page
    panel(page)
    box = boxes_of(page).first
    update = page.get_by_role("button", name="Update")
    box.check()
    update.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(update).to_be_focused()
    box.focus()
    page.keyboard.press("F2")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_be_focused()


def test_single_keys_walk_rows_with_boxes_and_rows_without(visit, busy_house):
    visitor = visit()
    visitor.sign_in("developer")
    page = visitor.page
    page.goto("/help/")
    page.get_by_role("button", name="Turn on single keys").click()
    expect(page.get_by_role("button", name="Turn off single keys")).to_be_visible()
    page.goto("/crawls/?tab=finished")
    runs = page.locator("tbody th a")
    for key, place in (("j", 0), ("j", 1), ("k", 0)):
        page.keyboard.press(key)
        expect(runs.nth(place)).to_be_focused()
    page.goto("/documents/")
    page.keyboard.press("j")
    expect(page.get_by_role("radio").first).to_be_focused()
    page.keyboard.press("x")
    page.keyboard.press("p")
    page.wait_for_url(re.compile(r"/documents/\d+/previews?/"))


def test_a_part_that_takes_long_says_that_it_is_being_fetched(visit, busy_house):
    visitor = visit()
    visitor.sign_in("developer")
    page = visitor.page
    panel(page)
    held: list[Route] = []
    page.route("**/crawl-points/new/", lambda route: held.append(route))
    page.get_by_role("link", name="Add", exact=True).click()
    expect(page.locator("#dialog")).to_have_attribute("aria-busy", "true")
    held[0].continue_()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator("#dialog")).not_to_have_attribute("aria-busy", "true")


def test_the_whole_root_string_is_read_on_focus(visit, busy_house):
    visitor = visit()
    visitor.sign_in("developer")
    page = visitor.page
    panel(page)
    root = page.locator(".short").first
    expect(root.locator(".whole")).to_be_hidden()
    root.focus()
    expect(root.locator(".whole")).to_contain_text(busy_house.site)


def test_all_rows_are_selected_by_the_box_in_the_head(visit, busy_house):
    visitor = visit()
    visitor.sign_in("developer")
    page = visitor.page
    panel(page)
    rows = boxes_of(page)
    head = page.get_by_role("checkbox", name="Select all 2 on this page")
    expect(page.locator(".sel")).to_have_text("0 selected")
    tab_to(page, "Select all 2 on this page", "checkbox")
    page.keyboard.press("Enter")  # presses no command
    page.keyboard.press("Delete")
    page.keyboard.press("Space")
    expect(page.locator(".sel")).to_have_text("2 selected")
    expect(page.locator("tbody .pick :checked")).to_have_count(2)
    rows.first.uncheck()
    expect(page.locator(".sel")).to_have_text("1 selected")
    expect(head).not_to_be_checked()
    assert head.evaluate("box => box.indeterminate")
    rows.first.check()
    expect(head).to_be_checked()


def test_all_rows_are_changed_without_a_script(visit, busy_house):
    visitor = visit(scripts=False)
    visitor.sign_in("developer")
    page = visitor.page
    panel(page)
    page.get_by_role("checkbox", name="Select all 2 on this page").check()
    page.get_by_role("button", name="Deactivate").click()
    expect(page.locator("#status")).to_contain_text("Deactivated 2 crawl points.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#status")).to_contain_text("Undone")
