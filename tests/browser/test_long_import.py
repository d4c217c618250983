"""A long CSV in the browser: chosen as a file, followed while a real worker reads it, decided about, taken back."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.test_crawl_points import panel_of

LINES = 1_200
PATIENCE = 240_000  # milliseconds: the machine may have other things to do


def test_a_long_list_is_followed_imported_and_taken_back(visit, open_house, tmp_path: Path) -> None:
    rows = [f"https://new.example.org/part-{at // 100}/page-{at}.html,2" for at in range(LINES)]
    sheet = tmp_path / "points.csv"
    sheet.write_text("\n".join(["url,depth_limit", *rows, "nonsense,2"]))
    visitor = visit()
    page = panel_of(visitor)
    before = page.locator("table tbody tr").count()
    page.goto(page.url.split("?")[0] + "import/")
    page.get_by_label("CSV file").set_input_files(sheet)
    page.get_by_role("button", name="Show what would happen").click()
    expect(page.locator("#import")).to_contain_text("added")
    visitor.picture("long-import-reading")
    decide = page.get_by_role("button", name="Import 1,200, skip 1")
    expect(decide).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#import")).to_contain_text("URL must start with http:// or https://")
    visitor.picture("long-import-decide")
    decide.click()
    undo = page.get_by_role("button", name="Undo the import")
    expect(undo).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#import")).to_contain_text(
        "Imported 1,200 crawl points: 1,200 added, 0 changed. 1 line skipped."
    )
    visitor.picture("long-import-done")
    job = page.url
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("list", name="Pages of the list")).to_be_visible(timeout=PATIENCE)
    page.goto(job)
    undo.click()
    expect(page.locator("#import")).to_contain_text("1,200 crawl points as before.", timeout=PATIENCE)
    page.get_by_role("link", name="Done").click()
    expect(page.locator("table tbody tr")).to_have_count(before, timeout=PATIENCE)
