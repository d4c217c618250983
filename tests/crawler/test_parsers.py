"""A page that hangs or kills its parser is named after a few tries; every other page is read all the same."""

import os
import signal
import time
from pathlib import Path

import pytest

from clearinghouse.addresses.parse import split
from crawler import parsers
from crawler.parsers import Died, Parsers
from crawler.values import Fetched, Request


def fetched(body: bytes, url: str = "https://a.example/x") -> Fetched:
    headers = [("content-type", "text/html; charset=utf-8")]
    return Fetched(Request(url, split(url)), 200, headers, body)


def wait_for(pool: Parsers, count: int, seconds: float = 20.0) -> list[object]:
    found: list[object] = []
    until = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < until:
        found += pool.collect()
        time.sleep(0.005)
    return found


@pytest.fixture
def pool() -> object:
    pool = Parsers()
    yield pool
    pool.close()


def test_pages_come_back_in_order_with_what_they_say(pool: Parsers) -> None:
    for number in range(30):
        page = fetched(f"<title>{number}</title><p>text {number}</p><a href='/{number}' rel=nofollow>x</a>".encode())
        pool.submit(number, page, "https://a.example/x")
    answers = wait_for(pool, 30)
    assert [token for token, _ in answers] == list(range(30))
    assert [page.title for _, page in answers] == [str(number) for number in range(30)]
    assert answers[7][1].urls == ["https://a.example/7"] and answers[7][1].marks == "1"
    assert pool.active() == 0


def test_a_large_page_does_not_block_the_loop(pool: Parsers) -> None:
    body = b"<p>" + b"word " * 1_500_000
    began = time.monotonic()
    pool.submit("large", fetched(body), "https://a.example/x")
    assert time.monotonic() - began < 0.5
    ((token, page),) = wait_for(pool, 1)
    assert token == "large" and page.text.startswith("word word")


def test_a_killed_parser_costs_one_try_of_the_first_page_only(pool: Parsers) -> None:
    for number in range(5):
        pool.submit(number, fetched(b"<title>t</title>"), "https://a.example/x")
    os.kill(pool._process.pid, signal.SIGKILL)
    answers = dict(wait_for(pool, 5))
    assert sum(isinstance(page, Died) for page in answers.values()) <= 1
    assert len(answers) == 5


def test_a_parser_that_hangs_is_replaced_and_its_page_named(pool: Parsers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers, "SECONDS", 1.0)
    wait_for_start = fetched(b"<title>first</title>")
    pool.submit("first", wait_for_start, "https://a.example/x")
    wait_for(pool, 1)
    os.kill(pool._process.pid, signal.SIGSTOP)
    pool.submit("slow", fetched(b"<title>slow</title>"), "https://a.example/x")
    pool.submit("next", fetched(b"<title>next</title>"), "https://a.example/x")
    answers = dict(wait_for(pool, 2))
    assert isinstance(answers["slow"], Died) and answers["slow"].slow
    assert answers["next"].title == "next"


def test_the_parser_knows_none_of_our_settings(pool: Parsers) -> None:
    environment = Path(f"/proc/{pool._process.pid}/environ").read_bytes()
    assert b"CLEARINGHOUSE" not in environment and b"DJANGO" not in environment
