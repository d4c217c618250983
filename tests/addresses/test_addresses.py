"""What an address is: parsing, resolving, roots, exclude patterns."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearinghouse.addresses import MAX_LENGTH, Address, Refusal, parsing
from clearinghouse.addresses.parsing import canonical, has_userinfo, parse, resolve
from clearinghouse.addresses.patterns import compile_exclude
from clearinghouse.addresses.roots import begins_with, canonical_root, folder_of
from tests import vectors
from tests.proves import proves

ANY_URL = st.builds(
    lambda host, tail: f"http://{host}/{tail}",
    st.sampled_from(["a.org", "A.org:80", "u@a.org", "127.0.0.1", "[::1]:8080", "bücher.example", "a.org."]),
    st.text(alphabet="abZ%0127eE/.;?#&=@ \\é\t", max_size=30),
)
ANY_LINK = st.text(alphabet="abZ%27eE/.;?#&=@: \\é\t", max_size=20)


def test_an_address_is_taken_apart_once() -> None:
    assert parse("HTTPS://User:pw@Example.ORG:443/a/../b%7Ec?x=1#top") == Address(
        "https://example.org/b~c?x=1", "https", "example.org", 443, "/b~c", "x=1"
    )


@proves("E10")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "bad_address"),
        ("/relative", "bad_address"),
        ("http://", "bad_address"),
        ("http://[::bad/", "bad_address"),
        ("http://a.org:99999/", "bad_address"),
        ("javascript:alert(1)", "scheme_not_allowed"),
        ("java\tscript:alert(1)", "scheme_not_allowed"),
        ("FILE:///etc/passwd", "scheme_not_allowed"),
        ("http://a.org/" + "x" * MAX_LENGTH, "too_long"),
        ("http://a.org/" + "x" * 1_000_000, "too_long"),
    ],
)
def test_what_is_no_web_address_is_refused_with_its_reason(text: str, reason: str) -> None:
    refusal = parse(text)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == reason


@proves("E5")
def test_an_address_of_the_longest_length_is_taken() -> None:
    assert isinstance(parse("http://a.org/".ljust(MAX_LENGTH, "x")), Address)


@proves("F1", "F2")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.org", "http://a.org/"),
        ("http://a.org/%7euser", "http://a.org/~user"),
        ("http://a.org/%2f", "http://a.org/%2F"),
        ("http://a.org/a\\b", "http://a.org/a/b"),
        ("http://a.org/x#one", "http://a.org/x#two"),
        ("http://me:secret@a.org/", "http://a.org/"),
        ("http://a.org/\t\nx", "http://a.org/x"),
        ("http://a.org/\ud800", "http://a.org/\ufffd"),
    ],
)
def test_spellings_of_one_address_have_one_canonical_form(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"), [("http://a.org/x", "http://a.org/x?"), ("http://a.org/a", "http://a.org/A")]
)
def test_different_addresses_stay_different(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@proves("F1")
@given(ANY_URL)
@settings(max_examples=500, deadline=None)
def test_the_canonical_form_is_canonical(text: str) -> None:
    first = parse(text)
    if isinstance(first, Address):
        assert parse(first.href) == first


@given(ANY_URL, ANY_LINK)
@settings(max_examples=1500, deadline=None)
def test_the_quick_ways_of_resolving_agree_with_the_parser(base: str, href: str) -> None:
    page = parse(base)
    if isinstance(page, Address):
        expected = parsing._canonical(href, page.href)
        assert resolve(page.href, href) == (href.partition("#")[0] if expected is None else expected) or (
            expected is None and resolve(page.href, href) in (href, href.partition("#")[0])
        )


def test_user_info_is_noticed() -> None:
    assert has_userinfo("http://me@a.org/")
    assert has_userinfo("http://me:pw@a.org/")
    assert not has_userinfo("http://a.org/@me")
    assert not has_userinfo("nonsense")


def test_an_unreadable_link_stays_as_it_was() -> None:
    assert resolve("http://a.org/", "http://[::bad/") == "http://[::bad/"


def test_resolving_a_link_is_cheap() -> None:
    started = time.perf_counter()
    for number in range(20_000):
        resolve("http://a.org/d0/p.html", f"../d1/p{number}.html")
    assert time.perf_counter() - started < 2


@proves("F6", "F7")
@pytest.mark.parametrize(
    ("url", "root", "inside"),
    [
        ("https://a.org/lib", "https://a.org/lib", True),
        ("https://a.org/library", "https://a.org/lib", True),
        ("https://a.org/lib/x", "https://a.org/lib/", True),
        ("https://a.org/lib", "https://a.org/lib/", False),
        ("https://a.org/Lib", "https://a.org/lib", False),
        ("https://a.org.evil.com/", "https://a.org", False),
        ("https://a.org:8443/", "https://a.org", False),
        ("http://a.org/", "https://a.org", False),
        ("https://a.org/", "HTTPS://A.ORG", True),
        ("https://a.org/~u/x", "https://a.org/%7Eu", True),
        ("https://a.org/", "nonsense", False),
    ],
)
def test_a_root_is_a_host_and_the_beginning_of_a_path(url: str, root: str, inside: bool) -> None:
    assert begins_with(canonical(url), root) is inside


@proves("F6")
def test_a_root_with_another_host_before_an_at_sign_is_that_host() -> None:
    assert not begins_with(canonical("https://a.org@evil.com/"), "https://a.org")


def test_roots_are_made_comparable() -> None:
    assert canonical_root("https://A.org") == "https://a.org/"
    assert canonical_root("https://a.org/docs/qt") == "https://a.org/docs/qt"
    with pytest.raises(ValueError, match="scheme_not_allowed"):
        canonical_root("ftp://a.org/")


def test_the_suggested_root_is_the_folder() -> None:
    assert folder_of("https://a.org/x/y.html?a/b") == "https://a.org/x/"
    assert folder_of("https://a.org") == "https://a.org/"


@proves("rule 18", "F8")
@pytest.mark.parametrize(
    ("pattern", "kind", "matching", "other"),
    [
        ("https://A.org/x", "exact", "https://a.org/x", "https://a.org/x/"),
        ("https://a.org/%7Eu", "exact", "https://a.org/~u", "https://a.org/"),
        ("https://a.org/lib*", "begins with", "https://a.org/library?x", "https://a.org/"),
        ("https://a.org*", "begins with", "https://a.org/x", "https://a.org.evil.com/"),
        ("https://a.org/*/print", "wildcard", "https://a.org/a/b/print", "https://a.org/a/print2"),
        ("*/print/*", "wildcard", "https://a.org/print/2", "https://a.org/print"),
        ("*a*a", "wildcard", "https://x.org/aa", "https://x.org/a"),
        ("regex:/(print|pdf)/", "regex", "https://a.org/pdf/1", "https://a.org/pdf"),
        ("regex:[?&]page=[0-9]+$", "regex", "https://a.org/?page=7", "https://a.org/?page="),
    ],
)
def test_exclude_patterns_match_canonical_addresses(pattern: str, kind: str, matching: str, other: str) -> None:
    exclude = compile_exclude(pattern)
    assert not isinstance(exclude, Refusal)
    assert exclude.kind == kind
    assert exclude.matches(matching)
    assert not exclude.matches(other)


@pytest.mark.parametrize("pattern", ["", "  ", "regex:", "regex:(", "regex:(?=x)", "/no/address", "x" * 3_000])
def test_patterns_that_cannot_work_are_refused(pattern: str) -> None:
    assert isinstance(compile_exclude(pattern), Refusal)


@proves("goal 27")
@pytest.mark.parametrize("pattern", ["regex:(a+)+$", "regex:(a|a)*b", "*a*a*a*a*a*a*a*b", "regex:a{1,30}{1,30}b"])
def test_no_pattern_takes_long(pattern: str) -> None:
    exclude = compile_exclude(pattern)
    assert isinstance(exclude, Refusal) or _seconds(exclude.matches, "a" * 10_000 + "c") < 0.05


def _seconds(function: object, text: str) -> float:
    started = time.perf_counter()
    function(text)  # type: ignore[operator]
    return time.perf_counter() - started


@proves("F1")
def test_urls_as_the_web_platform_tests_say() -> None:
    judged = 0
    for case in vectors.cases("wpt-url", "urltestdata.json"):
        base = case.get("base")
        if case.get("failure"):
            if base in (None, "about:blank") or base.startswith("http"):
                assert parsing._canonical(case["input"], base) is None, case
                judged += 1
        elif case["protocol"] in ("http:", "https:"):
            plain = None if base is None else parsing._serialise(base, None)
            assert parsing._canonical(case["input"], plain) == canonical(case["href"]), case
            if plain is not None and plain.startswith("http"):
                assert resolve(plain, case["input"]) == canonical(case["href"]), case
            judged += 1
    assert judged == 504


@proves("F4")
def test_host_names_as_the_web_platform_tests_say() -> None:
    rows = vectors.cases("wpt-url", "toascii.json")
    right = 0
    for row in rows:
        address = parse(f"https://{row['input']}/x")
        right += (address.host if isinstance(address, Address) else None) == row["output"]
    assert right >= 85
    assert len(rows) == 87


@proves("F4")
def test_international_host_names_as_unicode_says() -> None:
    """All that have a host: "https:///x" is the host x, by the standard for addresses."""
    rows = vectors.cases("wpt-url", "IdnaTestV2.json") + vectors.cases("wpt-url", "IdnaTestV2-removed.json")
    rows = [row for row in rows if row["input"]]
    for row in rows:
        address = parse(f"https://{row['input']}/x")
        assert (address.host if isinstance(address, Address) else None) == row["output"], row
    assert len(rows) == 2690


def test_relative_addresses_as_rfc_3986_says() -> None:
    for row in vectors.cases("rfc", "rfc3986-5.4.json"):
        found = resolve(row["base"], row["ref"])
        expected = {canonical(text) if text.startswith("http") else text for text in row["expect"]}
        assert found in expected, row
