"""Inside a namespace: what the fetchers make of names that fail, and of names that change their mind (rebinding)."""

import json
import socket
import sys
import threading
import time
from contextlib import suppress

import django

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.fetch import curl, curl_transfer, requests_fetcher
from crawler.values import Credentials, Fetched, Request
from tests.faults.namespace import AAAA, CNAME, NXDOMAIN, SERVFAIL, A, NameServer, Reply, ip, settle
from tests.sites.misbehaving import page

PUBLIC = "93.184.215.14"  # an address of the Internet, which is this machine here
AT_ONCE = 50


def zone(name: str, kind: int, before: int) -> Reply:
    word = name.split(".")[0]
    failures: dict[str, Reply] = {"servfail": SERVFAIL, "nxdomain": NXDOMAIN, "silent": None, "empty": []}
    if word in failures:
        return failures[word]
    if word == "circle":
        return [(CNAME, name)]
    if word.startswith("both"):
        return [(A, PUBLIC), (A, "127.0.0.1")] if kind == A else [(AAAA, "::1"), (AAAA, "::ffff:127.0.0.1")]
    if kind != A:
        return []
    return [(A, PUBLIC if word == "good" or not before else "127.0.0.1")]


class Site:
    """At one address only: says what it is, and counts who comes."""

    def __init__(self, address: str, family: int = socket.AF_INET, port: int = 80) -> None:
        self.visits = 0
        self._door = socket.create_server((address, port), family=family, backlog=512)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._door.accept()
            self.visits += 1
            with suppress(OSError), connection:
                connection.recv(65_536)
                answer = page(b"<p>here", "Connection: close")(None)  # type: ignore[arg-type]
                assert isinstance(answer, bytes)
                connection.sendall(answer)


def fetch(
    fetcher: curl.CurlTransport | requests_fetcher.RequestsTransport, hosts: list[str], key: Credentials | None
) -> list[Fetched]:
    waiting, answers, until = list(hosts), [], time.monotonic() + 60
    while (waiting or fetcher.active()) and time.monotonic() < until:
        while waiting and fetcher.active() < AT_ONCE:
            url = f"http://{waiting.pop()}/"
            address = parse(url)
            assert isinstance(address, Address)
            fetcher.start(Request(url, address, credentials=key))
        answers += fetcher.wait(0.5)
    fetcher.close()
    return answers


class FullDoor:
    """Its queue is full and nobody is let in: what else knocks is never answered."""

    def __init__(self, address: str, port: int) -> None:
        self._door = socket.socket()
        self._door.bind((address, port))
        self._door.listen(0)
        self._waiting = [socket.socket() for _ in range(4)]
        for one in self._waiting:
            one.setblocking(False)
            with suppress(BlockingIOError):
                one.connect((address, port))


def roads() -> list[tuple[str, bool]]:
    """Where nobody ever answers, and where no road leads: the reason, and whether it took long (a second, here)."""
    door = FullDoor(PUBLIC, 8081)
    ip("route", "add", "unreachable", "93.186.0.0/16")
    curl_transfer.CONNECT_SECONDS = 1
    (lost,) = fetch(curl.CurlTransport(), [f"{PUBLIC}:8081"], None)
    (unreachable,) = fetch(curl.CurlTransport(), ["93.186.0.1"], None)
    curl_transfer.CONNECT_SECONDS = 15
    del door
    return [(one.reason, one.milliseconds >= 900) for one in (lost, unreachable)]


def main(fetches: int) -> None:
    django.setup()
    settle(f"{PUBLIC}/32")
    NameServer(zone)
    site, canaries = Site(PUBLIC), [Site("127.0.0.1"), Site("::1", socket.AF_INET6), Site("127.0.0.1", port=8080)]
    found: dict[str, object] = {"roads": roads()}
    failing = ["servfail.test", "nxdomain.test", "silent.test", "empty.test", "circle.test", "good.test"]
    outcomes: dict[str, list[str | int]] = {}
    details: dict[str, list[str]] = {}
    for answer in fetch(curl.CurlTransport(), failing, None) + fetch(
        requests_fetcher.RequestsTransport(), failing, Credentials(3, "u", "p")
    ):
        outcomes.setdefault(answer.request.address.host, []).append(answer.reason or answer.status)
        details.setdefault(answer.request.address.host, []).append(answer.detail)
    found |= {"failing": outcomes, "details": details}
    half = fetches // 4
    counts = []
    for make, key in ((curl.CurlTransport, None), (requests_fetcher.RequestsTransport, Credentials(3, "u", "p"))):
        mark = "c" if key is None else "s"
        hosts = [f"{mark}{n}.test" for n in range(half)]
        for _ in range(2):  # a fetcher of its own: it must not be saved by what it remembers
            counts.append(sorted({str(one.reason or one.status) for one in fetch(make(), hosts, key)}))
        both = [f"both{mark}{n}.test:8080" for n in range(20)]
        counts.append(sorted({str(one.reason or one.status) for one in fetch(make(), both, key)}))
    found |= {"rebinding": counts, "visits": site.visits, "canaries": [one.visits for one in canaries]}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
