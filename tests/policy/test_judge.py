"""The judgement of a link: identity, root, traps, excludes, nofollow, and whose verdict stands."""

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parsing import parse
from crawler.policy.address_checks import CHECK_ORDER, too_deep
from crawler.policy.identity import identify, wire_url
from crawler.policy.judge import CrawlRules, first_blocking
from crawler.policy.session_ids import is_session
from crawler.policy.traps import suspicion
from crawler.values import REASONS, PointSettings, Snapshot
from tests.proves import proves


def address(text: str) -> Address:
    found = parse(text)
    assert isinstance(found, Address)
    return found


def point(number: int, root: str, **options: object) -> PointSettings:
    return PointSettings(id=number, url=root, root=root, **options)  # type: ignore[arg-type]


def rules(*points: PointSettings, excludes: tuple[str, ...] = ()) -> CrawlRules:
    return CrawlRules(Snapshot(1, points, excludes))


def reason(found: Refusal | None) -> str:
    return found.reason if found else ""


# -- identity ---------------------------------------------------------------------------------------------------


HEX = "5f2d8a9b0c1e4f60a7b3c2d1e0f9a8b7"
ASP = "lit3py55t21z5v55vlm25s55"


@proves("rule 12", "F10")
@pytest.mark.parametrize(
    ("url", "named"),
    [
        (f"/x?PHPSESSID={HEX}", "/x"),
        ("/x?PHPSESSID=8nq,Kd3-kd0Pq7vm2s1t5uaoe4", "/x"),
        (f"/x?a=1&sid={HEX}&b=3", "/x?a=1&b=3"),
        ("/x?SID=550e8400-e29b-41d4-a716-446655440000", "/x"),
        (f"/x;jsessionid={HEX.upper()}.node1/y?z", "/x/y?z"),
        ("/x;v=1;JSESSIONID=0000A2MB4IJozU_VQ6xkcKjtwVC:-1?a", "/x;v=1?a"),
        ("/x;jsessionid=ew8vhx3ld1", "/x"),
        ("/x?CFID=1201&CFTOKEN=12345678", "/x"),
        ("/x?cfid=3&a=1&cftoken=4fd0a9bc6e0ba8d3-9D1F6A2B-C5E4", "/x?a=1"),
        ("/x?ASPSESSIONIDQQGQGGAC=LAKBNOPAPHHDFIGLMOIHENDA", "/x"),
        (f"/(S({ASP}))/order.aspx?id=3", "/order.aspx?id=3"),
        (f"/shop/(X(1)S({ASP}))/", "/shop/"),
        (f"/shop/(A(0123456789abcdefghij-_)F(Zyxwvutsrqponmlkjihg1)S({ASP}))/a/b", "/shop/a/b"),
        (f"/%28S%28{ASP}%29%29/a%28b%29", "/a%28b%29"),
        (f"/({ASP})/default.aspx", "/default.aspx"),
        (f"/(S({ASP}))", "/"),
        (f"/.;jsessionid={HEX}/x", "/x"),
    ],
)
def test_session_ids_do_not_name_a_page(url: str, named: str) -> None:
    assert identify(address("http://a.org" + url), point(1, "http://a.org/")).href == "http://a.org" + named


@proves("F10")
@pytest.mark.parametrize(
    "url",
    [
        "/x?sid=3", "/x?sid=12", "/modules.php?name=News&file=article&sid=1234", "/x?sid=", "/x?sid", "/x?a&sid=3&b",
        "/article.pl?sid=04/05/17/1234215", "/x?sid=20040517", "/x?sid=2004-annual-report-of-quality",
        "/x?sid=introduction-to-quality", "/x?sid=WPCR05-0123456789", "/x?sid=1234567890123456", "/x?sid=Q3-2019-final",
        "/x?PHPSESSID=1", "/x?CFID=12", "/x?CFID=4&CFTOKEN=2", "/x;sid=7/y", "/x;jsessionid=AB12", "/x?side=left",
        f"/x?osid={HEX}", f"/x?id={HEX}", f"/x?ASPSESSIONID={HEX}", "/wiki/Foo_(S(3))", "/a/(S(3))/b", "/(draft)/b",
        f"/(T({ASP}))/b", f"/a(S({ASP}))b", "/x?", "/(abcdefghijklmnopqrstuvwx)/b", "/x?sid=ChapterTwo2OfTheReport",
    ],
)  # fmt: skip
def test_what_only_has_the_name_of_a_session_names_a_page(url: str) -> None:
    assert identify(address("http://a.org" + url), point(1, "http://a.org/")).href == "http://a.org" + url


@pytest.mark.parametrize(
    ("name", "letters", "length"),
    [
        ("sid", "0123456789abcdef", 32), ("sid", "0123456789abcdefghijklmnopqrstuv", 26),
        ("PHPSESSID", "0123456789abcdef", 26),
        ("PHPSESSID", string.ascii_letters + string.digits + ",-", 32), ("jsessionid", "0123456789ABCDEF", 32),
        ("ASPSESSIONIDABCDEFGH", string.ascii_uppercase, 24), ("sid", string.ascii_letters + string.digits, 32),
    ],
)  # fmt: skip
def test_ids_as_servers_make_them_are_known(name: str, letters: str, length: int) -> None:
    chance = random.Random(length)
    ids = ["".join(chance.choice(letters) for _ in range(length)) for _ in range(2_000)]
    assert sum(is_session(name, one) for one in ids) >= 1_950


@proves("rule 12", "F10")
def test_session_parameters_stay_where_the_crawl_point_says_so() -> None:
    url = f"http://a.org/(S({ASP}))/x;jsessionid={HEX}?sid={HEX}"
    assert identify(address(url), point(1, "http://a.org/", drop_sessions=False)).href == url


@proves("rule 18")
def test_the_query_may_be_ignored() -> None:
    assert identify(address("http://a.org/x?y"), point(1, "http://a.org/", ignore_query=True)).href == "http://a.org/x"


@proves("rule 18", "F7")
def test_http_and_https_may_count_as_one() -> None:
    owner = point(1, "https://a.org/", merge_schemes=True)
    assert identify(address("http://a.org/x"), owner).href == "https://a.org/x"
    assert identify(address("http://a.org:443/x"), owner).href == "https://a.org/x"


@given(st.text(alphabet="ab;?&=/.sid%1", max_size=30))
@settings(max_examples=400, deadline=None)
def test_the_identity_of_an_identity_is_itself(tail: str) -> None:
    found = rules(
        point(1, "http://a.org/", merge_schemes=True), point(2, "https://a.org/a", ignore_query=True)
    ).verdicts(f"http://a.org/{tail}")
    again = rules(
        point(1, "http://a.org/", merge_schemes=True), point(2, "https://a.org/a", ignore_query=True)
    ).verdicts(found.url)
    assert again == found


@proves("rule 18")
def test_append_text_stands_literally_behind_the_address() -> None:
    assert wire_url(address("http://a.org/x"), "?print=1") == "http://a.org/x?print=1"
    assert wire_url(address("http://a.org/x?y=2"), "?print=1") == "http://a.org/x?y=2&print=1"
    assert wire_url(address("http://a.org/"), "@evil.org/") == "http://a.org/@evil.org/"
    assert wire_url(address("http://a.org/x"), "") == "http://a.org/x"
    longest = address("http://a.org/" + "x" * 2035)
    assert wire_url(longest, "") == longest.href
    assert wire_url(longest, "?") == Refusal("too_long", "with the append text")


# -- traps ------------------------------------------------------------------------------------------------------


@proves("rule 12")
@pytest.mark.parametrize(
    ("url", "trapped"),
    [
        ("http://a.org/" + "/".join("abcdefghijklmnop"), False),
        ("http://a.org/" + "/".join("abcdefghijklmnopq"), True),
        ("http://a.org/a/b/a/c", False),
        ("http://a.org/a/b/a/b/a", True),
        ("http://a.org/?" + "&".join(f"p{n}=1" for n in range(10)), False),
        ("http://a.org/?" + "&".join(f"p{n}=1" for n in range(11)), True),
    ],
)
def test_endless_looking_addresses_are_suspected(url: str, trapped: bool) -> None:
    assert bool(suspicion(address(url))) is trapped


@proves("rule 12")
def test_traps_are_switched_by_the_owner() -> None:
    url = "http://a.org/a/b/a/b/a"
    assert reason(rules(point(1, "http://a.org/")).verdicts(url).refusals[1]) == "trap_suspected"
    assert rules(point(1, "http://a.org/", stop_traps=False)).verdicts(url).refusals[1] is None


def test_an_endless_address_is_outside_for_the_crawl_points_whose_root_it_does_not_begin_with() -> None:
    two = rules(point(1, "http://a.org/"), point(2, "http://b.org/"))
    found = two.verdicts("http://a.org/a/b/a/b/a").refusals
    assert {number: reason(refusal) for number, refusal in found.items()} == {1: "trap_suspected", 2: "outside_root"}
    trace = two.trace("http://c.org/a/b/a/b/a")
    assert [line.check for line in trace if line.result == "stop"] == ["root"]
    unasked = [line.check for line in rules().trace("http://a.org/a/b/a/b/a") if line.result == "idle"]
    assert unasked[:5] == ["root", "traps", "exclude", "nofollow", "depth"]


# -- verdicts ---------------------------------------------------------------------------------------------------


@proves("E5")
@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("http://a.org/docs/x", ""),
        ("http://[::bad/", "bad_address"),
        ("http://a.org/docs/" + "x" * 2_100, "too_long"),
        ("mailto:me@a.org", "scheme_not_allowed"),
        ("http://a.org:22/docs/", "port_not_allowed"),
        ("http://a.org/other", "outside_root"),
        ("http://b.org/docs/a/a/a", "outside_root"),
        ("http://b.org/docs/print/a/a/a", "outside_root"),
        ("http://a.org/docs/a/a/a", "trap_suspected"),
        ("http://a.org/docs/print/a/a/a", "trap_suspected"),
        ("http://a.org/docs/print/1", "excluded"),
    ],
)
def test_every_check_has_its_reason(link: str, expected: str) -> None:
    found = rules(point(1, "http://a.org/docs/"), excludes=("*/print/*",)).verdicts(link)
    assert reason(found.refusals[1]) == expected


def test_a_link_is_judged_for_all_crawl_points_at_once() -> None:
    both = rules(point(1, "http://a.org/"), point(2, "http://a.org/docs/", ignore_query=True))
    found = both.verdicts("http://a.org/docs/x?y")
    assert (found.url, found.owner) == ("http://a.org/docs/x", 2)
    assert found.refusals == {1: None, 2: None}
    found = both.verdicts("http://a.org/x?y")
    assert (found.url, found.owner) == ("http://a.org/x?y", 1)
    assert reason(found.refusals[2]) == "outside_root"


@proves("rule 1")
def test_the_owner_is_the_longest_root_and_then_the_lowest_id() -> None:
    three = rules(point(3, "http://a.org/"), point(2, "http://a.org/x"), point(1, "http://a.org/x"))
    assert three.verdicts("http://a.org/xy").owner == 1
    assert three.verdicts("http://a.org/y").owner == 3
    assert three.verdicts("http://b.org/").owner == 0


def test_inactive_crawl_points_own_nothing() -> None:
    found = rules(point(1, "http://a.org/x", active=False), point(2, "http://a.org/")).verdicts("http://a.org/x")
    assert (found.owner, list(found.refusals)) == (2, [2])


def test_nofollow_counts_for_links_by_option_and_for_pages_always() -> None:
    lax, strict = point(1, "http://a.org/"), point(1, "http://a.org/", obey_nofollow=True)
    assert rules(lax).verdicts("http://a.org/x", nofollow=True).refusals[1] is None
    assert reason(rules(strict).verdicts("http://a.org/x", nofollow=True).refusals[1]) == "nofollow"
    assert reason(rules(lax).verdicts("http://a.org/x", page_nofollow=True).refusals[1]) == "nofollow"


@proves("F8")
def test_excludes_are_judged_on_the_identity() -> None:
    found = rules(point(1, "http://a.org/", ignore_query=True), excludes=("http://a.org/x",)).verdicts(
        "http://a.org/x?y"
    )
    assert reason(found.refusals[1]) == "excluded"


def test_a_root_that_cannot_be_read_lets_nothing_in() -> None:
    assert reason(rules(point(1, "nonsense")).verdicts("http://a.org/").refusals[1]) == "outside_root"


def test_the_verdict_that_got_furthest_stands() -> None:
    outside, excluded = Refusal("outside_root"), Refusal("excluded")
    assert first_blocking([outside, excluded]) is excluded
    assert first_blocking([excluded, None]) is None
    assert first_blocking([]) is None


def test_depth_is_the_last_check() -> None:
    assert too_deep(point(1, "http://a.org/", depth=3), 3) is None
    assert reason(too_deep(point(1, "http://a.org/", depth=3), 4)) == "too_deep"


def test_the_check_order_uses_only_reasons_of_the_closed_list() -> None:
    assert set(CHECK_ORDER) <= set(REASONS)


def test_the_explainer_names_every_check_up_to_the_one_that_stops() -> None:
    trace = rules(point(1, "http://a.org/", depth=2), excludes=("*/x",)).trace("http://a.org/x", found_depth=1)
    assert [(line.check, line.result) for line in trace][:7] == [
        ("address", "pass"), ("scheme", "pass"), ("port", "pass"), ("root", "pass"), ("traps", "pass"),
        ("exclude", "stop"), ("nofollow", "idle"),
    ]  # fmt: skip
    assert trace[5].detail == "*/x"


def test_outside_of_several_roots_the_one_it_follows_longest_is_explained() -> None:
    three = rules(point(1, "http://a.org/"), point(2, "http://b.org/docs/"), point(3, "http://b.org/measures/"))
    for url, root in (("http://b.org/measure", "http://b.org/measures/"), ("http://b.org/d", "http://b.org/docs/")):
        assert [line.detail for line in three.trace(url) if line.result == "stop"] == [root]
    named = three.trace("http://b.org/measure", point_id=1)
    assert [line.detail for line in named if line.result == "stop"] == ["http://a.org/"]


def test_the_explainer_knows_depth_and_robots() -> None:
    one = rules(point(1, "http://a.org/", depth=2))
    stops = [line for line in one.trace("http://a.org/x", found_depth=3) if line.result == "stop"]
    assert [line.check for line in stops] == ["depth"]
    stops = [line for line in one.trace("http://a.org/x", 1, robots=(False, "Disallow: /x")) if line.result == "stop"]
    assert [(line.check, line.detail) for line in stops] == [("robots", "Disallow: /x")]
