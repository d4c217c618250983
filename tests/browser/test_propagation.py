"""A propagation in a browser: choose its runs, read its log, roll back; axe looks on."""

from playwright.sync_api import expect

from tests.browser.axe import SCRIPT, in_every_form


def test_a_log_that_is_read_stays_open_while_the_board_moves(visit, open_house):
    open_house.manage("crawl", "--speed", "fast")
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    page.goto("/propagation/new/")
    page.get_by_role("button", name="Propagate").click()
    page.locator("#log summary").click()
    page.locator("#log summary").focus()
    expect(page.locator(".head .pill", has_text="Done")).to_be_visible(timeout=120_000)
    expect(page.get_by_role("row", name="Public search back to primary")).to_be_visible()
    expect(page.locator("#log summary")).to_be_focused()
    expect(page.locator("#live-poll[hx-get]")).to_have_count(0)


def test_ticking_a_run_shows_at_once_what_it_changes(visit, open_house):
    open_house.manage("crawl", "--speed", "fast")
    visitor = visit()
    visitor.sign_in("administrator")
    visitor.context.add_init_script(SCRIPT)
    page = visitor.page
    page.goto("/propagation/new/")
    key, added = page.locator("#difference .key"), page.locator("#difference tbody tr")
    expect(added.first).to_be_visible()
    assert not key.inner_text().startswith("0 added")
    found = in_every_form(page, "with a run to choose")
    page.get_by_label("Run 1").uncheck()
    expect(page.get_by_role("heading", name="Nothing is new")).to_be_visible()
    page.get_by_label("Run 1").check()
    expect(added.first).to_be_visible()
    open_house.manage("propagate")
    open_house.manage("propagate", "--full")
    page.goto("/propagation/2/")
    page.get_by_role("link", name="Log of this propagation").click()
    expect(page.get_by_role("row", name="Public search back to primary")).to_be_visible()
    found += in_every_form(page, "with its log")
    page.get_by_role("link", name="Roll back to generation 1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Roll back?")
    found += in_every_form(page, "before a rollback")
    page.get_by_role("button", name="Roll back to generation 1").click()
    expect(page.get_by_text("Primary production shows generation 1")).to_be_visible()
    page.goto("/reports/propagation/")
    found += in_every_form(page, "the report")
    assert not found, "\n".join(found)
