"""A new colleague's first sign-in, keys and sessions: what they read, and that nothing leads into a dead end."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.visitor import Visitor

OWN = "a window over the harbour"


def added(page: Page, name: str) -> str:
    """The administrator adds somebody; the password that is shown once."""
    page.goto("/settings/people/new/")
    page.get_by_label("User name").fill(name)
    page.get_by_role("radio", name="Content developer").check()
    page.get_by_role("button", name="Add person").click()
    return page.locator("#password").inner_text()


def sign_in(page: Page, name: str, password: str) -> None:
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()


def choose_own_password(visitor: Visitor, given: str) -> None:
    page = visitor.page
    page.goto("/documents/?q=a")
    visitor.picture("sign-in")
    sign_in(page, "anna", given)
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose a password of your own")
    expect(page.get_by_text("Somebody else gave you the password")).to_be_visible()
    expect(page.get_by_role("navigation", name="Main").get_by_role("link")).to_have_count(0)
    visitor.picture("own-password-first")
    page.goto("/")  # nothing else opens
    expect(page).to_have_url(re.compile("/me/password/$"))
    page.goto("/me/password/?next=/documents/%3Fq%3Da")
    page.get_by_label("Your current password").fill(given)
    page.get_by_label("New password", exact=True).fill(OWN)
    page.get_by_label("The new password again").fill(OWN)
    page.get_by_role("button", name="Change password").click()
    expect(page).to_have_url(re.compile(r"/documents/\?q=a$"))
    expect(page.get_by_role("status").filter(has_text="Your password is changed")).to_be_visible()


def make_a_key(visitor: Visitor) -> None:
    page = visitor.page
    page.goto("/me/keys/")
    page.get_by_label("What it is for").fill("nightly export")
    page.get_by_label("How long it works").select_option("30 days")
    with visitor.expecting(422):
        page.get_by_role("button", name="Make a key").click()
        expect(page.get_by_role("alert")).to_contain_text("Enter your password")
    expect(page.get_by_label("What it is for")).to_have_value("nightly export")
    visitor.picture("key-without-password")
    page.get_by_label("Your password").fill(OWN)
    page.get_by_role("button", name="Make a key").click()
    expect(page.locator("#key")).to_contain_text("chk_")
    visitor.picture("key-once")
    page.get_by_role("link", name="Done").click()
    visitor.picture("keys")


def test_the_first_sign_in_of_somebody_new(visit: Callable[..., Visitor]) -> None:
    chief, anna, elsewhere = visit(), visit(), visit()
    chief.sign_in("administrator")
    given = added(chief.page, "anna")
    chief.picture("password-once")
    choose_own_password(anna, given)
    make_a_key(anna)

    chief.page.goto("/settings/")
    chief.page.get_by_role("link", name="API keys").click()
    expect(chief.page.get_by_role("row").filter(has_text="nightly export")).to_contain_text("anna")
    chief.picture("people-keys")

    elsewhere.page.goto("/sign-in/")
    sign_in(elsewhere.page, "anna", OWN)
    anna.page.goto("/me/")
    anna.picture("preferences")
    anna.page.get_by_role("link", name="Where you are signed in").click()
    expect(anna.page.get_by_role("row").filter(has_text="This browser")).to_contain_text("Chrome on Linux")
    anna.picture("sessions")
    anna.page.get_by_role("button", name="End all others").click()
    expect(anna.page.get_by_role("status").filter(has_text="Ended 1 other session")).to_be_visible()
    elsewhere.page.goto("/documents/")
    expect(elsewhere.page.get_by_role("heading", level=1)).to_have_text("Sign in")

    anna.page.goto("/me/password/")
    expect(anna.page.get_by_label("End my API keys, too (1)")).to_be_checked()
    anna.picture("password")
    anna.page.goto("/help/preferences/")

    with elsewhere.expecting(422, 429):
        for _ in range(6):
            sign_in(elsewhere.page, "anna", "wrong")
        expect(elsewhere.page.get_by_role("alert")).to_contain_text("try again in 15 minutes")
    expect(elsewhere.page.get_by_label("User name")).to_have_value("anna")
    elsewhere.picture("too-many-tries")
