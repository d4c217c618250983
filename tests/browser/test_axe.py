"""axe finds nothing on any page of ours, in any state: filled, empty, wrong, open, running, dark, narrow."""

import re
from collections.abc import Callable

from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import RequestFactory
from playwright.sync_api import Page, expect

from clearinghouse.accounts.views import fault
from tests.browser.axe import SCRIPT, in_every_form, violations
from tests.browser.screens import ARGUMENTS, addresses, read_import
from tests.browser.visitor import Visitor

POINTS = "/documents/2/crawl-points/"
DJANGO = (
    "/settings/admin/", "/settings/admin/crawlpoints/crawlpoint/", "/settings/admin/library/document/",
    "/settings/admin/audit/entry/", "/settings/admin/crawlpoints/crawlpoint/1/change/",
)  # fmt: skip


def looked_at(visitor: Visitor) -> Page:
    visitor.context.add_init_script(SCRIPT)
    return visitor.page


def number_in(page: Page, address: str, link: str) -> int:
    """The number that ends the address of the first link of this kind."""
    page.goto(address)
    return int(re.search(rf'href="{link}(\d+)/["?]', page.content()).group(1))


def started_preview(page: Page) -> int:
    page.goto(POINTS)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Preview")
    return int(re.search(r"/previews/(\d+)/", page.url).group(1))


def added_rule(page: Page) -> int:
    page.goto("/settings/search/?kind=stopword")
    page.get_by_role("textbox", name="Words").fill("zyxw")
    page.get_by_role("button", name="Add", exact=True).click()
    return int(re.search(r'href="/settings/search/(\d+)/"', page.content()).group(1))


def planned_crawl(page: Page) -> int:
    page.goto("/crawls/launch/?when=week")
    page.get_by_role("button", name=re.compile("^Plan crawl of")).click()
    return int(re.search(r'href="/crawls/schedules/(\d+)/edit/"', page.content()).group(1))


def delete_plan(page: Page) -> None:
    page.goto("/crawls/schedules/")
    page.get_by_role("button", name=re.compile("^Delete .*Every Sunday")).click()
    expect(page.locator("#status")).to_contain_text("Deleted the planned crawl")


def cancel_import(page: Page, import_id: int) -> None:
    page.goto(f"/documents/{ARGUMENTS['doc_id']}/crawl-points/import/{import_id}/")
    expect(page.locator("#import")).to_contain_text("URL must start with http:// or https://")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_every_route_that_shows_a_page_has_an_address():
    found = addresses({})
    assert len(found) == len(set(found)) > 60


def test_axe_finds_nothing_on_any_page(visit, busy_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = looked_at(visitor)
    found = []
    known = {
        "preview_id": started_preview(page),
        "entry_id": number_in(page, "/crawls/2/pages/", "/crawls/2/pages/"),
        "published_id": number_in(page, "/search/?q=quality", "/search/result/"),
        "page_id": number_in(page, "/index/word/?w=quality", "/index/page/"),
        "rule_id": added_rule(page),
        "schedule_id": planned_crawl(page),
        "import_id": read_import(busy_house, ARGUMENTS["doc_id"], "https://new.example.org/a,2", "nonsense,2"),
    }
    for address in addresses(known):
        page.goto(address)
        found += in_every_form(page, address)
    cancel_import(page, known["import_id"])
    for address in DJANGO:
        page.goto(address)
        found += violations(page, address)
    page.goto("/crawls/?tab=calendar&month=2030-01")
    expect(page.locator("td.heat4").first).to_be_visible()
    found += in_every_form(page, "a calendar with a plan", alike=())
    delete_plan(page)
    assert not found, "\n".join(found)


def test_axe_finds_nothing_on_what_the_public_sees(visit, busy_house):
    page = looked_at(visit())
    found = []
    for address in (
        "/sign-in/", "/search/", "/search/?q=quality", "/search/?q=xyzzy", "/search/?q=%22quality&more=site&type=web",
        "/search/advanced/", "/search/advanced/?go=1", "/help/", "/help/search/",
    ):  # fmt: skip
        page.goto(address)
        found += in_every_form(page, address)
    assert not found, "\n".join(found)


def test_axe_finds_nothing_on_the_page_that_asks_to_wait(visit, busy_house):
    """This machine is never asked to, so the page comes from here; its looks come from the house."""
    visitor = visit()
    asked = RequestFactory().get("/search/")
    asked.user = AnonymousUser()
    text = render_to_string("search/wait.html", {"seconds": 12, "most": 300}, asked)
    visitor.page.route("**/search/?q=too-fast", lambda route: route.fulfill(body=text, content_type="text/html"))
    page = looked_at(visitor)
    page.goto("/search/?q=too-fast")
    expect(page.get_by_role("heading", level=1)).to_have_text("Please wait 12 seconds")
    assert not (found := in_every_form(page, "too many searches")), "\n".join(found)


def test_axe_finds_nothing_on_the_page_of_a_fault(visit, busy_house):
    """Made here, because nothing breaks when it is asked to; its looks come from the house."""
    visitor = visit()
    text = fault(RequestFactory().get("/documents/")).content
    visitor.page.route("**/documents/?q=broken", lambda route: route.fulfill(body=text, content_type="text/html"))
    page = looked_at(visitor)
    page.goto("/documents/?q=broken")
    expect(page.get_by_role("heading", level=1)).to_have_text("Something went wrong")
    assert not (found := in_every_form(page, "a fault")), "\n".join(found)


def test_axe_finds_nothing_in_empty_lists_and_wrong_forms(visit, busy_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = looked_at(visitor)
    found = []
    for address in (
        "/documents/?q=xyzzy", "/crawls/2/urls/?q=xyzzy", "/crawls/2/pages/?q=xyzzy", "/crawls/?tab=waiting",
        "/crawls/?tab=calendar", "/reports/coverage/?q=xyzzy", "/documents/1/crawl-points/",
        "/documents/1/exclude-urls/", "/crawls/2/urls/?why=1", "/crawls/2/errors/?list=all", f"{POINTS}?show=deleted",
        "/index/word/?w=xyzzy", "/index/word/?w=two+words",
    ):  # fmt: skip
        page.goto(address)
        found += in_every_form(page, address)
    with visitor.expecting(404, 403, 422):
        for address, button in WRONG:
            page.goto(address)
            page.get_by_role("button", name=re.compile(button)).last.click()
            expect(page.locator(".problem, [aria-invalid=true], .msg").first).to_be_visible()
            assert page.title().startswith("Error:"), f"{address}: {page.title()}"
            found += in_every_form(page, f"{address} wrong")
        page.goto("/no-such-page/")
        found += in_every_form(page, "not found")
        developer = visit()
        developer.sign_in("developer")
        with developer.expecting(403):
            looked_at(developer).goto("/settings/people/")
            found += in_every_form(developer.page, "refused")
    assert not found, "\n".join(found)


# Forms as they stand when opened cannot be saved; the title says so.
WRONG = [
    (f"{POINTS}new/", "^Save crawl point$"),
    ("/documents/new/", "^Save document$"),
    ("/settings/people/new/", "^Add|^Save"),
    ("/settings/search/?kind=best_bet", "^Add$"),
    ("/crawls/launch/?what=project", "^Launch"),
    ("/me/password/", "^Change|^Save"),
]


def test_axe_finds_nothing_in_open_dialogs_and_menus(visit, busy_house):
    visitor = visit()
    visitor.sign_in("developer")
    page = looked_at(visitor)
    page.goto("/documents/2/request-crawl/")
    found = in_every_form(page, "a request")
    page.goto(POINTS)

    def look(what: str, prepare: Callable[[], object]) -> None:
        prepare()
        found.extend(in_every_form(page, what))

    look("the menu More", lambda: page.locator("summary", has_text="More").click())
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Add", exact=True).click()
    dialog = page.get_by_role("dialog")
    look("the dialog", lambda: expect(dialog).to_be_visible())
    look("the dialog with more options", lambda: dialog.locator("summary", has_text="More options").click())
    look("the dialog with a password", lambda: dialog.get_by_label("Sign-in form").check())
    dialog.get_by_label("None", exact=True).check()
    dialog.get_by_label("Address to test").fill(f"{busy_house.site}/about.html")
    dialog.get_by_role("button", name="Test", exact=True).click()
    look("the dialog with an answer", lambda: expect(dialog.locator("#answer li").first).to_be_visible())
    with visitor.expecting(422):
        dialog.get_by_label("URL", exact=True).fill("ftp://x")
        dialog.get_by_role("button", name="Save crawl point").last.click()
        look("the dialog with a problem", lambda: expect(dialog.locator(".problem")).to_be_focused())
    assert not found, "\n".join(found)


def test_axe_finds_nothing_while_a_crawl_runs(visit, busy_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = looked_at(visitor)
    visitor.launch_politely()
    run = page.url
    found = in_every_form(page, "a running crawl", alike=())
    page.locator("#live-controls summary", has_text="Speed").click()
    found += violations(page, "its menu")
    for address in ("/", "/crawls/", POINTS, f"{run}urls/?outcome=queued", f"{run}log/", f"{run}cancel/"):
        page.goto(address)
        found += in_every_form(page, f"{address} while a crawl runs")
    page.goto(run)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.locator("main")).to_contain_text("Paused; nothing is lost", timeout=30_000)
    found += in_every_form(page, "a paused crawl")
    page.get_by_role("button", name="Stop and keep").click()
    expect(page.locator(".title")).to_contain_text("Stopped", timeout=30_000)
    found += in_every_form(page, "a stopped crawl")
    assert not found, "\n".join(found)
