"""Takes the pictures of docs/screens.md anew, from the demo: python -m tests.browser.pictures

Owns: which screens, in which state. Called by: people, after the look has changed.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.browser import program
from tests.browser.conftest import opened
from tests.browser.png import with_palette
from tests.browser.visitor import Visitor
from tests.flow.conftest import fresh_house
from tests.flow.house import BASE, House

FOLDER = BASE / "docs" / "pictures"
MOST_BYTES = 150_000
PANEL = "/documents/2/crawl-points/"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program.found(), args=program.FLAGS)
        empty = House(Path(folder))
        empty.manage("prepare")
        empty.run("collectstatic", "--no-input", "--verbosity", "0")
        with fresh_house(empty.folder) as house:
            opened(house)
            for _ in range(2):
                house.manage("crawl", "--speed", "fast")
            house.manage("propagate")
            FOLDER.mkdir(exist_ok=True)
            visitors = [Visitor(browser, house, f"http://127.0.0.1:{house.port}") for _ in range(3)]
            take(*visitors, house.site)
            assert not any(visitor.problems for visitor in visitors), [visitor.problems for visitor in visitors]
        browser.close()


def take(developer: Visitor, administrator: Visitor, public: Visitor, site: str) -> None:
    developer.sign_in("developer")
    administrator.sign_in("administrator")
    of_developer(developer.page, site)
    of_administrator(administrator.page)
    public.page.goto("/search/?q=quality+%22hand+hygiene%22")
    keep(public.page, "search")


def of_developer(page: Page, site: str) -> None:
    page.goto("/documents/")
    page.get_by_role("radio").nth(2).check()
    keep(page, "documents")
    page.goto(PANEL)
    page.get_by_role("link", name="Add", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("URL", exact=True).fill(f"{site}/tools/")
    page.keyboard.press("Tab")  # the root string follows
    expect(dialog.get_by_label("Root string")).to_have_value(f"{site}/tools/")
    dialog.get_by_label("Depth limit").fill("2")
    dialog.get_by_label("Address to test").fill(f"{site}/about.html")
    dialog.get_by_role("button", name="Test", exact=True).click()
    expect(dialog.locator("#answer")).to_contain_text("No, because")
    page.evaluate("document.activeElement.blur()")
    keep(page, "dialog")
    dialog.get_by_role("button", name="Save crawl point").last.click()
    box = page.get_by_role("checkbox", name=f"Select {site}/tools/")
    expect(box).to_be_visible()
    box.check()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#status")).to_contain_text("Deleted crawl point")
    keep(page, "crawl-points")


def of_administrator(page: Page) -> None:
    page.goto("/crawls/2/urls/?reason=outside_root&reason=too_deep")
    page.get_by_role("link", name="Why?").nth(2).click()
    expect(page.locator("#why")).to_be_visible()
    keep(page, "urls")
    page.goto("/propagation/1/")
    keep(page, "propagation")
    page.goto("/crawls/launch/")
    page.get_by_label("Polite: one request a second to each site").check()
    page.get_by_role("button", name="Launch crawl of").click()
    page.locator("#depth-2").wait_for(timeout=90_000)
    page.wait_for_timeout(20_000)
    keep(page, "run")


def keep(page: Page, name: str) -> None:
    page.evaluate("scrollTo(0, 0)")
    path = FOLDER / f"{name}.png"
    path.write_bytes(with_palette(page.screenshot()))
    size = path.stat().st_size
    print(f"{path.relative_to(BASE)}: {size:,} bytes")
    assert size <= MOST_BYTES, f"{path} is larger than {MOST_BYTES:,} bytes"


if __name__ == "__main__":
    main()
