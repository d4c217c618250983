"""Owns: one person at one browser: what they can do, and everything that went wrong while they did it.

Does not: wait with scripts; our Content-Security-Policy forbids evaluating any, so waiting is done with locators.
Called by: the browser tests.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, Response

from tests.flow.house import House

# Where screenshots go when a test asks for one (or fails); ignored by git.
ARTIFACTS = Path(__file__).resolve().parents[1] / ".artifacts"


class Visitor:
    """A fresh browser profile. `problems` must be empty at the end of a test."""

    def __init__(self, browser: Browser, house: House, address: str, scripts: bool = True, **options: Any) -> None:
        self.house = house
        options = {"viewport": {"width": 1280, "height": 900}} | options
        self.context = browser.new_context(base_url=address, java_script_enabled=scripts, **options)
        self.own = (address, house.site)
        self.problems: list[str] = []
        self.expected: set[int] = set()
        self.page = self.watched(self.context.new_page())

    def watched(self, page: Page) -> Page:
        page.set_default_timeout(10_000)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        page.on("request", self._asked)
        page.on("requestfailed", self._failed)
        page.on("response", self._answered)
        return page

    @contextmanager
    def expecting(self, *statuses: int) -> Iterator[None]:
        """Answers with these statuses are no problem inside."""
        self.expected |= set(statuses)
        yield
        self.expected -= set(statuses)

    def _console(self, message: ConsoleMessage) -> None:
        if message.text.startswith("htmx:sendAbort"):  # the page was left while it polled, and htmx says so twice
            self.problems = [text for text in self.problems if "htmx:afterRequest" not in text]
            return
        told = ("Failed to load resource", "Response Status Error Code")  # by the browser, by htmx
        wanted = self.expected and any(words in message.text for words in told)
        if message.type in ("error", "warning") and not wanted:
            self.problems.append(f"console {message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((*self.own, "blob:", "about:")):
            self.problems.append(f"third party: {request.url}")

    def _failed(self, request: Request) -> None:
        if "ERR_ABORTED" not in (request.failure or ""):
            self.problems.append(f"request: {request.url}: {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.problems.append(f"status {response.status}: {response.url}")

    def password_of(self, name: str) -> str:
        lines = (self.house.folder / "demo-sign-ins").read_text()
        return re.search(rf"^{name} +(\S+)", lines, re.M).group(1)

    def sign_in(self, name: str) -> None:
        self.page.goto("/sign-in/")
        self.page.get_by_label("User name").fill(name)
        self.page.get_by_label("Password", exact=True).fill(self.password_of(name))
        self.page.get_by_role("button", name="Sign in").click()
        self.page.locator("nav[aria-label=Main]").wait_for(state="attached")

    def launch_politely(self) -> None:
        """A crawl of all documents that goes on for a while; its page is open then."""
        self.page.goto("/crawls/launch/")
        self.page.get_by_label("Polite: one request a second to each site").check()
        self.page.get_by_role("button", name="Launch crawl of").click()
        self.page.locator("#depth-1").wait_for(timeout=60_000)

    def picture(self, name: str) -> Path:
        ARTIFACTS.mkdir(exist_ok=True)
        path = ARTIFACTS / f"{name}.png"
        self.page.screenshot(path=path, full_page=True)
        return path

    def close(self) -> None:
        self.context.close()


def focused(page: Page) -> Locator:
    return page.locator(":focus")


def tab_to(page: Page, name: str, role: Any, most: int = 80) -> None:
    """Tab until this control has the focus; a person cannot do more."""
    wanted = page.get_by_role(role, name=name, exact=True)
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted.evaluate_all("found => found.includes(document.activeElement)"):
            return
    raise AssertionError(f"The key Tab never reaches {role} {name!r}")
