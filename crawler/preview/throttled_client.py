"""One request through the guarded fetch, and one page read beside this process, each within a deadline.

Whatever asks a site on behalf of a person goes through a Line, at the pace of the site; whoever waits for it meanwhile
takes it by looking(), so that nobody has two at once (tests/house/test_looks.py).
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parsing import parse, resolve
from clearinghouse.database.digests import digest_of
from clearinghouse.operations.free_memory import give_back_memory

from ..engine.child_processes import Died, Parsers
from ..engine.response_kind import REDIRECTS
from ..extract.parser_messages import Parsed
from ..fetch.fetcher import Fetcher
from ..policy.robots_file import decode
from ..policy.robots_rules import Robots, is_answer
from ..sites import site_store
from ..sites.site_state import ROBOTS_HOPS
from ..values import Fetched, Request
from .look_limits import one_look
from .site_turns import AtSitesPace, pause_of_looks, reserve


class ThrottledClient:
    """A fetcher and a parser for one look; close it."""

    def __init__(self, until: float) -> None:
        self.until = until  # monotonic
        self.pause = pause_of_looks()
        self.fetcher = self._fetcher()
        self._parsers: Parsers | None = None
        self._robots: dict[str, Robots | None] = {}

    def left(self) -> float:
        return max(self.until - time.monotonic(), 0.0)

    def forget(self) -> None:
        """The next request knows nothing of those before: no connection, no cookie, no sign-in."""
        self.fetcher.close()
        self.fetcher = self._fetcher()

    def _fetcher(self) -> Fetcher:
        return Fetcher(4, AtSitesPace(self.pause, self.left))

    def ask(self, request: Request, pause: float = 0.0) -> Fetched:
        """The answer, when the turn of this site has come; a timeout when the deadline comes first."""
        turn = reserve(request.address.origin, max(self.pause, pause), self.left())
        if turn.refusal:
            return Fetched(request, reason="timeout", detail=turn.refusal)
        time.sleep(max(turn.at - time.monotonic(), 0.0))
        self.fetcher.start(request)
        while self.fetcher.active() and self.left():
            for answer in self.fetcher.wait(min(self.left(), 0.2)):
                if answer.reason == "decode_failed" and not answer.request.identity_encoding:
                    return self.ask(replace(request, identity_encoding=True), pause)
                return answer
        return Fetched(request, reason="timeout", detail="the time for this test is over")

    def get(self, url: str, is_robots: bool = False) -> Fetched:
        address = parse(url)
        if isinstance(address, Refusal):
            bare = Address(url, "", "", 0, "", "")
            return Fetched(Request(url, bare), reason=address.reason, detail=address.detail)
        return self.ask(Request(address.href, address, is_robots=is_robots))

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

    def delay(self, origin: str) -> float:
        """What the site's robots.txt asks for between two pages, where it has been read."""
        robots = self._robots.get(origin)
        return (robots.crawl_delay if robots else 0.0) or 0.0

    def _asked(self, origin: str) -> Robots | None:
        answer = self.get(f"{origin}/robots.txt", is_robots=True)
        for _ in range(ROBOTS_HOPS):
            if answer.status not in REDIRECTS or not answer.header("location"):
                break
            answer = self.get(resolve(answer.request.address.href, answer.header("location")), is_robots=True)
        if answer.reason:
            return None
        if is_answer(answer.status):  # as a crawl does: kept for a day, so that not every look asks again
            text = decode(answer.body).encode() if answer.status < 300 else b""
            site_store.write([site_store.Note(digest_of(origin), robots=(answer.status, text))])
        return Robots.from_status(answer.status, answer.body)

    def close(self) -> None:
        self.fetcher.close()
        if self._parsers is not None:
            self._parsers.close()
            self._parsers = None  # with the pages it had; this one and its fetcher hold each other until Python looks


@contextmanager
def looking(seconds: float) -> Iterator[ThrottledClient]:
    """For whoever waits for a site because of a person: one at a time, or TooManyAtOnce."""
    with one_look():
        line = ThrottledClient(time.monotonic() + seconds)
        try:
            yield line
        finally:
            line.close()
            give_back_memory()  # or each thread of a web process would stay as large as its largest page made it


def _kept(origin: str) -> Robots | None:
    return site_store.robots(digest_of(origin))
