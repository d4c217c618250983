"""A page that hangs or kills its parser is named after a few tries; every other page is read all the same."""

import os
import signal
import time
from pathlib import Path

import pytest

from clearinghouse.addresses.parse import split
from crawler import parsers
from crawler.parsers import Died, Parser, Parsers
from crawler.values import Fetched, Request


def fetched(body: bytes, url: str = "https://a.example/x") -> Fetched:
    headers = [("content-type", "text/html; charset=utf-8")]
    return Fetched(Request(url, split(url)), 200, headers, body)


def wait_for(parser: Parser | Parsers, count: int, seconds: float = 20.0) -> list[object]:
    found: list[object] = []
    until = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < until:
        found += parser.collect()
        time.sleep(0.005)
    return found


@pytest.fixture
def parser() -> object:
    parser = Parser()
    yield parser
    parser.close()


def test_pages_come_back_in_order_with_what_they_say(parser: Parser) -> None:
    for number in range(30):
        page = fetched(f"<title>{number}</title><p>text {number}</p><a href='/{number}' rel=nofollow>x</a>".encode())
        parser.submit(number, page, "https://a.example/x")
    answers = wait_for(parser, 30)
    assert [token for token, _ in answers] == list(range(30))
    assert [page.title for _, page in answers] == [str(number) for number in range(30)]
    assert answers[7][1].urls == ["https://a.example/7"] and answers[7][1].marks == "1"
    assert parser.active() == 0


def test_a_large_page_does_not_block_the_loop(parser: Parser) -> None:
    body = b"<p>" + b"word " * 1_500_000
    began = time.monotonic()
    parser.submit("large", fetched(body), "https://a.example/x")
    assert time.monotonic() - began < 0.5
    ((token, page),) = wait_for(parser, 1)
    assert token == "large" and page.text.startswith("word word")


def test_a_killed_parser_costs_one_try_of_the_first_page_only(parser: Parser) -> None:
    for number in range(5):
        parser.submit(number, fetched(b"<title>t</title>"), "https://a.example/x")
    os.kill(parser._process.pid, signal.SIGKILL)
    answers = dict(wait_for(parser, 5))
    assert sum(isinstance(page, Died) for page in answers.values()) <= 1
    assert len(answers) == 5


def test_a_parser_that_hangs_is_replaced_and_its_page_named(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers, "SECONDS", 1.0)
    wait_for_start = fetched(b"<title>first</title>")
    parser.submit("first", wait_for_start, "https://a.example/x")
    wait_for(parser, 1)
    os.kill(parser._process.pid, signal.SIGSTOP)
    parser.submit("slow", fetched(b"<title>slow</title>"), "https://a.example/x")
    parser.submit("next", fetched(b"<title>next</title>"), "https://a.example/x")
    answers = dict(wait_for(parser, 2))
    assert isinstance(answers["slow"], Died) and answers["slow"].slow
    assert answers["next"].title == "next"


def test_the_parser_knows_none_of_our_settings(parser: Parser) -> None:
    environment = Path(f"/proc/{parser._process.pid}/environ").read_bytes()
    assert b"CLEARINGHOUSE" not in environment and b"DJANGO" not in environment


def test_a_second_process_starts_when_many_pages_wait_and_none_is_lost() -> None:
    pool = Parsers()
    try:
        for number in range(5):
            pool.submit(number, fetched(b"<title>t</title>"), "https://a.example/x")
        assert len(pool._processes) == 1
        for number in range(5, 60):
            pool.submit(number, fetched(f"<title>{number}</title>".encode()), "https://a.example/x")
        assert len(pool._processes) == parsers.PROCESSES
        assert sorted(token for token, _ in wait_for(pool, 60)) == list(range(60))
        assert pool.active() == 0 and not pool.crowded
    finally:
        pool.close()
