"""Text of twice the size, colours forced by the system, no motion, a page nobody looks at."""

import re

from playwright.sync_api import Page, expect

PAGES = (
    "/", "/documents/", "/documents/2/crawl-points/", "/documents/2/crawl-points/new/", "/crawls/", "/crawls/launch/",
    "/crawls/2/", "/crawls/2/urls/", "/crawls/2/findings/", "/reports/coverage/", "/propagation/", "/settings/",
    "/search/?q=quality",
)  # fmt: skip
CONTROLS = "main a.btn:visible, main button:visible, main input[type=text]:visible, main select:visible"
CUT_OFF = """() => [...document.querySelectorAll("h1, h2, label, .btn, .pill, .chip, td, th, p")]
    .filter(one => one.checkVisibility() && getComputedStyle(one).overflow === "hidden" &&
        one.scrollWidth > one.clientWidth + 1 && !one.closest(".vh"))
    .map(one => one.outerHTML.slice(0, 120))"""


def test_text_of_200_percent_loses_nothing(visit, busy_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    wrong = []
    for path in PAGES:
        page.goto(path)
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        needed = page.evaluate("document.documentElement.scrollWidth")
        wrong += [f"{path} needs {needed} of 1280 pixels"] if needed > 1280 else []
        wrong += [f"{path} cuts off {html}" for html in page.evaluate(CUT_OFF)]
    assert not wrong, "\n".join(wrong)


LONG_WORDS = """() => document.querySelectorAll("h1, .crumbs a, th.wrap a, td.wrap").forEach(
    one => { one.textContent = "Donaudampfschifffahrt".repeat(15) })"""
TOO_WIDE = """() => [document.documentElement, ...document.querySelectorAll(".tw")]
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.tagName + " needs " + one.scrollWidth)"""


def test_titles_without_a_space_break_wherever_they_stand(visit, busy_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    wrong = []
    for path in ("/documents/", "/documents/2/", "/reports/coverage/", "/reports/audit/"):
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(path)
            page.evaluate(LONG_WORDS)
            wrong += [f"{path} at {width} pixels: {one}" for one in page.evaluate(TOO_WIDE)]
    assert not wrong, "\n".join(wrong)


NAMED = {"/documents/": "th.wrap", "/crawls/?tab=finished": "td.wrap", "/crawl-points/": "tbody th"}


def test_what_a_row_is_about_has_room(visit, busy_house):
    """The name of a document, of what a run crawled, the URL of a crawl point: not a word a line."""
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    for path, cell in NAMED.items():
        page.goto(path)
        assert page.locator(cell).first.bounding_box()["width"] >= 220, path
        assert page.evaluate(TOO_WIDE) == [], path


def test_in_forced_colours_every_control_has_an_edge(visit, busy_house):
    visitor = visit(forced_colors="active", reduced_motion="reduce")
    visitor.sign_in("administrator")
    page = visitor.page
    bare = []
    for path in PAGES:
        page.goto(path)
        for control in page.locator(CONTROLS).all()[:12]:
            style = control.evaluate(
                "one => [getComputedStyle(one).borderTopStyle, getComputedStyle(one).borderTopColor]"
            )
            if style[0] == "none" or re.search(r"rgba\(.*, 0\)", style[1]):
                bare.append(f"{path}: {control.evaluate('one => one.outerHTML')[:120]} {style}")
        moving = "() => document.getAnimations().length"
        assert page.evaluate(moving) == 0, f"{path} moves"
    assert not bare, "\n".join(bare)


def test_the_focus_is_seen_on_what_has_it(visit, busy_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    page.goto("/documents/2/crawl-points/")
    for _ in range(25):
        page.keyboard.press("Tab")
        style = page.locator(":focus").evaluate(
            "one => [getComputedStyle(one).outlineStyle, parseFloat(getComputedStyle(one).outlineWidth)]"
        )
        assert style[0] == "solid" and style[1] >= 3, page.locator(":focus").evaluate("one => one.outerHTML")


def polls_of(page: Page) -> list[str]:
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url) if "/live?" in request.url else None)
    return found


def test_nobody_is_asked_while_the_page_is_hidden(visit, busy_house):
    visitor = visit()
    visitor.context.add_init_script("Object.defineProperty(document, 'hidden', {get: () => Boolean(window.away)})")
    visitor.sign_in("administrator")
    page = visitor.page
    visitor.launch_politely()
    polls = polls_of(page)
    page.wait_for_event("request", lambda request: "/live?" in request.url)
    page.evaluate("window.away = true")
    page.wait_for_timeout(500)
    before = len(polls)
    page.wait_for_timeout(4_500)  # two polls would fit
    assert len(polls) == before, "Nobody looks, and yet it asks"
    page.evaluate("window.away = false")
    page.wait_for_event("request", lambda request: "/live?" in request.url)
    page.get_by_role("button", name="Stop and keep").click()
    expect(page.locator(".title")).to_contain_text("Stopped", timeout=30_000)
