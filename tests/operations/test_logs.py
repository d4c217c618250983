"""Whatever a site says, it writes no line of its own into a log and moves no cursor (threat T27)."""

import base64
import io
import json
import logging
import logging.config
import re
import time
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.test import Client

from clearinghouse.operations.logs import OneObject, about, escaped, without_secrets
from crawler.engine.page_outcome import OutcomeReader
from crawler.models import LedgerEntry, Run
from tests.crawler.conftest import crawl, make_document
from tests.security.canary import CANARY, found_in
from tests.sites.misbehaving import Site, page

FORGED = "x\r\n2026-11-18 10:00:00,000 ERROR   root: forged\x1b[31m\x07\x9b2J\u202e\x00"
ATTACK = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """A logger as the settings make them, on a stream of ours."""
    logging.config.dictConfig(settings.LOGGING)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.getLogger().handlers[0].formatter)
    logger = logging.getLogger("crawler")
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)


def assert_harmless(text: str) -> None:
    assert "forged" in text
    assert ATTACK.findall(text) == []
    assert [line for line in text.splitlines() if line.startswith("2026-11-18 10:00:00")] == []


def test_a_message_is_one_line_however_it_is_given(log: io.StringIO) -> None:
    logging.getLogger("crawler.x").warning("A site said %s", FORGED)
    assert_harmless(log.getvalue())
    assert log.getvalue().count("\n") == 1


@pytest.mark.django_db(databases=["default", "webcrawl"])
def test_a_fault_over_a_page_writes_what_the_page_says_as_escapes(
    log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise ValueError(FORGED)

    monkeypatch.setattr(OutcomeReader, "store", broken)
    with Site() as site:
        site.pages["/"] = page("x")
        run: Run = crawl(make_document({"url": site.url("/")}), ignore_robots=True)
    row = LedgerEntry.objects.get(excursion__run=run)
    assert row.reason == "error" and "forged" in row.detail + row.excursion.error
    assert "\0" not in row.detail + row.excursion.error, "PostgreSQL would refuse it, and the crawl never end"
    assert_harmless(log.getvalue())
    assert "Traceback" in log.getvalue()


@pytest.mark.parametrize("odd", ["\ud800", "\u2028", "\x85", "a\tb"])
def test_odd_signs_are_written_out(odd: str) -> None:
    assert escaped(odd).isprintable()
    escaped(odd).encode()


def test_what_people_write_stays_as_it_is() -> None:
    words = "Größe, 中文, Ελλάδα – 'quoted' \\ %s {}"
    assert escaped(words) == words


# -- CLEARINGHOUSE_LOG_FORMAT=json --------------------------------------------------------------------------------


@pytest.fixture
def objects() -> Iterator[io.StringIO]:
    """A logger that writes JSON, on a stream of ours."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(OneObject())
    logger = logging.getLogger("crawler.json")
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)


def test_a_line_is_one_object_with_what_it_is_about(objects: io.StringIO) -> None:
    with about(run=7), about(request="3f2a"):
        logging.getLogger("crawler.json").warning("A site said %s", FORGED)
    logging.getLogger("crawler.json").warning("Later")
    first, second = map(json.loads, objects.getvalue().splitlines())
    assert (first["level"], first["logger"], first["run"], first["request"]) == ("WARNING", "crawler.json", 7, "3f2a")
    assert first["message"] == f"A site said {FORGED}" and first["time"].endswith("+00:00")
    assert "run" not in second
    assert ATTACK.findall(objects.getvalue()) == [] and objects.getvalue().isascii()


def test_a_traceback_is_part_of_its_object(objects: io.StringIO) -> None:
    try:
        raise ValueError(FORGED)
    except ValueError:
        logging.getLogger("crawler.json").exception("It failed")
    [told] = map(json.loads, objects.getvalue().splitlines())
    assert told["trace"].startswith("Traceback") and "test_logs.py" in told["trace"]


@pytest.mark.parametrize(
    "spelled",
    [
        "https://reader:{}@quality.example.gov/",
        "password={}",
        "token: '{}'",
        '{{"api_key": "{}"}}',
        "Authorization: Bearer {}",
        "Authorization: Basic {}",
    ],
)
def test_neither_form_of_the_log_tells_a_password_or_a_key(
    spelled: str, log: io.StringIO, objects: io.StringIO
) -> None:
    secret = CANARY if "Authorization" not in spelled else base64.b64encode(CANARY.encode()).decode()
    for name in ("crawler.x", "crawler.json"):
        logging.getLogger(name).error("It said " + spelled.format(secret))
    assert log.getvalue() and objects.getvalue()
    assert found_in(log.getvalue() + objects.getvalue()) == []


def test_an_answer_names_the_request_as_the_log_does(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Client().get("/healthz")["X-Request-Id"]
    assert re.fullmatch(r"[0-9a-f]{16}", made)
    given = {"X-Request-Id": "from-the-proxy-1"}
    assert Client().get("/healthz", headers=given)["X-Request-Id"] != "from-the-proxy-1"
    monkeypatch.setenv("CLEARINGHOUSE_BEHIND_PROXY", "1")
    assert Client().get("/healthz", headers=given)["X-Request-Id"] == "from-the-proxy-1"
    assert Client().get("/healthz", headers={"X-Request-Id": 'x" forged'})["X-Request-Id"] != 'x" forged'
    monkeypatch.setenv("CLEARINGHOUSE_BEHIND_PROXY", "10.0.0.5")
    assert Client(REMOTE_ADDR="10.0.0.5").get("/healthz", headers=given)["X-Request-Id"] == "from-the-proxy-1"
    assert Client().get("/healthz", headers=given)["X-Request-Id"] != "from-the-proxy-1"


@pytest.mark.parametrize("piece", ["_pw", "password=,", "password ", "://a", "bearer ", "token", "api_key' ", "_pw_ "])
def test_no_line_takes_long_to_be_written(piece: str) -> None:
    """An address that somebody asks for, or what a site says, is 64 KB of anything: 15 seconds, before."""
    text = piece * (64_000 // len(piece))
    began = time.process_time()
    without_secrets(text)
    assert time.process_time() - began < 0.5


@pytest.mark.django_db(databases="__all__")
def test_what_a_visitor_causes_at_will_is_one_line(log: io.StringIO, client: Client) -> None:
    """A forged host name was 14 lines of our code, for each request."""
    stderr = logging.getLogger().handlers[0]
    assert isinstance(stderr, logging.StreamHandler)
    before = stderr.setStream(log)
    try:
        assert client.get("/search/", headers={"Host": "evil.example"}).status_code == 400
    finally:
        stderr.setStream(before)
    said = log.getvalue().splitlines()
    assert len(said) == 1 and "evil.example" in said[0]
