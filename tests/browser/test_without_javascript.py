"""What an administrator does, by plain forms and links: launch, pause, resume, stop, propagate."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.flow.house import until

DOCUMENT = "The whole institute"


def wait_for(page: Page, words: str, where: str = "main") -> None:
    """A page without a script is looked at again."""
    until(lambda: page.reload() and re.search(words, page.locator(where).inner_text()), words, 60)


def press(button: Locator) -> None:
    """Until the page it leads to is there: a look at the page before would be one at a page that is going."""
    with button.page.expect_navigation():
        button.click()


def test_launch_pause_stop_and_propagate_by_plain_forms(visit, busy_house):
    visitor = visit(scripts=False)
    visitor.sign_in("administrator")
    page = visitor.page
    page.goto("/crawls/launch/")
    page.get_by_label("Chosen documents").check()
    page.get_by_role("checkbox", name=DOCUMENT).check()
    page.get_by_label("Polite: one request a second to each site").check()
    press(page.get_by_role("button", name=re.compile("^Launch crawl of")))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run ")
    wait_for(page, r"Crawling 1 document")
    press(page.get_by_role("button", name="Pause", exact=True))
    wait_for(page, r"Paused; nothing is lost")
    press(page.get_by_role("button", name="Resume", exact=True))
    wait_for(page, r"Crawling 1 document")
    press(page.get_by_role("button", name="Stop and keep"))
    wait_for(page, r"Stopped", ".title")

    page.goto("/propagation/new/")
    press(page.get_by_role("button", name="Propagate", exact=True))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Propagation ")
    wait_for(page, r"Done", ".title")
