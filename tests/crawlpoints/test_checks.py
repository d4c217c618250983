"""Every blocking message of the crawl point dialog, word for word, and what is stored when nothing blocks."""

from typing import Any

import pytest

from crawlpoints.point_checks import Around, Invalid, Neighbour, check_exclude, check_point, exclude_lines
from tests.proves import proves

GOOD: dict[str, Any] = {
    "url": "https://example.gov/measures/index.html",
    "root": "https://example.gov/measures/",
    "depth": "3",
    "max_pages": "500",
    "auth_type": "0",
    "active": "on",
    "excludes": "",
}
UNREADABLE = "This is not a web address the crawler can read: "
OUTSIDE = "The URL does not begin with this root string, so nothing would be crawled. Use https://example.gov/measures/"
LONG = "https://example.gov/" + "a" * 2051

MESSAGES = [
    ("url", {"url": ""}, "Enter the URL where the crawl starts"),
    ("url", {"url": "example.gov"}, "URL must start with http:// or https://. Did you mean https://example.gov/?"),
    ("url", {"url": "example.gov:8080/a"},
     "URL must start with http:// or https://. Did you mean https://example.gov:8080/a?"),
    ("url", {"url": "measures"}, "URL must start with http:// or https://"),
    ("url", {"url": "ftp://example.gov/"}, "ftp addresses cannot be crawled. Use http:// or https://"),
    ("url", {"url": "mailto:me@example.gov"}, "mailto addresses cannot be crawled. Use http:// or https://"),
    ("url", {"url": "https://example.gov/measures list"}, UNREADABLE + 'there is a space after "measures"'),
    ("url", {"url": "https://"}, UNREADABLE + "the host name is missing"),
    ("url", {"url": "https://example.gov:99999/"}, UNREADABLE + '"99999" is not a port'),
    ("url", {"url": "https://exa<mple.gov/"}, UNREADABLE + '"exa<mple.gov" is not a host name'),
    ("url", {"url": "https://me:secret@example.gov/"},
     "Take the user name and password out of the URL and use Authentication instead"),
    ("url", {"url": LONG}, "URL must be 2,048 characters or fewer. It is 2,071"),
    ("url", {"url": "https://example.gov/" + "ä" * 400},
     "URL must be 2,048 characters or fewer. With its special characters escaped it is 2,420"),
    ("url", {"url": "http://10.1.2.3/", "root": "http://10.1.2.3/"},
     "The address 10.1.2.3 is on a private network. "
     "Ask an administrator to allow 10.1.2.0/24"),
    ("url", {"url": "http://[::1]:8080/", "root": "http://[::1]:8080/"},
     "The address ::1 is on a private network. "
     "Ask an administrator to allow [::1]:8080"),
    ("root", {"root": "https://www.example.gov/measures/"}, OUTSIDE),
    ("root", {"root": "http://example.gov/measures/"}, OUTSIDE),
    ("root", {"root": "/measures/"}, "Root string must contain at least the site, like https://example.gov/"),
    ("root", {"root": "https://me:x@example.gov/"}, "Take the user name and password out of the root string"),
    ("depth", {"depth": "deep"}, "Depth limit must be a whole number, like 3"),
    ("depth", {"depth": "1.5"}, "Depth limit must be a whole number, like 3"),
    ("depth", {"depth": ""}, "Depth limit must be a whole number, like 3"),
    ("depth", {"depth": "1000"}, "Depth limit must be between 0 and 999"),
    ("depth", {"depth": "-1"}, "Depth limit must be between 0 and 999"),
    ("max_pages", {"max_pages": "many"}, "Maximum pages must be a whole number, or empty for no limit"),
    ("max_pages", {"max_pages": "-5"}, "Maximum pages must be a whole number, or empty for no limit"),
    ("login", {"auth_type": "1", "password": "x"}, "Enter the user ID for Basic authentication"),
    ("login", {"auth_type": "3", "password": "x"}, "Enter the user ID for NTLM authentication"),
    ("login", {"auth_type": "1", "login": "a:b", "password": "x"},
     "User ID cannot contain a colon with Basic authentication"),
    ("password", {"auth_type": "2", "login": "me"}, "Enter the password"),
    ("sign_in_url", {"auth_type": "4", "login": "me", "password": "x"}, "Enter the address of the sign-in page"),
    ("sign_in_url", {"auth_type": "4", "login": "me", "password": "x", "sign_in_url": "http://example.gov/in"},
     "The sign-in page must use https, because the URL does"),
    ("sign_in_user_field", {"auth_type": "4", "login": "me", "password": "x"}, "Enter the name of the user field"),
    ("append", {"append": "?" + "x" * 50}, "Append text must be 50 characters or fewer"),
    ("append", {"append": "#top"}, "Append text cannot contain #"),
    ("ignore_robots_reason", {"ignore_robots": "on"}, "Enter the reason for ignoring robots.txt"),
    ("excludes", {"excludes": "https://example.gov/a\n\nhttps://example.gov/b\nmeasures"},
     'Line 4 is not an address: "measures"'),
    ("excludes", {"excludes": "https://example.gov/a\nhttps://example.gov/measures/index.html"},
     "Line 2 excludes this crawl point's own URL, so nothing would be crawled"),
    ("excludes", {"excludes": "https://example.gov/a\nhttps://example.gov/a\nb*"},
     'Line 3 can match no address: "b*". Begin it with http://, https:// or *'),
    ("excludes", {"excludes": "www.example.gov/old*"},
     'Line 1 can match no address: "www.example.gov/old*". Begin it with http://, https:// or *'),
    ("excludes", {"excludes": "example.gov/*x*"},
     'Line 1 can match no address: "example.gov/*x*". Begin it with http://, https:// or *'),
    ("excludes", {"excludes": "regex:index"},
     "Line 1 excludes this crawl point's own URL, so nothing would be crawled"),
    ("excludes", {"excludes": "https://example.gov/meas*"}, "Line 1: This excludes everything"),
    ("excludes", {"excludes": "https://example.gov/*"}, "Line 1: This excludes everything"),
]  # fmt: skip


@proves("G1")
@pytest.mark.parametrize(("field", "change", "message"), MESSAGES, ids=[m[:60] for _, _, m in MESSAGES])
def test_each_wrong_entry_gets_its_own_words(field: str, change: dict[str, str], message: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_point(GOOD | change, Around())
    assert message in caught.value.errors[field]


def test_several_wrong_entries_are_all_named_at_once() -> None:
    with pytest.raises(Invalid) as caught:
        check_point(GOOD | {"url": "", "root": "/", "depth": "x"}, Around())
    assert set(caught.value.errors) == {"url", "root", "depth"}


def test_an_empty_root_string_is_the_folder_of_the_url() -> None:
    assert check_point(GOOD | {"root": " "}, Around())["root"] == "https://example.gov/measures/"
    with pytest.raises(Invalid) as caught:  # of which there is none
        check_point(GOOD | {"url": "example.gov", "root": ""}, Around())
    assert set(caught.value.errors) == {"url"}


def test_a_wrong_root_string_offers_the_folder_of_the_url() -> None:
    with pytest.raises(Invalid) as caught:
        check_point(GOOD | {"root": "https://www.example.gov/"}, Around())
    assert caught.value.fixes == {"root": "https://example.gov/measures/"}


def test_the_same_url_and_root_twice_in_a_document_names_the_twin() -> None:
    duplicate = Neighbour(7, GOOD["url"], "https://EXAMPLE.gov/measures/")
    with pytest.raises(Invalid) as caught:
        check_point(GOOD | {"url": "HTTPS://Example.gov:443/measures/index.html#top"}, Around(points=[duplicate]))
    assert caught.value.errors["url"] == ["This document already has this crawl point"]
    assert caught.value.duplicate == 7


def test_the_same_url_with_another_root_is_another_crawl_point() -> None:
    other = Neighbour(7, GOOD["url"], "https://example.gov/")
    assert check_point(GOOD, Around(points=[other]))["url"] == GOOD["url"]


def test_the_url_is_stored_in_canonical_form_and_the_root_as_typed() -> None:
    clean = check_point(
        GOOD | {"url": " HTTPS://Example.GOV:443/a/../measures/#x ", "root": " https://Example.gov/meas "}, Around()
    )
    assert clean["url"] == "https://example.gov/measures/"
    assert clean["root"] == "https://Example.gov/meas"


@pytest.mark.parametrize("typed", ["", " ", None, "0", 0])
def test_no_limit_is_stored_as_zero(typed: Any) -> None:
    assert check_point(GOOD | {"max_pages": typed}, Around())["max_pages"] == 0


def test_entries_of_another_way_of_signing_in_are_not_kept() -> None:
    clean = check_point(GOOD | {"login": "me", "password": "x", "sign_in_url": "https://example.gov/in"}, Around())
    assert (clean["login"], clean["password"], clean["sign_in_url"]) == ("", "", "")


def test_the_documents_own_excludes_count_when_the_entries_bring_none() -> None:
    entries = {name: value for name, value in GOOD.items() if name != "excludes"}
    with pytest.raises(Invalid):
        check_point(entries, Around(excludes=["https://example.gov/measures/*"]))


def test_a_star_may_stand_for_the_beginning_of_an_address() -> None:
    lines = ["*print*", "http*://example.gov/old*", "HTTPS://Example.gov/old/*", "https://*.example.gov/old*"]
    assert check_point(GOOD | {"excludes": "\n".join(lines)}, Around())["excludes"] == lines


def test_lines_are_trimmed_and_each_is_kept_once() -> None:
    assert exclude_lines(" a \n\nb\na\n") == ["a", "b"]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "Enter the address or pattern to exclude"),
        ("measures", 'This is not an address: "measures"'),
        ("regex:(", "This is not a regular expression"),
        ("https://example.gov/old", "This exclude URL is already in the list"),
        ("https://example.gov/*", "This excludes the crawl point"),
    ],
)
def test_a_wrong_exclude_url_says_why(pattern: str, message: str) -> None:
    points = [Neighbour(1, GOOD["url"], GOOD["root"])]
    with pytest.raises(Invalid) as caught:
        check_exclude(pattern, points, ["https://example.gov/old"])
    assert caught.value.errors["pattern"][0].startswith(message)


def test_an_exclude_url_may_concern_an_inactive_crawl_point() -> None:
    points = [Neighbour(1, GOOD["url"], GOOD["root"], active=False)]
    assert check_exclude(" https://example.gov/* ", points) == "https://example.gov/*"
