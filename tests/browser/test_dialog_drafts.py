"""The crawl point dialog with scripts: what follows the typing hand, and drafts that meet a colleague's changes."""

from playwright.sync_api import expect

from tests.browser.test_crawl_points import empty_panel, panel_of

__all__ = ["empty_panel"]


def panel_with_a_point(visitor, house):
    page = panel_of(visitor)
    house.manage("add_crawl_point", page.url.split("/documents/")[1].split("/")[0], f"{house.site}/tools/")
    page.reload()
    return page


def test_an_old_draft_meets_the_changes_of_a_colleague(visit, empty_panel):
    visitor = visit()
    page = panel_with_a_point(visitor, empty_panel)
    row = page.locator("table").first.locator("tbody tr").first.locator("th a")
    row.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Note").fill("mine, not saved yet")
    page.keyboard.press("Escape")

    other = panel_of(visit())
    other.locator("table").first.locator("tbody tr").first.locator("th a").click()
    other.get_by_role("dialog").get_by_label("Depth limit").fill("8")
    other.get_by_role("dialog").get_by_role("button", name="Save crawl point").last.click()
    expect(other.locator("#status")).to_contain_text("Saved")

    page.reload()
    row.click()
    expect(dialog.get_by_label("Depth limit")).to_have_value("8")
    dialog.get_by_role("button", name="Restore").click()
    with visitor.expecting(409):
        dialog.get_by_role("button", name="Save crawl point").last.click()
        expect(dialog.get_by_role("heading", level=2).first).to_have_text("Changed by somebody else")
    dialog.get_by_label("Their value of Depth limit: 8").check()
    dialog.get_by_role("button", name="Save my choices").click()
    expect(page.locator("#status")).to_contain_text("Saved")
    row.click()
    expect(dialog.get_by_label("Depth limit")).to_have_value("8")
    expect(dialog.get_by_label("Note")).to_have_value("mine, not saved yet")
    expect(dialog.locator("[data-draft]")).to_have_count(0)


def test_what_follows_the_typing_hand(visit, empty_panel):
    visitor = visit()
    page = panel_with_a_point(visitor, empty_panel)
    site = empty_panel.site
    page.locator("table").first.locator("tbody tr").first.locator("th a").click()
    dialog = page.get_by_role("dialog")
    # The root string is the folder of the saved URL, so it follows.
    dialog.get_by_label("URL", exact=True).fill(f"{site}/tools/a.html")
    page.keyboard.press("Tab")
    expect(dialog.get_by_label("Root string")).to_have_value(f"{site}/tools/")
    dialog.get_by_label("Root string").fill(f"{site}/")
    page.keyboard.press("Tab")
    dialog.get_by_label("URL", exact=True).fill(f"{site}/tools/b/c.html")
    page.keyboard.press("Tab")
    expect(dialog.get_by_label("Root string")).to_have_value(f"{site}/")
    dialog.get_by_label("Exclude URLs").fill(f"{site}/x\n\n{site}/y")
    expect(dialog.locator("#excludes-count")).to_have_text("2 lines")

    dialog.get_by_label("Sign-in form").check()
    dialog.get_by_label("Password", exact=True).fill("canary-7Q")
    dialog.get_by_label("Sign-in page").fill(f"{site}/about.html")
    with visitor.expecting(422):
        dialog.get_by_role("button", name="Detect the form").click()
        expect(dialog.locator("#problems")).to_contain_text("No password field was found on that page")
    expect(dialog.locator("#id_sign_in_url_error")).to_contain_text("No password field was found on that page")
    expect(dialog.get_by_label("Password", exact=True)).to_have_value("canary-7Q")


def test_who_signs_out_leaves_no_entries_behind(visit, empty_panel):
    visitor = visit()
    page = panel_with_a_point(visitor, empty_panel)
    page.locator("table").first.locator("tbody tr").first.locator("th a").click()
    page.get_by_role("dialog").get_by_label("Note").fill("a secret, not saved")
    page.keyboard.press("Escape")
    kept = "() => Object.keys(localStorage).filter((key) => key.startsWith('draft:')).length"
    assert page.evaluate(kept) == 1
    said = []
    answers = iter((False, True))

    def answer(dialog):
        said.append(dialog.message)
        dialog.accept() if next(answers) else dialog.dismiss()

    page.on("dialog", answer)
    page.locator("details.menu summary").filter(has_text="developer").click()
    for left in (1, 0):
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_timeout(300)
        assert page.evaluate(kept) == left
    assert len(said) == 2 and "Sign out and discard them?" in said[0]
    expect(page.get_by_label("Password")).to_be_visible()
