"""Quiet hours for a working week: few presses, by keyboard, without scripts, on a telephone."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.visitor import focused, tab_to
from tests.flow.house import House

WORK = [
    f"{day} {hour:02}:00" for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday") for hour in range(8, 18)
]
TICKED = ".week input:checked"
MOST_PRESSES = 6


@pytest.fixture
def no_quiet_hours(busy_house: House) -> Iterator[House]:
    yield busy_house
    done = busy_house.run(
        "shell", "-v", "0", "-c", "from crawler.launching.quiet_hours import set_hours; set_hours('0' * 168, 'test')"
    )
    assert done.returncode == 0, done.stderr


def names(page: Page) -> list[Any]:
    return page.locator(TICKED).evaluate_all("found => found.map(one => one.getAttribute('aria-label'))")


def planned(visitor) -> Page:
    visitor.sign_in("administrator")
    visitor.page.goto("/crawls/schedules/")
    return visitor.page


@pytest.mark.parametrize("scripts", [True, False])
def test_a_working_week_takes_few_presses(visit, no_quiet_hours, scripts):
    """A choice in a list counts as two presses: one opens it, one chooses."""
    page, presses = planned(visit(scripts=scripts)), 0

    def press(button: Locator) -> None:
        nonlocal presses
        button.click()
        presses += 1

    for label, hour in (("From", "08:00"), ("To", "18:00")):
        page.get_by_label(label, exact=True).select_option(hour)
        presses += 2
    press(page.get_by_role("button", name="Tick these hours", exact=True))
    expect(page.locator(TICKED)).to_have_count(len(WORK))
    expect(page.locator("#quiet")).to_contain_text("50 hours of the week, not saved yet")
    press(page.get_by_role("button", name="Save quiet hours"))
    expect(page.locator("#status")).to_contain_text("Quiet hours saved: 50 hours of the week.")
    assert names(page) == WORK and presses <= MOST_PRESSES


def test_days_and_hours_are_ticked_by_keyboard_and_the_focus_stays(visit, no_quiet_hours):
    page = planned(visit(viewport={"width": 390, "height": 800}))
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    tab_to(page, "Monday, all hours", "button")
    page.keyboard.press("Enter")
    expect(page.locator(TICKED)).to_have_count(24)
    expect(focused(page)).to_have_attribute("id", "quiet-day-0")
    page.keyboard.press("Space")
    expect(page.locator(TICKED)).to_have_count(0)
    expect(focused(page)).to_have_attribute("id", "quiet-day-0")
    page.keyboard.press("Enter")
    expect(page.locator(TICKED)).to_have_count(24)
    page.get_by_role("button", name="08:00 of every day").press("Enter")
    expect(page.locator(TICKED)).to_have_count(24 + 6)
    page.get_by_role("button", name="Save quiet hours").press("Enter")
    expect(page.locator("#status")).to_contain_text("Quiet hours saved: 30 hours of the week.")
