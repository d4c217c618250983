"""Whose word about a visitor is believed: of the reverse proxies that the operator named, and of nobody else."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse

from clearinghouse.accounts.sign_in.visitor_address import address_of
from clearinghouse.web import proxies

FORGED = "203.0.113.9"


def seen(peer: str) -> tuple[str, str]:
    """The address and the scheme a view is told of a request whose headers say FORGED and https."""
    request = HttpRequest()
    request.META |= {"REMOTE_ADDR": peer, "HTTP_X_FORWARDED_PROTO": "https", "HTTP_X_FORWARDED_FOR": FORGED}
    proxies.OwnProxiesOnly(lambda _: HttpResponse())(request)
    return address_of(request), str(request.scheme)


@pytest.fixture(autouse=True)
def scheme_header(settings: Any) -> None:
    """As settings.py has it whenever there is a proxy."""
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


@pytest.mark.parametrize(
    ("named", "peer", "believed"),
    [
        ("0", "127.0.0.1", False),
        ("1", "127.0.0.1", True),
        ("1", "::1", True),
        ("1", "", True),  # by a socket file of this machine
        ("1", "10.0.0.5", False),
        ("10.0.0.5", "10.0.0.5", True),
        ("10.0.0.5", "::ffff:10.0.0.5", True),
        ("10.0.0.5", "10.0.0.6", False),
        ("10.0.0.5", "127.0.0.1", False),
        ("10.0.0.5", "", False),
        ("10.0.0.5, 172.18.0.0/16", "172.18.4.4", True),
        ("fd00::/8", "fd00::7", True),
        ("172.18.0.0/16", "no address", False),
    ],
)
def test_forwarded_headers_count_only_from_a_named_proxy(
    monkeypatch: pytest.MonkeyPatch, named: str, peer: str, believed: bool
) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_BEHIND_PROXY", named)
    assert seen(peer) == ((FORGED, "https") if believed else (peer, "http"))


def test_a_proxy_that_was_forgotten_is_named_in_the_log_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_BEHIND_PROXY", "10.0.0.5")
    for _ in range(3):
        seen("10.0.0.77")
    assert [record.getMessage().split()[0] for record in caplog.records] == ["10.0.0.77"]


def test_nonsense_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_BEHIND_PROXY", "nginx")
    with pytest.raises(ImproperlyConfigured, match="CLEARINGHOUSE_BEHIND_PROXY is 0, 1 or addresses"):
        proxies.networks()


def test_nobody_on_this_machine_makes_a_request_safe_by_saying_so(monkeypatch: pytest.MonkeyPatch, rf: Any) -> None:
    """gunicorn believes the header of whoever connects from here, and calls the request https before we see it."""
    monkeypatch.setenv("CLEARINGHOUSE_BEHIND_PROXY", "0")
    request = rf.get("/", headers={"X-Forwarded-Proto": "https"}, **{"wsgi.url_scheme": "https"})
    proxies.OwnProxiesOnly(lambda _: HttpResponse())(request)
    assert request.scheme == "http" and not request.is_secure()
