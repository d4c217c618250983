"""Malformed addresses: made of what parsers quarrel about, or good ones broken; read, resolved, and read again."""

import random
import time
from collections import Counter
from dataclasses import dataclass, field

import urllib3.util

from clearinghouse.addresses import Address
from clearinghouse.addresses.networks import port_allowed
from clearinghouse.addresses.parsing import parse, resolve
from tests.security.test_t03_same_host import BETWEEN, PIECES

_BASES = ("http://a.example/b/c?d=e", "https://a.example:8443/", "http://[::1]/x", "http://a.example/%zz/\u00fc")
_SIGNS = (
    *BETWEEN,
    "\x00",
    "\ud800",
    "\U0001f600",
    "%u1234",
    "[",
    "]",
    "{",
    "<",
    '"',
    "javascript:",
    "data:",
    "A" * 3000,
)


@dataclass
class Figures:
    read: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def table(self) -> str:
        rows = [f"{count:>7}  {name}" for name, count in self.outcomes.most_common()]
        return "\n".join([f"{self.read} malformed addresses, the slowest {self.slowest * 1000:.1f} ms", *rows])


def read_many(count: int, seed: int = 1, seconds: float = 1e9) -> Figures:
    """So many, as far as the time allows; a fault can be had again by its number."""
    figures, until = Figures(), time.monotonic() + seconds
    for number in range(count):
        if time.monotonic() > until:
            break
        text = malformed(random.Random(f"{seed}-{number}"))
        began = time.perf_counter()
        try:
            _judge(text, figures)
        except Exception as error:  # noqa: BLE001 - any is a fault
            figures.faults.append(f"{number}: {text!r:.200}: {type(error).__name__}: {error}")
        figures.slowest = max(figures.slowest, time.perf_counter() - began)
        figures.read += 1
    return figures


def malformed(chance: random.Random) -> str:
    if chance.random() < 0.5:
        words = [chance.choice((*PIECES, *_SIGNS)) for _ in range(chance.randint(1, 4))]
        return chance.choice(("http://", "https:", "HTTP:\\\\", "//", "", "ftp://")) + "".join(words)
    text = chance.choice(_BASES)
    for _ in range(chance.randint(1, 2)):
        place = chance.randint(0, len(text))
        text = text[:place] + chance.choice(_SIGNS) + text[place + chance.randint(0, 2) :]
    return text


def _judge(text: str, figures: Figures) -> None:
    address = parse(text)
    resolve("http://a.example/b/", text)
    if not isinstance(address, Address):
        figures.outcomes[address.reason] += 1
        return
    figures.outcomes["an address"] += 1
    port_allowed(address.host, address.port)
    again = parse(address.href)
    if again != address:
        figures.faults.append(f"{text!r:.200} is {address.href}, and that is something else")
    elif urllib3.util.parse_url(address.href).host != address.host:
        figures.faults.append(f"{text!r:.200}: requests would ask another host than {address.host}")
