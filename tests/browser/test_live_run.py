"""A page that is looked at while a crawl moves: what the reader has in hand stays there."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Response, Route, expect

from tests.flow.house import ENDED, House, until


@pytest.fixture
def lent_house(busy_house: House) -> Iterator[House]:
    """The house of all, given back without a crawl that goes on."""
    yield busy_house
    for run in busy_house.manage("runs")["runs"]:
        if not run["state"].startswith(ENDED):
            busy_house.manage("run", run["run"], "cancel")
            until(lambda run=run: busy_house.ended(run["run"]), "the crawl of this test ends", 60)


def test_focus_menu_and_selection_survive_ten_polls(visit, lent_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    polls: list[int] = []

    def note(answer: Response) -> None:
        if "/live?" in answer.url:
            polls.append(answer.status)

    page.on("response", note)
    visitor.launch_politely()
    depth = page.locator("#depth-1")
    before = page.locator("#live-n-pages").inner_text()
    page.locator("#live-controls summary", has_text="Speed").click()
    depth.focus()
    seen = len(polls)
    while len(polls) < seen + 10:
        page.wait_for_timeout(250)
    expect(depth).to_be_focused()
    expect(page.get_by_role("button", name="Medium")).to_be_visible()
    assert page.locator("#live-n-pages").inner_text() != before
    assert page.title().startswith("(") and "%) Run" in page.title()


def test_the_focus_stays_in_a_preview_that_goes_on(visit, lent_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    page.goto("/documents/")
    document = page.get_by_role("link", name="The whole institute").first.get_attribute("href").split("/")[2]
    page.goto(f"/documents/{document}/previews/")
    page.get_by_role("button", name="Preview now").click()
    link, pages = page.get_by_role("link", name="Why?").first, page.locator("#pages-h .count")
    link.focus()
    before = pages.inner_text()
    expect(pages).not_to_have_text(before, timeout=30_000)
    expect(link).to_be_focused()
    expect(page.get_by_role("button", name="Preview again")).to_be_visible(timeout=90_000)
    expect(link).to_be_focused()


def test_signed_out_while_looking_is_said_and_nothing_is_lost(visit, lent_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    visitor.launch_politely()
    visitor.context.clear_cookies()
    page.get_by_role("link", name="Sign in again").wait_for(timeout=20_000)
    expect(page.locator("#depth-1")).to_be_visible()


def refusing(refused: list[str]) -> Callable[[Route], None]:
    """Polls get an error, pages do not."""

    def refuse(route: Route) -> None:
        if "hx-request" in route.request.headers:
            refused.append(route.request.url)
            route.fulfill(status=500, body="")
        else:
            route.continue_()

    return refuse


def test_trouble_is_said_once_and_taken_back_also_with_follow(visit, lent_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    visitor.launch_politely()
    page.clock.install()
    for address in (page.url, f"{page.url}log/?follow=1"):
        page.goto(address)
        refused: list[str] = []
        with visitor.expecting(500):
            page.route("**/crawls/**", refusing(refused))
            page.clock.run_for(3_000)
            page.get_by_text("Updates paused, retrying").wait_for()
            page.locator("#live-trouble").evaluate("box => { box.dataset.first = 'yes'; }")
            page.clock.run_for(20_000)
            assert len(refused) == 1, "it asks less often"
            page.clock.run_for(15_000)
            page.wait_for_timeout(500)
            assert len(refused) == 2 and page.locator("#live-trouble").count() == 1
            expect(page.locator("#live-trouble")).to_have_attribute("data-first", "yes")
            page.unroute("**/crawls/**")
        page.clock.run_for(35_000)
        expect(page.locator("#live-trouble")).to_have_count(0)
    visitor.problems = [
        one for one in visitor.problems if "Response Status Error Code 500" not in one
    ]  # as htmx logs it


def test_the_panel_keeps_the_focus_and_is_patient_with_a_server_in_trouble(visit, lent_house):
    visitor = visit()
    visitor.sign_in("administrator")
    page = visitor.page
    visitor.launch_politely()
    polls: list[int] = []
    page.on("response", lambda answer: polls.append(answer.status) if "/running/?since" in answer.url else None)
    page.goto("/documents/2/crawl-points/")
    page.locator("#running-found").focus()
    while polls.count(200) < 3:
        page.wait_for_timeout(250)
    expect(page.locator("#running-found")).to_be_focused()

    page.route("**/running/?since=*", lambda route: route.fulfill(status=500))
    with visitor.expecting(500):
        expect(page.locator("#status")).to_contain_text("Updates paused, retrying")
        page.wait_for_timeout(5_000)
    assert polls.count(500) == 1
    expect(page.get_by_text("Updates paused, retrying")).to_have_count(1)
