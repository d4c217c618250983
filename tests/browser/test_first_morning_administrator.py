"""The first morning of an administrator, by keyboard alone: launch, watch, pause, resume, propagate, settings."""

import re

from playwright.sync_api import Page, Response, expect

from tests.browser.visitor import Visitor, focused, tab_to

DOCUMENT = "Clinical practice guidelines"
SECONDS = 1000


def press(page: Page, name: str, role: str) -> None:
    tab_to(page, name, role)
    page.keyboard.press("Enter")


def go(page: Page, link: str, title: str) -> None:
    """Follow a link to the page that has this title."""
    press(page, link, "link")
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)


def choose(page: Page, first: str, name: str) -> None:
    """The arrow keys move inside a group of radios, from the one that is chosen."""
    tab_to(page, first, "radio")
    wanted = page.get_by_role("radio", name=name, exact=True)
    for _ in range(10):
        if wanted.is_checked():
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"The arrow keys never reach {name!r}")


def launch(page: Page) -> None:
    go(page, "Launch crawl", "Launch crawl")
    expect(page.get_by_role("group", name="Documents")).to_be_hidden()
    choose(page, "All active documents", "Chosen documents")
    page.keyboard.press("Tab")
    box = page.get_by_role("checkbox", name=DOCUMENT)
    for _ in range(30):
        if box.evaluate("box => box === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Launch crawl of 1 document")).to_be_visible()
    chosen = page.locator("input[name=speed]:checked").evaluate("box => box.closest('label').innerText.trim()")
    choose(page, chosen, "Polite: one request a second to each site")
    press(page, "Launch crawl of 1 document", "button")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run ")


def pause_and_resume(visitor: Visitor) -> None:
    page = visitor.page
    page.locator("#depth-1").wait_for(timeout=60 * SECONDS)
    visitor.picture("run-live")
    press(page, "Pause", "button")
    expect(page.get_by_role("status").filter(has_text="Pausing run")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Paused; nothing is lost", timeout=30 * SECONDS)
    idle: list[int] = []

    def note(answer: Response) -> None:
        if "/live?" in answer.url:
            idle.append(answer.status)

    page.on("response", note)
    tab_to(page, "Live updates", "link")
    while idle.count(204) < 2:  # nothing moves: nothing is sent, and nothing in hand is lost
        page.wait_for_timeout(200)
        assert len(idle) < 10, idle
    expect(focused(page)).to_have_text("Live updates")
    summary = page.locator("#live-controls summary")
    page.keyboard.press("Tab")
    expect(summary).to_be_focused()
    page.keyboard.press("Enter")
    press(page, "Fast", "button")
    expect(page.locator(".meta")).to_contain_text("speed Fast")
    press(page, "Resume", "button")
    expect(page.locator("main")).to_contain_text(re.compile(r"Finished in "), timeout=60 * SECONDS)


def propagate(page: Page) -> None:
    go(page, "Propagation", "Propagation")
    go(page, "New propagation", "New propagation")
    press(page, "Propagate", "button")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"Propagation \d+"))
    expect(page.locator(".title")).to_contain_text("Done", timeout=60 * SECONDS)
    expect(page.locator("main")).to_contain_text("The public site is served by primary production")


def settings(page: Page) -> None:
    go(page, "Settings", "Settings")
    go(page, "Crawl defaults", "Crawl defaults")
    tab_to(page, "Depth limit", "textbox")
    page.keyboard.press("Control+A")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text(re.compile("Saved|Nothing was changed"))
    go(page, "Settings", "Settings")
    go(page, "System status", "System status")
    expect(page.locator(".title")).to_contain_text("All well")


def test_the_first_morning_of_an_administrator_by_keyboard(visit, busy_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    launch(page)
    pause_and_resume(visitor)
    page.reload()
    press(page, "All decisions", "link")
    expect(page.get_by_role("columnheader", name="Rule")).to_be_visible()
    visitor.picture("run-urls")
    propagate(page)
    visitor.picture("propagation-done")
    settings(page)
