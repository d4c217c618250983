"""Threat T3: the host that was checked is the host that is asked, however an address is written.

Both transports are shown addresses made of what parsers quarrel about; a proxy that libcurl is given for once hears
which host it would ask. The long form: CLEARINGHOUSE_FUZZ=100000.
"""

import os
import random

import pycurl
import pytest
import urllib3.util

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.fetch.curl_transfer import Transfer
from crawler.values import Request
from tests.sites.misbehaving import Site

COUNT = int(os.environ.get("CLEARINGHOUSE_FUZZ", "2000"))
PIECES = (
    "127.0.0.1", "example.org", "[::1]", "[::ffff:7f00:1]", "0x7f.1", "017700000001", "2130706433", "①②⑦.0.0.1",
    "ex%41mple.org", "EXAMPLE.org.", "a_b.org", "xn--mgba3gch31f.org", "bücher.example", "faß.de", "localhost", "evil",
)  # fmt: skip
BETWEEN = (
    "/", "\\", "@", "#", "?", "\t", "\n", "\r", " ", "%00", "%2f", "%40", "%5c", ":", ":80", ":8080", ";", "|", "&",
    "\u3002", "\uff0e", "\u2024", "\uff0f", "\u2215", "\u200d", "\xad", ".", "..", "//", "\\\\", "\\@", ":@", "@@", "%",
)  # fmt: skip
SLASHES = ("//", "//", "/", "", "\\\\")


def addresses(count: int, seed: int = 1) -> list[Address]:
    chance = random.Random(seed)
    found = []
    while len(found) < count:
        words = [chance.choice(PIECES)]
        for _ in range(chance.randint(0, 4)):
            words += [chance.choice(BETWEEN), chance.choice(PIECES) if chance.random() < 0.7 else ""]
        address = parse("http:" + chance.choice(SLASHES) + "".join(words))
        if isinstance(address, Address):
            found.append(address)
    return found


@pytest.fixture(scope="module")
def many() -> list[Address]:
    return addresses(COUNT)


def place(address: Address) -> str:
    return address.host if address.port == 80 else f"{address.host}:{address.port}"


def test_t3_libcurl_asks_the_host_that_was_checked(many: list[Address]) -> None:
    with Site() as proxy:
        transfer = Transfer("test")
        transfer.handle.setopt(pycurl.PROXY, f"http://127.0.0.1:{proxy.port}")
        for address in many:
            assert transfer.begin(Request(address.href, address)) is None
            try:
                transfer.handle.perform()
            except pycurl.error as refused:  # a name that cannot exist, for libcurl
                assert refused.args[0] == pycurl.E_URL_MALFORMAT, address.href
                continue
            asked = proxy.log[-1]
            assert asked.target.split("/", 3)[2] == place(address), address.href
            assert asked.headers["host"] == place(address), address.href
        transfer.close()
    assert len(proxy.log) > 0.9 * len(many) and len({address.host for address in many}) > 30


def test_t3_so_does_requests(many: list[Address]) -> None:
    for address in many:
        read = urllib3.util.parse_url(address.href)
        assert (read.host, read.port or 80) == (address.host, address.port), address.href
