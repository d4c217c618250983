"""Pages behind NTLM, fetched by requests in threads: the same limits, guard and reasons as everywhere."""

import gzip
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clearinghouse.addresses import networks
from clearinghouse.addresses.parsing import split
from crawler.fetch import guarded_connections, requests_exchange, requests_fetcher
from crawler.fetch.fetcher import Fetcher
from crawler.values import REASONS, Credentials, Fetched, Request
from tests.proves import proves
from tests.sites import certificates, ntlm
from tests.sites.misbehaving import Asked, Site, drip, page, raw, redirect

READER = Credentials(3, ntlm.USER, ntlm.PASSWORD)


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ntlm.NtlmSite]:
    monkeypatch.setenv("NTLM_USER_FILE", str(tmp_path / "users"))
    with ntlm.serve(tmp_path / "users") as site:
        yield site


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    fetcher = Fetcher(64)
    yield fetcher
    fetcher.close()


def get(fetcher: Fetcher, *urls: str, credentials: Credentials | None = READER, **options: object) -> list[Fetched]:
    """The answers in the order of the addresses."""
    for number, url in enumerate(urls):
        fetcher.start(Request(url, split(url), credentials=credentials, token=number, **options))  # type: ignore[arg-type]
    answers: list[Fetched] = []
    until = time.monotonic() + 30
    while fetcher.active() and time.monotonic() < until:
        answers += fetcher.wait(1)
    assert fetcher.active() == 0
    return sorted(answers, key=lambda answer: int(answer.request.token))


def test_a_page_behind_ntlm(windows: ntlm.NtlmSite, fetcher: Fetcher) -> None:
    windows.pages["/a?b=%20"] = (200, {"ETag": '"1"', "X-Test": "é"}, b"<p>let in")
    answer = get(fetcher, windows.url("/a?b=%20"))[0]
    assert (answer.status, answer.body, answer.reason, answer.remote) == (200, b"<p>let in", "", "127.0.0.1")
    assert (answer.header("etag"), answer.header("x-test")) == ('"1"', "é")
    assert [word for _, word in windows.seen] == ["", "NTLM", "NTLM"]
    assert answer.received > len(answer.body)


def test_a_connection_that_was_let_in_is_used_again(windows: ntlm.NtlmSite, fetcher: Fetcher) -> None:
    windows.pages = {f"/{n}": (200, {}, b"x") for n in range(40)}
    get(fetcher, windows.url("/0"))
    answers = get(fetcher, *(windows.url(f"/{n}") for n in range(40)))
    assert all(answer.status == 200 for answer in answers)
    assert windows.connections <= requests_fetcher.THREADS
    assert len(windows.seen) <= 41 + 2 * requests_fetcher.THREADS


@proves("G4")
def test_a_wrong_password_is_tried_once_a_page_and_for_three_pages(windows: ntlm.NtlmSite, fetcher: Fetcher) -> None:
    wrong = Credentials(3, ntlm.USER, "wrong")
    answers = get(fetcher, *(windows.url(f"/{n}") for n in range(8)), credentials=wrong)
    assert [answer.status for answer in answers] == [401] * 3 + [0] * 5
    assert {answer.reason for answer in answers[3:]} == {"auth_failed"}
    assert sum(word == "NTLM" for _, word in windows.seen) == 6 and not windows.served


def test_redirects_are_handed_back(windows: ntlm.NtlmSite, fetcher: Fetcher, site: Site) -> None:
    windows.pages["/"] = (302, {"Location": site.url("/"), "Set-Cookie": "a=b; Path=/"}, b"x" * 5_000_000)
    windows.pages["/next"] = (200, {}, b"x")
    first, _ = get(fetcher, windows.url("/"), windows.url("/next"))
    assert (first.status, first.header("location"), first.body, first.reason) == (302, site.url("/"), b"", "")
    assert not site.log


def test_a_server_that_offers_something_else_gets_nothing(site: Site, fetcher: Fetcher) -> None:
    for challenge in ("Basic realm=x", 'Digest realm="x", nonce="1"'):
        site.pages["/"] = page("", f"WWW-Authenticate: {challenge}", status="401 Unauthorized")
        assert get(fetcher, site.url("/"))[0].status == 401
    assert len(site.log) == 2 and not any("authorization" in asked.headers for asked in site.log)


def test_nonsense_instead_of_a_handshake_is_a_refusal(site: Site, fetcher: Fetcher) -> None:
    def nonsense(asked: Asked) -> bytes:
        word = "NTLM AAAA" if asked.headers.get("authorization") else "NTLM"
        return page("", f"WWW-Authenticate: {word}", status="401 Unauthorized")(asked)  # type: ignore[return-value]

    site.pages["/"] = nonsense
    assert get(fetcher, site.url("/"))[0].reason == "auth_failed"
    site.pages["/"] = page(b"x" * 1_000_000, "WWW-Authenticate: NTLM", status="401 Unauthorized")
    answer = get(fetcher, site.url("/"))[0]
    assert (answer.reason, answer.detail) == ("auth_failed", "its refusal is too long to go on signing in")


BAD = {
    "half a head": (raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n"), "cut_short"),
    "a line that hides the length": (
        raw(b"HTTP/1.1 200 OK\r\nX\xc3 y\r\nContent-Length: 9\r\n\r\nabc"),
        "bad_response",
    ),
    "unknown framing": (raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\nabc"), "bad_response"),
    "short": (raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\nabc"), "cut_short"),
    "nothing": (raw(b""), "connect_failed"),
    "nonsense": (raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "bad_response"),
    "endless headers": (raw(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 5000 + b"\r\n"), "bad_response"),
    "picture": (page(b"x" * 9_000_000, kind="image/png"), "type_not_allowed"),
    "bad gzip": (page(b"no gzip", "Content-Encoding: gzip"), "decode_failed"),
    "half gzip": (page(gzip.compress(os.urandom(999))[:-9], "Content-Encoding: gzip"), "decode_failed"),
    "odd chunks": (raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "cut_short"),
    "no location": (page(b"", status="302 Found"), "bad_response"),
}


@proves("D10")
@pytest.mark.parametrize("name", BAD)
def test_trouble_has_the_same_names_as_with_libcurl(site: Site, fetcher: Fetcher, name: str) -> None:
    site.pages["/"], reason = BAD[name]
    answer = get(fetcher, site.url("/"))[0]
    assert (answer.reason, answer.body) == (reason, b"") and answer.reason in REASONS


def test_sizes_count_unpacked_bytes(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = page(gzip.compress(b"a" * 30_000_000), "Content-Encoding: gzip")
    answer = get(fetcher, site.url("/"))[0]
    assert (len(answer.body), answer.truncated, answer.reason) == (10_000_000, True, "")
    assert answer.received < 100_000


@proves("D4")
@pytest.mark.parametrize("where", ["headers", "body"])
def test_a_dripping_server_is_left_at_the_deadline(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr(requests_exchange, "WHOLE_SECONDS", 1)
    head = b"HTTP/1.1 200 OK\r\n" + (b"" if where == "headers" else b"Content-Type: text/html\r\n\r\n")
    site.pages["/"] = drip(head, b"a", 0.1)
    began = time.monotonic()
    assert get(fetcher, site.url("/"))[0].reason == "timeout"
    assert time.monotonic() - began < 10


@proves("D4")
def test_a_page_may_not_be_too_slow(site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded_connections, "SLOW_SECONDS", 1)
    site.pages["/slow"] = drip(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"a" * 20, 0.1)
    site.pages["/fine"] = drip(b"HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n", b"a" * 300, 0.1, 20)
    answers = get(fetcher, site.url("/slow"), site.url("/fine"))
    assert [answer.reason for answer in answers] == ["too_slow", ""]


def test_over_https_the_password_is_bound_to_the_certificate(
    tmp_path: Path, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = certificates.make(tmp_path)
    monkeypatch.setenv("NTLM_USER_FILE", str(tmp_path / "users"))
    with ntlm.serve(tmp_path / "users", authority) as site:
        site.pages["/"] = (200, {}, b"let in")
        assert get(fetcher, site.url("/"))[0].reason == "tls_failed" and not site.seen
        monkeypatch.setattr(requests_exchange.certifi, "where", lambda: str(authority.file))
        answers = get(Fetcher(4), site.url("/"))
        assert [(answer.status, answer.body, answer.reason) for answer in answers] == [(200, b"let in", "")]
        site.bound_to = b"tls-server-end-point:" + b"another certificate's digest...."
        assert get(Fetcher(4), site.url("/"))[0].status == 401


def test_addresses_that_are_not_allowed_are_not_connected_to(
    site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "")
    networks.forget_settings()
    try:
        answer = get(fetcher, site.url("/"))[0]
        named = get(fetcher, f"http://localhost:{site.port}/")[0]
    finally:
        monkeypatch.undo()
        networks.forget_settings()
    assert (answer.reason, answer.detail) == ("address_refused", "127.0.0.1")
    assert (named.reason, named.detail) == ("address_refused", "localhost")  # not what the name stands for
    assert site.connections == 0


def test_nothing_of_the_environment_is_used(
    windows: ntlm.NtlmSite, fetcher: Fetcher, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTP_PROXY", site.url("/"))
    monkeypatch.setenv("http_proxy", site.url("/"))
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    windows.pages["/"] = (200, {}, b"x")
    assert get(fetcher, windows.url("/"))[0].status == 200
    assert site.connections == 0


def test_an_unknown_host_and_a_closed_port(fetcher: Fetcher) -> None:
    with Site() as gone:
        pass
    answers = get(fetcher, "http://no-such-host.invalid/", gone.url("/"))
    assert [answer.reason for answer in answers] == ["dns_failed", "connect_failed"]


def test_validators_cookies_and_our_name_are_sent(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = raw(b"HTTP/1.1 304 Not Modified\r\n\r\n")
    answer = get(fetcher, site.url("/"), etag='"1"', last_modified="Thu, 01 Jan 2026 00:00:00 GMT", cookies="a=b")[0]
    headers = site.log[0].headers
    assert (answer.status, answer.reason) == (304, "")
    assert (headers["if-none-match"], headers["cookie"]) == ('"1"', "a=b")
    assert headers["user-agent"].startswith("ClearinghouseWebCrawl/") and "zstd" in headers["accept-encoding"]


def test_the_address_goes_out_as_it_is(site: Site, fetcher: Fetcher) -> None:
    target = "//a|b/%7e/[x]^/'q'?a=%2f|{}&b=[]"
    get(fetcher, site.url(target))
    assert site.log[0].target == target


@proves("D20")
def test_redirect_bodies_are_not_swallowed(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = drip(b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", b"x" * 65_536, 0.0)
    began = time.monotonic()
    assert get(fetcher, site.url("/"))[0].status == 302
    assert time.monotonic() - began < 10  # the body never ends


def test_one_loop_waits_for_both_ways(windows: ntlm.NtlmSite, fetcher: Fetcher, site: Site) -> None:
    windows.pages["/"], site.pages["/"] = (200, {}, b"ntlm"), redirect("/x")
    fetcher.start(Request(windows.url("/"), split(windows.url("/")), credentials=READER))
    fetcher.start(Request(site.url("/"), split(site.url("/"))))
    seen: list[int] = []
    while fetcher.active():
        seen += [answer.status for answer in fetcher.wait(1)]
    assert sorted(seen) == [200, 302]


def test_closing_does_not_wait_for_a_dripping_server(site: Site) -> None:
    site.pages["/"] = drip(b"HTTP/1.1 200 OK\r\n", b"a", 0.1)
    fetcher = Fetcher(4)
    fetcher.start(Request(site.url("/"), split(site.url("/")), credentials=READER))
    time.sleep(0.3)
    began = time.monotonic()
    fetcher.close()
    assert time.monotonic() - began < 10  # the server never ends
