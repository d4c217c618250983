"""Owns: the rules of a snapshot for an answer that somebody waits for: they stop when its time is used up.

A document may have a thousand exclude URLs, and a page links by the thousand; a crawl has the time, a thread of the
web server has not. Does not: decide anything else than its rules (policy.judge). Called by: explain, preview.
"""

import time

from clearinghouse.addresses.patterns import Exclude
from clearinghouse.web.plurals import plural

from ..errors import TimeUsedUp
from ..policy.judge import CrawlRules, LinkVerdict
from ..values import Snapshot

SECONDS = 3.0  # for one answer, however many addresses it is about
TOO_LONG = (
    "This takes longer than {seconds}, so it was stopped: test fewer addresses, or make the exclude "
    "URLs of this document shorter"
)


class Deadline:
    """Until when an answer may take; look() raises TimeUsedUp from then on."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._until = time.monotonic() + seconds

    def look(self) -> None:
        if time.monotonic() > self._until:
            raise TimeUsedUp(TOO_LONG.format(seconds=plural(round(self._seconds), "second")))


class TimedExclude:
    """An exclude URL that looks at the deadline each time before it is tried."""

    def __init__(self, exclude: Exclude, deadline: Deadline) -> None:
        self.pattern, self.kind = exclude.pattern, exclude.kind
        self._exclude, self._deadline = exclude, deadline

    def matches(self, href: str) -> bool:
        self._deadline.look()
        return self._exclude.matches(href)


class RulesInTime(CrawlRules):
    """The same verdicts as Rules; the deadline is looked at for each address, and before each exclude URL is tried."""

    def __init__(self, snapshot: Snapshot, deadline: Deadline) -> None:
        super().__init__(snapshot)
        self.deadline = deadline
        self.excludes = [TimedExclude(exclude, deadline) for exclude in self.excludes]

    def verdicts(self, href: str, nofollow: bool = False, page_nofollow: bool = False) -> LinkVerdict:
        self.deadline.look()
        return super().verdicts(href, nofollow, page_nofollow)
