"""Fetching from servers that behave and from servers that do not."""

import gzip
import ssl
import time
from collections.abc import Iterator

import pycurl
import pytest

from clearinghouse.addresses import Address, networks
from clearinghouse.addresses.parsing import parse
from crawler.fetch import curl_transfer
from crawler.fetch.curl import CurlTransport
from crawler.values import REASONS, Credentials, Fetched, Request
from tests.proves import proves
from tests.sites import certificates
from tests.sites.misbehaving import Asked, Site, drip, page, raw, redirect

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def request(url: str, **options: object) -> Request:
    address = parse(url)
    assert isinstance(address, Address)
    return Request(url, address, **options)  # type: ignore[arg-type]


def fetch_all(*requests: Request) -> list[Fetched]:
    """The answers in the order of the requests."""
    fetcher = CurlTransport(64)
    for index, one in enumerate(requests):
        fetcher.start(Request(**{**{name: getattr(one, name) for name in one.__slots__}, "token": index}))
    answers: list[Fetched] = []
    until = time.monotonic() + 90
    while fetcher.active() and time.monotonic() < until:
        answers += fetcher.wait(1)
    assert fetcher.active() == 0
    fetcher.close()
    return sorted(answers, key=lambda answer: int(answer.request.token))


def fetch(url: str, **options: object) -> Fetched:
    return fetch_all(request(url, **options))[0]


def test_a_page_comes_with_its_status_headers_and_body(site: Site) -> None:
    site.pages["/"] = page("<p>hello", "X-Test: one", 'ETag: "1"')
    answer = fetch(site.url("/"))
    assert (answer.status, answer.body, answer.reason, answer.truncated) == (200, b"<p>hello", "", False)
    assert (answer.header("x-test"), answer.header("etag"), answer.remote) == ("one", '"1"', "127.0.0.1")
    assert answer.received > len(answer.body)


def test_the_request_says_who_we_are_and_little_else(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_CONTACT", "crawl@example.org")
    site.pages["/"] = page("x")
    fetch(site.url("/?q=%C3%A9"))
    asked = site.log[0]
    assert (asked.method, asked.target) == ("GET", "/?q=%C3%A9")
    assert asked.headers["user-agent"].startswith("ClearinghouseWebCrawl/")
    assert asked.headers["user-agent"].endswith("(+crawl@example.org)")
    assert set(asked.headers) == {"host", "user-agent", "accept", "accept-encoding"}


def test_validators_and_cookies_are_sent_when_given(site: Site) -> None:
    site.pages["/"] = raw(b"HTTP/1.1 304 Not Modified\r\n\r\n")
    answer = fetch(site.url("/"), etag='"1"', last_modified="Thu, 01 Jan 2026 00:00:00 GMT", cookies="a=b")
    assert (answer.status, answer.reason) == (304, "")
    headers = site.log[0].headers
    assert (headers["if-none-match"], headers["cookie"]) == ('"1"', "a=b")
    assert headers["if-modified-since"] == "Thu, 01 Jan 2026 00:00:00 GMT"


@proves("D21")
def test_headers_that_are_not_ascii_are_read_and_sent_back(site: Site) -> None:
    site.pages["/"] = redirect("/caf\u00e9")
    assert fetch(site.url("/"), etag='"\u00e9"').header("location") == "/caf\u00e9"
    assert site.log[0].headers["if-none-match"] == '"\u00c3\u00a9"'


def test_a_line_break_in_a_header_is_never_sent(site: Site) -> None:
    assert fetch(site.url("/"), cookies="a=b\r\nX: y").reason == "error"
    assert site.log == []


def test_connections_are_used_again(site: Site) -> None:
    site.pages["/"] = page("x")
    fetcher = CurlTransport(8)
    for _ in range(20):
        fetcher.start(request(site.url("/")))
        while fetcher.active():
            fetcher.wait(1)
    fetcher.close()
    assert (len(site.log), site.connections) == (20, 1)


def test_many_at_once_come_out_each_with_its_own_body(site: Site) -> None:
    for number in range(100):
        site.pages[f"/{number}"] = page(f"page {number}")
    answers = fetch_all(*(request(site.url(f"/{number}")) for number in range(100)))
    assert [answer.body for answer in answers] == [f"page {number}".encode() for number in range(100)]


def test_waiting_ends_when_something_is_ready_or_the_time_is_over(site: Site) -> None:
    site.pages["/slow"] = drip(HEAD + b"\r\n", b"x", 0.5, 4)
    fetcher = CurlTransport(8)
    started = time.monotonic()
    assert fetcher.wait(0.05) == []
    fetcher.start(request(site.url("/slow")))
    assert fetcher.wait(0.1) == []
    assert time.monotonic() - started < 2  # the two waits are over, the answer is not there yet
    assert len(fetcher.wait(30)) == 1
    assert time.monotonic() - started < 20
    fetcher.close()


# -- answers that are no pages ----------------------------------------------------------------------------------


@proves("I10", "D7", "D8", "D9", "D10", "D11", "D12", "D13", "D29")
@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (raw(b"HTTP/1.1 204 No Content\r\n\r\n"), 204, ""),
        (page("x", status="206 Partial Content"), 206, "bad_response"),
        (raw(b"HTTP/1.1 304 Not Modified\r\n\r\n"), 304, "bad_response"),
        (page("x", status="300 Multiple Choices"), 300, "bad_response"),
        (redirect(""), 302, "bad_response"),
        (page("", "Location: /a", "Location: /b", status="302 Found"), 302, "bad_response"),
        (page("", "Location: /a", "Location: /a", status="302 Found"), 302, ""),
        (page("x", status="404 Not Found"), 404, ""),
        (page("x", status="503 Busy"), 503, ""),
        (page("x", status="999 What"), 999, "bad_response"),
        (raw(b"<html>no status line"), 0, "bad_response"),
        (raw(b""), 0, "bad_response"),
        (raw(HEAD + b"Content-Length: 100\r\n\r\nshort"), 200, "cut_short"),
        (raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n"), 200, "cut_short"),
        (raw(HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"), 200, "bad_response"),
        (raw(HEAD + b"Content-Length: 9"), 200, "cut_short"),
        (raw(HEAD + b"Content-Length: 9\r\n"), 200, "cut_short"),
        (raw(HEAD + b"Content-Length: 9\r\nTransfer-Encoding:\r\n\r\nshort"), 200, "cut_short"),
        (raw(HEAD + b"Transfer-Encoding: xchunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"), 200, "decode_failed"),
        (raw(HEAD + b"Content-Length: thousand\r\n\r\nabcde"), 200, ""),
        (raw(HEAD + b"Content-Length: -1\r\n\r\nabcde"), 200, ""),
        (raw(HEAD + b"X: " + b"y" * 500_000 + b"\r\n\r\nx"), 200, "bad_response"),
        (raw(HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(5_000)) + b"\r\nx"), 200, "bad_response"),
        (raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 50 + HEAD + b"\r\nx"), 100, "bad_response"),
        (page("plain", "Content-Encoding: gzip"), 200, "decode_failed"),
        (page(gzip.compress(b"x" * 10_000)[:-20], "Content-Encoding: gzip"), 200, "decode_failed"),
        (page("x", "Content-Encoding: " + ", ".join(["gzip"] * 20)), 200, "decode_failed"),
        (page("x", "Content-Encoding: utf-8"), 200, ""),
        (page("\x89PNG", kind="image/png"), 200, "type_not_allowed"),
        (page(bytes(range(32)), kind="application/octet-stream"), 200, "type_not_allowed"),
        (page("", kind="video/mp4"), 200, "type_not_allowed"),
        (page(""), 200, ""),
    ],
)  # fmt: skip
def test_every_odd_answer_has_its_reason(site: Site, answer: object, status: int, reason: str) -> None:
    site.pages["/"] = answer  # type: ignore[assignment]
    found = fetch(site.url("/"))
    assert (found.status, found.reason) == (status, reason), found.detail
    assert reason == "" or reason in REASONS
    assert found.body == b"" or reason == ""


@proves("D8")
def test_a_broken_compression_is_asked_for_again_without(site: Site) -> None:
    site.pages["/"] = page("plain", "Content-Encoding: gzip")
    answer = fetch(site.url("/"), identity_encoding=True)
    assert (answer.body, answer.reason) == (b"plain", "")
    assert site.log[0].headers["accept-encoding"] == "identity"


@proves("D1")
def test_nothing_listens() -> None:
    with Site() as gone:
        url = gone.url("/")
    assert fetch(url).reason == "connect_failed"


@proves("D2")
def test_an_unknown_host(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetch("http://no-such-host.invalid/").reason == "dns_failed"


# -- limits -----------------------------------------------------------------------------------------------------


@proves("rule 13", "I10", "D5", "D6")
def test_a_long_page_is_cut_and_flagged(site: Site) -> None:
    site.pages["/"] = drip(HEAD + b"\r\n", b"x" * 1_000_000, 0)
    answer = fetch(site.url("/"))
    assert (answer.reason, answer.truncated, len(answer.body)) == ("", True, 10_000_000)
    assert answer.received < 12_000_000


@proves("rule 13", "D5")
def test_a_long_document_is_refused(site: Site) -> None:
    site.pages["/"] = drip(b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n%PDF-", b"x" * 1_000_000, 0)
    answer = fetch(site.url("/"))
    assert (answer.reason, answer.body) == ("too_large", b"")


def test_a_document_that_says_it_is_too_long_is_not_waited_for(site: Site) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 60000000\r\n\r\n%PDF-"
    site.pages["/"] = drip(head, b"x", 5)
    answer = fetch(site.url("/"))
    assert (answer.reason, answer.detail, answer.received < 1000) == ("too_large", "50 MB", True)


@proves("rule 13", "D7")
def test_a_bomb_is_cut_by_what_it_unpacks_to(site: Site) -> None:
    site.pages["/"] = page(gzip.compress(b"x" * 200_000_000), "Content-Encoding: gzip")
    answer = fetch(site.url("/"))
    assert (answer.truncated, len(answer.body)) == (True, 10_000_000)


@proves("D20")
@pytest.mark.parametrize("status", ["302 Found", "401 Unauthorized", "404 Not Found", "500 Oops"])
def test_the_endless_body_of_an_answer_nobody_reads_is_not_read(site: Site, status: str) -> None:
    head = f"HTTP/1.1 {status}\r\nLocation: /x\r\n\r\n".encode()
    site.pages["/"] = drip(head, b"x" * 100_000, 0)
    answer = fetch(site.url("/"))
    assert (answer.status, answer.reason, answer.body) == (int(status[:3]), "", b"")
    assert answer.received < 1_000_000


@proves("rule 13")
def test_a_picture_is_not_read_beyond_its_headers(site: Site) -> None:
    site.pages["/"] = drip(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", b"x" * 100_000, 0)
    answer = fetch(site.url("/"))
    assert (answer.reason, answer.detail) == ("type_not_allowed", "image/png")
    assert answer.received < 1_000_000


# -- where it connects, and what it shows there -----------------------------------------------------------------


def test_a_refused_network_is_never_connected_to(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "")
    networks.forget_settings()
    try:
        for host in ("127.0.0.1", "localhost", "127.1", "[::ffff:7f00:1]"):
            answer = fetch(f"http://{host}:{site.port}/")
            assert answer.reason == "address_refused" and answer.detail in (host, answer.request.address.host)
    finally:
        monkeypatch.undo()
        networks.forget_settings()
    assert (site.log, site.connections) == ([], 0)


def test_nothing_of_the_environment_is_trusted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1/")
    site.pages["/"] = page("x")
    assert fetch(site.url("/")).body == b"x"


@pytest.mark.parametrize("place", ["/there", "file:///etc/passwd"])
def test_redirects_are_handed_back_not_followed(site: Site, place: str) -> None:
    site.pages |= {"/": redirect(place), "/there": page("x")}
    answer = fetch(site.url("/"))
    assert (answer.status, answer.header("location"), len(site.log)) == (302, place, 1)


@proves("G1")
def test_basic_credentials_are_sent_as_utf_8(site: Site) -> None:
    site.pages["/"] = page("x")
    fetch(site.url("/"), credentials=Credentials(1, "Aladdin", "open sesame"))
    fetch(site.url("/"), credentials=Credentials(1, "test", "123£"))
    fetch(site.url("/"))
    assert [asked.headers.get("authorization") for asked in site.log] == [
        "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic dGVzdDoxMjPCow==", None,
    ]  # fmt: skip


def _challenge(asked: Asked) -> bytes:
    if asked.headers.get("authorization", "").startswith("Digest "):
        return page("let in")(asked)  # type: ignore[return-value]
    challenges = ('WWW-Authenticate: Basic realm="r"', 'WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"')
    return page("", *challenges, status="401 Unauthorized")(asked)  # type: ignore[return-value]


@proves("G3")
def test_digest_answers_a_digest_challenge_and_never_a_basic_one(site: Site) -> None:
    site.pages["/digest"] = _challenge
    site.pages["/basic"] = page("", 'WWW-Authenticate: Basic realm="r"', status="401 Unauthorized")
    answer = fetch(site.url("/digest"), credentials=Credentials(2, "user", "pw"))
    assert (answer.body, len(site.log)) == (b"let in", 2)
    answer = fetch(site.url("/basic"), credentials=Credentials(2, "user", "pw"))
    assert (answer.status, len(site.log)) == (401, 3)
    assert "basic" not in str([asked.headers for asked in site.log]).lower()


def test_a_digest_password_is_forgotten_with_its_request(site: Site) -> None:
    site.pages["/"] = _challenge
    fetcher = CurlTransport(4)
    for credentials in (Credentials(2, "user", "pw"), None):
        fetcher.start(request(site.url("/"), credentials=credentials))
        while fetcher.active():
            fetcher.wait(1)
    fetcher.close()
    assert ["authorization" in asked.headers for asked in site.log] == [False, True, False]


def test_a_kind_of_sign_in_this_transport_does_not_know_is_not_crawled_anonymously(site: Site) -> None:
    assert fetch(site.url("/"), credentials=Credentials(3, "user", "pw")).reason == "auth_failed"
    assert site.log == []


# -- time -------------------------------------------------------------------------------------------------------


@proves("rule 13", "D4")
@pytest.mark.parametrize("where", ["headers", "body"])
def test_a_server_that_drips_is_too_slow(site: Site, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setattr(curl_transfer, "SLOW_SECONDS", 2)
    head = b"HTTP/1.1 200 OK\r\nX: " if where == "headers" else HEAD + b"\r\n"
    site.pages["/"] = drip(head, b"x", 0.2)
    started = time.monotonic()
    assert fetch(site.url("/")).reason == "too_slow"
    assert time.monotonic() - started < 15


@proves("rule 13", "D4")
def test_a_page_that_never_ends_runs_into_the_deadline(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curl_transfer, "WHOLE_SECONDS", 1)
    site.pages["/"] = drip(HEAD + b"\r\n", b"x" * 2_000, 0.1)
    started = time.monotonic()
    assert fetch(site.url("/")).reason == "timeout"
    assert time.monotonic() - started < 10


# -- TLS --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def self_signed(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    return certificates.make(tmp_path_factory.mktemp("tls")).server


@proves("rule 18", "D3")
def test_a_bad_certificate_is_accepted_only_where_the_crawl_point_says_so(self_signed: ssl.SSLContext) -> None:
    with Site(tls=self_signed) as site:
        site.pages["/"] = page("secret")
        assert fetch(site.url("/")).reason == "tls_failed"
        assert fetch(site.url("/"), accept_bad_certificate=True).body == b"secret"


@proves("D3")
@pytest.mark.parametrize("shown", [{"credentials": Credentials(1, "user", "pw")}, {"cookies": "a=b"}])
def test_nothing_secret_is_shown_to_a_bad_certificate(self_signed: ssl.SSLContext, shown: dict[str, object]) -> None:
    with Site(tls=self_signed) as site:
        site.pages["/"] = page("secret")
        plain, secret = (
            request(site.url("/"), accept_bad_certificate=True),
            request(site.url("/"), accept_bad_certificate=True, **shown),
        )
        fetcher = CurlTransport(4)
        reasons = []
        for one in (plain, secret):
            fetcher.start(one)
            while fetcher.active():
                reasons += [answer.reason for answer in fetcher.wait(1)]
        fetcher.close()
        assert reasons == ["", "tls_failed"]
        assert len(site.log) == 1


def test_what_was_on_the_wire_is_not_held_and_not_heard(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """No request is recorded: libcurl is not told to call anybody with what it sends, whatever the answer takes."""
    options: set[int] = set()

    class Watched(pycurl.Curl):
        def setopt(self, option: int, value: object) -> None:
            options.add(option)
            super().setopt(option, value)

    monkeypatch.setattr(curl_transfer.pycurl, "Curl", Watched)
    site.pages["/"] = page("<p>hello")
    site.pages["/broken"] = raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: none\r\n\r\n<p>twice")
    site.pages["/challenge"] = raw(
        b'HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm="r", nonce="n"\r\nContent-Length: 0\r\n\r\n'
    )
    digest = Credentials(2, "u", "p")
    answers = fetch_all(*(request(site.url(path)) for path in ("/", "/broken")),
                        request(site.url("/challenge"), credentials=digest))  # fmt: skip
    assert [answer.status for answer in answers] == [200, 200, 401]
    assert not any(answer.request.record or answer.exchanges for answer in answers)
    assert {pycurl.WRITEFUNCTION, pycurl.HEADERFUNCTION, pycurl.IGNORE_CONTENT_LENGTH, pycurl.TIMEOUT_MS} <= options
    assert not {pycurl.DEBUGFUNCTION, pycurl.VERBOSE} & options
