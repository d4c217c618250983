"""What the public page does with a script, and how its new states look to everybody."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.axe import SCRIPT, in_every_form
from tests.flow.house import until

LEXICON = """
from clearinghouse.published.models import LexiconWord
for word in ("quality", "hygiene", "hygienist"):
    LexiconWord.objects.using("primary").get_or_create(word=word, defaults={"pages": 3})
"""

A_PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"  # headless ones are not counted

OPENED = """
from clearinghouse.search.models import SearchUse
from clearinghouse.search.usage.services import collect
collect()
print(sum(SearchUse.objects.using("webcrawl").filter(query="hygiene").values_list("opened", flat=True)))
"""


def teach(page: Page, kind: str, words: str, others: str) -> None:
    page.goto(f"/settings/search/?kind={kind}")
    page.get_by_label(re.compile("^Words$|^Query$")).fill(words)
    page.get_by_label(re.compile("^Also search for$|^Addresses$")).fill(others)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#status")).to_contain_text(f"Added {words}")


def forget(page: Page, kind: str, words: str) -> None:
    page.goto(f"/settings/search/?kind={kind}")
    page.get_by_role("button", name=f"Delete {words}").click()
    expect(page.locator("#status")).to_contain_text(f"Deleted {words}.")


def test_words_are_offered_after_two_letters_and_an_opened_result_is_told(visit, busy_house: Any) -> None:
    done = busy_house.run("shell", "-c", LEXICON)
    assert done.returncode == 0, done.stderr
    visitor = visit(user_agent=A_PERSON)
    page = visitor.page
    page.goto("/search/")
    box = page.get_by_label("Words to find")
    box.press_sequentially("hand hyg")
    expect(page.locator("#q-words option").first).to_have_attribute("value", re.compile("^hand hygien"))
    box.fill("hygiene")
    page.get_by_role("button", name="Search").click()
    with page.expect_request(re.compile(r"/search/opened/\?q=hygiene$")) as told:
        page.get_by_role("link", name="Cached copy").first.click()
    assert "cookie" not in told.value.all_headers()  # who only searches has none, so no token either
    until(
        lambda: busy_house.run("shell", "-v", "0", "-c", OPENED).stdout.strip() == "1", "the opened result is counted"
    )


def test_axe_finds_nothing_in_what_people_taught_the_search(visit, busy_house: Any) -> None:
    busy_house.run("shell", "-c", LEXICON)
    visitor = visit()
    visitor.context.add_init_script(SCRIPT)
    visitor.sign_in("administrator")
    page = visitor.page
    page.goto("/search/?q=quality")
    address = page.locator(".result h2 a").last.get_attribute("href")
    teach(page, "synonym", "zyxwv", "quality")
    teach(page, "best_bet", "zyxwv", address)
    found = in_every_form(page, "a list of rules")
    page.goto("/search/?q=zyxwv")
    expect(page.get_by_text("Also searched for: quality.")).to_be_visible(timeout=15_000)
    expect(page.locator(".result").first).to_contain_text("Recommended")
    found += in_every_form(page, "recommended")
    page.get_by_role("link", name="Explain this ranking").first.click()
    expect(page.locator("main")).to_contain_text("because somebody recommended it")
    found += in_every_form(page, "a ranking")
    page.goto("/search/?q=hygeine")
    expect(page.get_by_role("link", name="hygiene")).to_be_visible()
    found += in_every_form(page, "did you mean")
    for url in ("nothing", "https://elsewhere.example/", address):
        page.goto(f"/search-tools/missing/?url={url}")
        found += in_every_form(page, f"why is {url} not in search")
    forget(page, "best_bet", "zyxwv")
    found += in_every_form(page, "deleted")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#status")).to_contain_text("Restored zyxwv.")
    forget(page, "best_bet", "zyxwv")
    forget(page, "synonym", "zyxwv")
    assert not found, "\n".join(found)


def test_a_manager_teaches_the_search_without_a_script(visit, busy_house: Any) -> None:
    visitor = visit(scripts=False)
    visitor.sign_in("manager")
    page = visitor.page
    page.goto("/settings/")
    page.get_by_role("link", name="Search curation").click()
    teach(page, "synonym", "zyxwvu", "quality")
    forget(page, "synonym", "zyxwvu")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#status")).to_contain_text("Restored zyxwvu.")
    forget(page, "synonym", "zyxwvu")
