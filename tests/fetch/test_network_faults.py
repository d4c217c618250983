"""What networks do to a fetch: certificates that are wrong in one way, connections that die, families that are dead."""

import socket
import ssl
import warnings
from pathlib import Path

import pytest

from clearinghouse.addresses import networks
from crawler.engine.response_kind import retry_after
from crawler.fetch import curl_transfer
from crawler.fetch.curl import CurlTransport
from tests.hostile.fetching import fetch_all, request
from tests.proves import proves
from tests.sites import certificates
from tests.sites.misbehaving import Site, page, raw


@proves("D3")
@pytest.mark.parametrize(
    ("days", "host", "newest", "reason"),
    [
        (1, "127.0.0.1", ssl.TLSVersion.TLSv1_3, ""),
        (-1, "127.0.0.1", ssl.TLSVersion.TLSv1_3, "tls_failed"),
        (1, "localhost", ssl.TLSVersion.TLSv1_3, "tls_failed"),
        (1, "127.0.0.1", ssl.TLSVersion.TLSv1_1, "tls_failed"),
    ],
    ids=["good", "over", "another host's", "old protocol"],
)
def test_a_certificate_must_be_good_in_every_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, host: str, newest: ssl.TLSVersion, reason: str
) -> None:
    authority = certificates.make(tmp_path, days)
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # it is what is tested
        authority.server.minimum_version, authority.server.maximum_version = ssl.TLSVersion.MINIMUM_SUPPORTED, newest
    monkeypatch.setattr(curl_transfer.certifi, "where", lambda: str(authority.file))
    with Site(tls=authority.server) as site:
        site.pages["/"] = page("x")
        (answer,) = fetch_all(CurlTransport(), [request(f"https://{host}:{site.port}/")])
    assert answer.reason == reason


@proves("D26")
def test_a_connection_that_died_meanwhile_costs_nothing() -> None:
    with Site() as site:
        site.pages["/"] = raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\r\nx")
        fetcher = CurlTransport()
        for _ in range(5):
            fetcher.start(request(site.url("/")))
            (answer,) = fetcher.wait(5)
            assert (answer.body, answer.reason) == (b"x", "")
        fetcher.close()


@proves("D28")
def test_a_name_with_a_dead_and_a_living_address_is_reached() -> None:
    """localhost is ::1 to many, where nobody listens and nobody may."""
    with Site() as site:
        site.pages["/"] = page("x")
        (answer,) = fetch_all(CurlTransport(), [request(f"http://localhost:{site.port}/")])
        assert (answer.body, answer.remote) == (b"x", "127.0.0.1")
        assert answer.milliseconds < 5_000


@proves("D28")
@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="this machine has no IPv6")
def test_a_site_may_have_an_address_of_the_new_kind_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "::1/128")
    networks.forget_settings()
    try:
        with Site("::1") as site:
            site.pages["/"] = page("x")
            (answer,) = fetch_all(CurlTransport(), [request(site.url("/"))])
            assert (answer.body, answer.remote) == (b"x", "::1")
    finally:
        monkeypatch.undo()
        networks.forget_settings()


@proves("D24")
@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120.0), ("0", 0.0), ("99999999999999999999", 6 * 3600.0), ("Thu, 01 Jan 1970 00:02:00 GMT", 120.0),
        ("Mon, 01 Jan 1900 00:00:00 GMT", 0.0), ("Fri, 31 Dec 9999 23:59:59 GMT", 6 * 3600.0),
    ],
)  # fmt: skip
def test_a_site_says_how_long_to_wait(said: str, seconds: float) -> None:
    assert retry_after(said, 0.0) == seconds


@proves("D24")
@pytest.mark.parametrize("said", ["", "-1", "soon", "1.5.2", "٣", "²", "Thu, 99 Foo 2038", "1e99", "\x00"])
def test_nonsense_about_waiting_breaks_nothing(said: str) -> None:
    assert 0.0 <= retry_after(said, 0.0) <= 6 * 3600.0


def test_nothing_listens_where_nobody_answers() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        (answer,) = fetch_all(CurlTransport(), [request(f"http://127.0.0.1:{silent.getsockname()[1]}/")])
    assert (answer.reason, answer.status) == ("connect_failed", 0)
