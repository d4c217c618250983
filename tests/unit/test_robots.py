"""robots.txt by RFC 9309."""

import pytest

from crawler.policy.robots import READ_AT_MOST, Robots, parse_robots
from tests.unit import vectors


def test_our_own_group_counts_before_the_one_for_everybody() -> None:
    robots = parse_robots(b"User-agent: *\nDisallow: /\n\nUser-agent: clearinghousewebcrawl\nDisallow: /private\n")
    assert robots.allowed("http://a.org/x") == (True, "")
    assert robots.allowed("http://a.org/private/x") == (False, "Disallow: /private")


@pytest.mark.parametrize(
    ("status", "allowed"), [(200, False), (404, True), (403, True), (410, True), (301, True), (500, None), (503, None)]
)
def test_the_status_decides_before_the_body(status: int, allowed: bool | None) -> None:
    robots = Robots.from_status(status, b"User-agent: *\nDisallow: /")
    assert (robots.allowed("http://a.org/x")[0] if robots else None) is allowed


@pytest.mark.parametrize(
    ("text", "delay"), [("2", 2.0), ("3600", 30.0), ("0", 0.0), ("abc", None), ("-1", None), ("0.5", 0.5)]
)
def test_a_crawl_delay_is_capped(text: str, delay: float | None) -> None:
    assert parse_robots(f"User-agent: *\nCrawl-delay: {text}\n".encode()).crawl_delay == delay


@pytest.mark.parametrize(
    "body", [b"", b"\xef\xbb\xbfUser-agent: *\nDisallow: /x", b"<html>no</html>", b"\0\0\xff\xfe", b"a:b\r" * 1000]
)
def test_any_bytes_can_be_read(body: bytes) -> None:
    assert parse_robots(body).allowed("http://a.org/")[0]


def test_a_byte_order_mark_does_not_hide_the_first_line() -> None:
    assert not parse_robots(b"\xef\xbb\xbfUser-agent: *\nDisallow: /x").allowed("http://a.org/x")[0]


def test_only_the_beginning_is_read() -> None:
    body = b"User-agent: *\n" + b"#" * READ_AT_MOST + b"\nDisallow: /"
    assert parse_robots(body).allowed("http://a.org/x")[0]


def test_sitemaps_are_shown() -> None:
    assert parse_robots(b"Sitemap: http://a.org/s.xml\n").sitemaps == ["http://a.org/s.xml"]


def test_decisions_of_protego() -> None:
    """387 of its 388 calls; the one left asks for Host, a word of one search engine that we do not read."""
    judged = 0
    for row in vectors.cases("protego", "vectors.json"):
        asked, given = row["fn"], row["args"]
        if asked == "can_fetch":
            found: object = Robots(row["robots"], given[1]).allowed(given[0])[0]
        elif asked == "crawl_delay":
            found = Robots(row["robots"], given[0]).crawl_delay
        elif asked == "sitemaps":
            found = Robots(row["robots"]).sitemaps
        else:
            continue
        assert found == row["result"], row
        judged += 1
    assert judged == 387
