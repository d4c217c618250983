"""Owns: asking axe-core about the page that is open: WCAG 2.0 to 2.2, A and AA, and best practice.

Does not: judge what only a person can; the keyboard and the words have tests of their own. Called by: test_axe.
"""

from importlib.resources import files

from playwright.sync_api import Page

SCRIPT = (files("axe_playwright_python") / "axe.min.js").read_text()
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
# What can differ when only colours and width are others.
OF_COLOURS_AND_WIDTH = ("color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable")
# Rows are alike: the first ones of a list speak for all.
ALIKE = ("tbody tr:nth-child(n+6)", ".findings > li:nth-child(n+6)", ".results > li:nth-child(n+4)", "svg *")
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 640}
NARROWEST = {"width": 320, "height": 640}


def violations(page: Page, what: str, rules: tuple[str, ...] = (), alike: tuple[str, ...] = ALIKE) -> list[str]:
    """One line for each broken rule: on which page, which rule, where."""
    only = {"type": "rule", "values": [*rules]} if rules else {"type": "tag", "values": [*TAGS]}
    options = {"runOnly": only, "resultTypes": ["violations"], "preload": False}
    place = {"include": [["html"]], "exclude": [[selector] for selector in alike]}
    found = page.evaluate("([place, options]) => axe.run(place, options)", [place, options])
    return [
        f"{what}: {one['id']}: {len(one['nodes'])} × {one['help']}; first: {one['nodes'][0]['html'][:200]}"
        for one in found["violations"]
    ]


def in_every_form(page: Page, what: str, alike: tuple[str, ...] = ALIKE) -> list[str]:
    """Light and wide, then dark and 390 pixels narrow; at 320 nothing may need scrolling sideways."""
    found = violations(page, what)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(NARROW)
    found += violations(page, f"{what} dark, 390 px", OF_COLOURS_AND_WIDTH, alike)
    page.set_viewport_size(NARROWEST)
    needed = page.evaluate("document.documentElement.scrollWidth")
    if needed > NARROWEST["width"]:
        found.append(f"{what} needs {needed} of 320 pixels")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)
    return found
