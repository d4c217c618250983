"""A page that hangs or kills its parser is named after a few tries; every other page is read all the same."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from clearinghouse.addresses.parsing import split
from clearinghouse.published import types
from crawler.engine import child_processes
from crawler.engine.child_processes import Died, Parser, Parsers
from crawler.extract.office import document_reader
from crawler.values import Extracted, Fetched, Request
from tests.proves import proves


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


@proves("rule 9")
def test_a_killed_parser_costs_one_try_of_the_first_page_only(parser: Parser) -> None:
    for number in range(5):
        parser.submit(number, fetched(b"<title>t</title>"), "https://a.example/x")
    os.kill(parser._process.pid, signal.SIGKILL)
    answers = dict(wait_for(parser, 5))
    assert sum(isinstance(page, Died) for page in answers.values()) <= 1
    assert len(answers) == 5


@pytest.mark.parametrize("alone", [False, True])
def test_a_parser_that_is_stopped_is_replaced_and_no_page_blamed(
    parser: Parser, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    monkeypatch.setattr(child_processes, "SECONDS", 1.0)
    parser.submit("first", fetched(b"<title>first</title>"), "https://a.example/x")
    wait_for(parser, 1)
    stopped = parser._process.pid
    os.kill(stopped, signal.SIGSTOP)
    for name in ("one", "two", "three"):
        parser.submit(name, fetched(f"<title>{name}</title>".encode()), "https://a.example/x", alone=alone)
    answers = dict(wait_for(parser, 3))
    assert {token: page.title for token, page in answers.items()} == {"one": "one", "two": "two", "three": "three"}
    assert parser._process.pid != stopped and parser.active() == 0 and parser.bytes == 0


def test_a_page_with_which_every_process_stands_still_is_named_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_processes, "SECONDS", 0.3)
    monkeypatch.setattr(child_processes, "ASLEEP", 2)
    started: list[int] = []
    real = child_processes.subprocess.Popen

    def silent(command: list[str], **options: Any) -> Any:
        """Instead of a parser one that never says anything, until the page has had its tries."""
        quiet = len(started) < child_processes.TRIES
        process = real([sys.executable, "-c", "import time; time.sleep(60)"] if quiet else command, **options)
        started.append(process.pid)
        return process

    monkeypatch.setattr(child_processes.subprocess, "Popen", silent)
    parser = Parser()
    try:
        parser.submit("still", fetched(b"<title>still</title>"), "https://a.example/x")
        parser.submit("next", fetched(b"<title>next</title>"), "https://a.example/x")
        monkeypatch.setattr(child_processes, "SECONDS", 1.0)
        answers = dict(wait_for(parser, 2, 40.0))
    finally:
        parser.close()
    assert isinstance(answers["still"], Died) and answers["still"].slow
    assert answers["next"].title == "next" and len(started) == child_processes.TRIES + 1


@proves("rule 9", "E2")
def test_a_parser_that_works_too_long_on_a_page_is_replaced_and_the_page_named(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_processes, "SECONDS", 0.4)
    heavy = b"<title>slow</title>" + b"<p>" + b"<b><i>word </i></b>" * 1_200_000
    parser.submit("slow", fetched(heavy), "https://a.example/x")
    parser.submit("next", fetched(b"<title>next</title>"), "https://a.example/x")
    answers = dict(wait_for(parser, 2, 60.0))
    assert isinstance(answers["slow"], Died) and answers["slow"].slow
    assert answers["next"].title == "next"


def test_a_stopped_reader_of_documents_costs_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_reader, "SECONDS", 2.0)
    rtf = b"{\\rtf1 hello world}"
    page = Extracted(types.RTF, "rtf")
    assert document_reader.read_document(rtf, "http://a.org/", page).text == "hello world"
    child = document_reader._child
    assert child is not None
    os.kill(child._process.pid, signal.SIGSTOP)
    again = document_reader.read_document(rtf, "http://a.org/", Extracted(types.RTF, "rtf"))
    assert again.text == "hello world" and "no_text" not in again.flags
    document_reader.close()


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
        assert len(pool._processes) == child_processes.PROCESSES
        assert sorted(token for token, _ in wait_for(pool, 60)) == list(range(60))
        assert pool.active() == 0 and not pool.crowded
    finally:
        pool.close()
