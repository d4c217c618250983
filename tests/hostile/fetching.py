"""Broken answers served over real sockets to the real fetcher, and what became of them."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.extract import page_reader as reading
from crawler.fetch import curl, curl_transfer, requests_exchange, requests_fetcher
from crawler.values import REASONS, Credentials, Fetched, Request
from tests.hostile.answers import broken, whole_body
from tests.sites.misbehaving import Asked, Page, Site, raw

DEADLINE = 3  # seconds for one page, instead of 60
STAYS_OPEN = 0.03  # share of the servers that say nothing more and do not hang up either
_AT_ONCE = 32


@dataclass
class Figures:
    sent: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def table(self) -> str:
        rows = [f"{count:>7}  {name or 'taken as whole'}" for name, count in self.outcomes.most_common()]
        return "\n".join([f"{self.sent} broken answers, the slowest {self.slowest:.2f} s", *rows])


def fetch_broken_answers(count: int, seed: int = 1, seconds: float = 1e9) -> Figures:
    """Fetch so many, as far as the time allows, a tenth of them through the transport of NTLM.

    A fault can be had again by its number.
    """
    figures, deadline = Figures(), time.monotonic() + seconds
    usual = curl_transfer.WHOLE_SECONDS
    curl_transfer.WHOLE_SECONDS = requests_exchange.WHOLE_SECONDS = DEADLINE
    try:
        with Site() as site:
            for first in range(0, count, 500):
                if time.monotonic() > deadline:
                    break
                _fetch_some(site, range(first, min(first + 500, count)), seed, figures)
                site.pages.clear()
    finally:
        curl_transfer.WHOLE_SECONDS = requests_exchange.WHOLE_SECONDS = usual
    return figures


def _fetch_some(site: Site, numbers: range, seed: int, figures: Figures) -> None:
    answers = {f"/{number}": broken(random.Random(f"{seed}-{number}")) for number in numbers}
    for path, data in answers.items():
        chance = random.Random(f"{seed}-open{path}")
        site.pages[path] = _never_hangs_up(data) if chance.random() < STAYS_OPEN else raw(data)
    paths = list(answers)
    plain = [request(site.url(path)) for path in paths[len(paths) // 10 :]]
    windows = [request(site.url(path), Credentials(3, "u", "p")) for path in paths[: len(paths) // 10]]
    for fetcher, requests in ((curl.CurlTransport(_AT_ONCE), plain), (requests_fetcher.RequestsTransport(), windows)):
        for answer in _as_they_come(fetcher, requests, figures):
            _judge(answer, answers[answer.request.address.path], figures)


def request(url: str, credentials: Credentials | None = None) -> Request:
    address = parse(url)
    assert isinstance(address, Address)
    return Request(url, address, credentials=credentials)


def _never_hangs_up(data: bytes) -> Page:
    def serve(asked: Asked) -> Iterator[bytes]:
        yield data
        time.sleep(DEADLINE + 2)

    return serve


def fetch_all(
    fetcher: curl.CurlTransport | requests_fetcher.RequestsTransport, requests: list[Request]
) -> list[Fetched]:
    return list(_as_they_come(fetcher, requests, Figures()))


def _as_they_come(
    fetcher: curl.CurlTransport | requests_fetcher.RequestsTransport, requests: list[Request], figures: Figures
) -> Iterator[Fetched]:
    """The answers as they come; a request without one after its time is a hang."""
    waiting = [replace(one, token=number) for number, one in enumerate(requests)]
    begun: dict[int, float] = {}
    while waiting or fetcher.active():
        while waiting and fetcher.active() < (
            _AT_ONCE if isinstance(fetcher, curl.CurlTransport) else requests_fetcher.THREADS
        ):
            begun[waiting[-1].token] = time.monotonic()
            fetcher.start(waiting.pop())
        for answer in fetcher.wait(1):
            figures.slowest = max(figures.slowest, time.monotonic() - begun.pop(answer.request.token))
            yield answer
        late = [requests[number].url for number, at in begun.items() if time.monotonic() - at > 3 * DEADLINE]
        if late:
            figures.faults.append(f"no end: {late}")
            break
    fetcher.close()


def _judge(answer: Fetched, data: bytes, figures: Figures) -> None:
    figures.sent += 1
    figures.outcomes[answer.reason or ("" if 200 <= answer.status < 300 else f"status {answer.status // 100}xx")] += 1
    place = answer.request.address.path
    if answer.reason and answer.reason not in REASONS:
        figures.faults.append(f"{place}: the reason {answer.reason} has no name")
    if answer.reason == "error":
        figures.faults.append(f"{place}: {answer.detail}")
    if answer.reason or not 200 <= answer.status < 300 or answer.truncated:
        return
    if answer.body != whole_body(data):
        figures.faults.append(f"{place}: taken for whole, {len(answer.body)} bytes of {data[:400]!r}")
    reading.read(answer, answer.request.address)
