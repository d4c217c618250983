"""One request through the guarded fetch, and one page read beside this process, each within a deadline."""

import time
from dataclasses import replace

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parse import parse, resolve
from clearinghouse.digests import digest_of

from .. import host_rows
from ..answers import REDIRECTS
from ..extract.wire import Parsed
from ..fetch.desk import Fetcher
from ..hosts import ROBOTS_HOPS
from ..parsers import Died, Parsers
from ..policy.robots import Robots
from ..values import Fetched, Request


class Line:
    """A fetcher and a parser for one look; close it."""

    def __init__(self, until: float) -> None:
        self.until = until  # monotonic
        self.fetcher = Fetcher(4)
        self._parsers: Parsers | None = None
        self._robots: dict[str, Robots | None] = {}

    def left(self) -> float:
        return max(self.until - time.monotonic(), 0.0)

    def ask(self, request: Request) -> Fetched:
        """The answer; a timeout when the deadline comes first."""
        self.fetcher.start(request)
        while self.fetcher.active() and self.left():
            for answer in self.fetcher.wait(min(self.left(), 0.2)):
                if answer.reason == "decode_failed" and not answer.request.identity_encoding:
                    self.fetcher.start(replace(request, identity_encoding=True))
                    continue
                return answer
        return Fetched(request, reason="timeout", detail="the time for this look is over")

    def get(self, url: str) -> Fetched:
        address = parse(url)
        if isinstance(address, Refusal):
            bare = Address(url, "", "", 0, "", "")
            return Fetched(Request(url, bare), reason=address.reason, detail=address.detail)
        return self.ask(Request(address.href, address))

    def read(self, fetched: Fetched, href: str) -> Parsed | None:
        """What stands on a page; None when it could not be read in time."""
        if self._parsers is None:
            self._parsers = Parsers()
        self._parsers.submit(fetched, fetched, href)
        while self.left():
            self._parsers.wait(min(self.left(), 0.1))
            for of, page in self._parsers.collect():
                if of is fetched:  # not a page that an earlier look gave up
                    return None if isinstance(page, Died) else page
        return None

    def robots(self, origin: str) -> Robots | None:
        """The rules of a site, as kept since yesterday or asked for now; None when they cannot be had."""
        if origin not in self._robots:
            self._robots[origin] = _kept(origin) or self._asked(origin)
        return self._robots[origin]

    def _asked(self, origin: str) -> Robots | None:
        answer = self.get(f"{origin}/robots.txt")
        for _ in range(ROBOTS_HOPS):
            if answer.status not in REDIRECTS or not answer.header("location"):
                break
            answer = self.get(resolve(answer.request.address.href, answer.header("location")))
        return None if answer.reason else Robots.from_status(answer.status, answer.body)

    def close(self) -> None:
        self.fetcher.close()
        if self._parsers is not None:
            self._parsers.close()


def _kept(origin: str) -> Robots | None:
    return host_rows.robots(digest_of(origin))
