"""Owns: which way of getting bytes a request takes: by the scheme of its address, and by what it needs besides a GET.

A new way is a file that keeps the protocol Transport, and a row in TRANSPORTS. Does not: sign in at forms, watch over
passwords (fetcher), retry, pace. Called by: the fetcher.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, cast

from crawler.values import Fetched, Request

from .curl import CurlTransport
from .sign_in.point_key import NTLM
from .slots import AtOnce, Slots

if TYPE_CHECKING:
    from .requests_fetcher import RequestsTransport

PLAIN, HANDSHAKE = "plain", "handshake"  # modes; a handshake makes a connection that is signed in


class Transport(Protocol):
    """Many GETs at once. One thread uses it: start some, then wait for whichever ends."""

    def start(self, request: Request) -> None:
        """Begin a GET; its answer comes out of a later wait()."""

    def active(self) -> int:
        """How many were started and have not come out of wait()."""

    def wait(self, seconds: float) -> list[Fetched]:
        """The answers that are ready; waits for the first one, but no longer than this."""

    def close(self) -> None:
        """Drop everything under way."""


def mode_of(request: Request) -> str:
    return HANDSHAKE if request.credentials is not None and request.credentials.kind == NTLM else PLAIN


class Transports:
    """All of them as one, each made when something first needs it. libcurl's waits; the others wake it up."""

    def __init__(self, max_connections: int, slots: Slots | None) -> None:
        self.slots = slots or AtOnce()
        self.curl = CurlTransport(max_connections, self.slots)
        self._made: dict[Maker, Transport] = {_curl: self.curl}

    def start(self, request: Request) -> None:
        self.of(request.address.scheme, mode_of(request)).start(request)

    def active(self) -> int:
        return sum(transport.active() for transport in self._made.values())

    def wait(self, seconds: float) -> list[Fetched]:
        curl, *others = self._made.values()
        answers = curl.wait(seconds)
        for transport in others:
            answers += transport.wait(0.0)
        return answers

    def close(self) -> None:
        for transport in reversed(self._made.values()):
            transport.close()

    def of(self, scheme: str, mode: str) -> Transport:
        make = TRANSPORTS[scheme, mode]
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]

    def for_forms(self) -> "RequestsTransport":
        """The one that signs in at forms."""
        return cast("RequestsTransport", self.of("https", HANDSHAKE))


def _curl(others: Transports) -> Transport:
    return others.curl  # there from the beginning: it waits for all


def _requests(others: Transports) -> Transport:
    from .requests_fetcher import RequestsTransport  # requests, NTLM and cryptography: 0.14 s to load

    transport = RequestsTransport(others.slots)
    others.curl.listen(transport.ready)
    return transport


Maker = Callable[[Transports], Transport]
TRANSPORTS: dict[tuple[str, str], Maker] = {
    ("http", PLAIN): _curl, ("https", PLAIN): _curl, ("http", HANDSHAKE): _requests, ("https", HANDSHAKE): _requests,
}  # fmt: skip
