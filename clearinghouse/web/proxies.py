"""Owns: whose word about a visitor is believed: that of the reverse proxies CLEARINGHOUSE_BEHIND_PROXY names.

Everybody can send X-Forwarded-For and X-Forwarded-Proto; from anybody else they are taken off the request before
anything reads them. `1` means proxies on this machine: whoever connects from a loopback address or by a socket file.
Does not: know what the headers are good for. Called by: settings (the middleware, and a refusal of nonsense), doors.
"""

import logging
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse

from clearinghouse import env

Network = IPv4Network | IPv6Network

FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PORT")
TAKEN_OFF = "clearinghouse.taken_off"  # which of them a stranger sent: somebody may stand between us and the visitor
_HERE = "127.0.0.0/8,::1"

log = logging.getLogger(__name__)


class OwnProxiesOnly:
    """The first middleware: behind it a forwarded header is the word of a proxy of ours, or it is not there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        peer = str(request.META.get("REMOTE_ADDR", ""))
        if not trusted(peer):
            said = [name for name in FORWARDED if request.META.pop(name, None) is not None]
            request.META[TAKEN_OFF] = said
            if "HTTP_X_FORWARDED_PROTO" in said:  # web servers believe who is on this machine, and called it https
                request.META["wsgi.url_scheme"] = "http"
            if said and networks():
                _tell_once(peer)
        return self.get_response(request)


def trusted(peer: str) -> bool:
    """Whether who connects from this address is a proxy of ours; a socket file has no address."""
    return _is_in(peer, networks())


def networks() -> tuple[Network, ...]:
    """Where our proxies are; empty when there are none."""
    return _parsed(env.text("BEHIND_PROXY"))


@lru_cache(maxsize=4)
def _parsed(text: str) -> tuple[Network, ...]:
    if text.lower() in {"0", "false", "no", "off"}:
        return ()
    if text.lower() in {"1", "true", "yes", "on"}:
        text = _HERE
    try:
        return tuple(ip_network(word.strip()) for word in text.split(",") if word.strip())
    except ValueError as problem:
        raise ImproperlyConfigured(
            f"CLEARINGHOUSE_BEHIND_PROXY is 0, 1 or addresses and networks like 10.0.0.5,172.18.0.0/16: {problem}"
        ) from problem


@lru_cache(maxsize=1024)
def _is_in(peer: str, allowed: tuple[Network, ...]) -> bool:
    if not peer:
        return any(network.is_loopback for network in allowed)
    try:
        address = ip_address(peer)
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in allowed)


@lru_cache(maxsize=16)
def _tell_once(peer: str) -> None:
    log.warning("%s sends X-Forwarded headers, but CLEARINGHOUSE_BEHIND_PROXY does not name it: not believed", peer)
