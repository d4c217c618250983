"""What an administrator does, by plain forms and links: launch, pause, resume, stop, propagate."""

import re

from playwright.sync_api import Page, expect

from tests.flow.house import until

DOCUMENT = "The whole institute"


def wait_for(page: Page, words: str, where: str = "main") -> None:
    """A page without a script is looked at again."""
    until(lambda: page.reload() and re.search(words, page.locator(where).inner_text()), words, 60)


def test_launch_pause_stop_and_propagate_by_plain_forms(visit, busy_house):
    visitor = visit(scripts=False)
    visitor.sign_in("administrator")
    page = visitor.page
    page.goto("/crawls/launch/")
    page.get_by_label("Chosen documents").check()
    page.get_by_role("checkbox", name=DOCUMENT).check()
    page.get_by_label("Polite: one request a second to each site").check()
    page.get_by_role("button", name=re.compile("^Launch crawl of")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run ")
    wait_for(page, r"Crawling 1 document")
    page.get_by_role("button", name="Pause", exact=True).click()
    wait_for(page, r"Paused; nothing is lost")
    page.get_by_role("button", name="Resume", exact=True).click()
    wait_for(page, r"Crawling 1 document")
    page.get_by_role("button", name="Stop and keep").click()
    wait_for(page, r"Stopped", ".title")

    page.goto("/propagation/new/")
    page.get_by_role("button", name="Propagate", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Propagation ")
    wait_for(page, r"Done", ".title")
