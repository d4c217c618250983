"""Which way of getting bytes a request takes."""

import pytest

from clearinghouse.addresses import Address
from crawler.fetch import transports
from crawler.fetch.curl import CurlTransport
from crawler.fetch.requests_fetcher import RequestsTransport
from crawler.fetch.transports import HANDSHAKE, PLAIN, Transport, Transports
from crawler.values import Credentials, Fetched, Request

PAGE = Request("https://a.org/", Address("https://a.org/", "https", "a.org", 443, "/", ""))


class Telegraph:
    """A way of getting bytes that did not exist before."""

    def __init__(self) -> None:
        self.waiting: list[Fetched] = []
        self.closed = False

    def start(self, request: Request) -> None:
        self.waiting.append(Fetched(request, 200, body=b"stop"))

    def active(self) -> int:
        return len(self.waiting)

    def wait(self, seconds: float) -> list[Fetched]:
        answers, self.waiting = self.waiting, []
        return answers

    def close(self) -> None:
        self.closed = True


def test_a_new_scheme_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    telegraph = Telegraph()
    monkeypatch.setitem(transports.TRANSPORTS, ("telegraph", PLAIN), lambda _: telegraph)
    every = Transports(4, None)
    every.start(Request("telegraph://a/", Address("telegraph://a/", "telegraph", "a", 0, "/", "")))
    assert every.active() == 1
    assert [answer.body for answer in every.wait(0.0)] == [b"stop"]
    assert every.active() == 0
    every.close()
    assert telegraph.closed


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_libcurl_gets_all_but_a_handshake(scheme: str) -> None:
    every = Transports(4, None)
    try:
        made: dict[str, Transport] = {mode: every.of(scheme, mode) for mode in (PLAIN, HANDSHAKE)}
        assert isinstance(made[PLAIN], CurlTransport)
        assert isinstance(made[HANDSHAKE], RequestsTransport)
        assert every.of("https", HANDSHAKE) is made[HANDSHAKE]  # one for both schemes
    finally:
        every.close()


def test_only_ntlm_needs_a_handshake_of_its_own() -> None:
    kinds = {kind: Request(PAGE.url, PAGE.address, credentials=Credentials(kind, "u", "p")) for kind in (1, 2, 3)}
    assert transports.mode_of(PAGE) == PLAIN
    assert {kind: transports.mode_of(one) for kind, one in kinds.items()} == {1: PLAIN, 2: PLAIN, 3: HANDSHAKE}
