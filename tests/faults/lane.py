"""One lane of kills: a site and a prepared house; each case is a copy of it, killed, resumed, compared.

Nothing may be lost, stored twice or asked again that was committed, whatever the moment.
"""

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import injection, site
from tests.faults.house import House
from tests.faults.injection import KILL, Injection, Struck
from tests.faults.warm import Warm
from tests.sites.graph import Site, serve

CRAWL = ["crawl", "--speed", "fast", "--json"]
RESUME = ["crawl", "--resume", "last", "--json"]
UNWRITTEN = 16 + 100  # in flight towards one host, and one batch
Verdicts = dict[tuple[int, str], str]  # (document, path) -> outcome and reason


@dataclass(frozen=True)
class Case:
    injections: tuple[Injection, ...]  # the second one strikes the resumed crawl

    def __str__(self) -> str:
        return " then ".join(map(str, self.injections))


@dataclass
class Outcome:
    """What one case showed.

    A kill counts when the process died by it between the first and the last commit; an error of the disk when it was
    given to the process there, which may survive it.
    """

    case: Case
    house: House
    struck: list[Injection] = field(default_factory=list)  # the injections that count
    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    imbalances: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)  # refetched, hung, limits, orphans
    refetched: int = 0

    @property
    def kills(self) -> int:
        """How many of the blows that count were kills."""
        return sum(blow.effect == KILL for blow in self.struck)

    @property
    def clean(self) -> bool:
        return not (self.lost or self.duplicated or self.imbalances or self.other)

    @property
    def sentences(self) -> str:
        return f"{self.case}: lost {self.lost}, duplicated {self.duplicated}, {self.imbalances}, {self.other}"


class Lane:
    def __init__(self, folder: Path, prepared: House, served: Site) -> None:
        self.folder, self.site = folder, served
        self.house = prepared.copy(folder / "prepared")
        site.point_at(self.house, served.address)
        self.warm = Warm(self.house)
        self.number = 0

    def measure(self) -> tuple[Verdicts, dict[str, tuple[int, int]]]:
        """The undisturbed crawl: what it ends with, and how many system calls it makes."""
        house = self.house.copy(self.folder / "calm")
        counts = injection.undisturbed(self.warm, house, CRAWL, int(self.site.address.rpartition(":")[2]))
        return verdicts(house), counts

    def play(self, case: Case, calm: Verdicts) -> Outcome:
        self.number += 1
        house = self.house.copy(self.folder / f"case{self.number}")
        self.site.requests.clear()
        outcome = Outcome(case, house)
        arguments = CRAWL
        for blow in case.injections:
            struck = injection.run(self.warm, house, arguments, blow)
            self._after_the_blow(house, outcome, blow, struck)
            if house.as_left("SELECT id FROM run"):
                arguments = RESUME
        before, committed = Counter(self.site.requests), paths(house)
        self._resume(house, outcome, arguments)
        again = [path for path in committed if self.site.requests[path] > before[path]]
        if again:
            outcome.other.append(f"committed, but fetched again: {again}")
        compare(house, outcome, calm)
        self._requests(outcome)
        return outcome

    def _after_the_blow(self, house: House, outcome: Outcome, blow: Injection, struck: Struck) -> None:
        if struck.ended.hung:
            outcome.other.append(f"after {blow} it hung for {injection.PATIENCE:.0f} s: {struck.ended.output}")
        if struck.orphans:
            outcome.other.append(f"after {blow} a process it had started lived on")
        if (struck.killed and in_between(house)) or (blow.effect != KILL and struck.injected):
            outcome.struck.append(blow)
        elif blow.effect == KILL and struck.ended.code not in (0, -signal.SIGKILL):
            outcome.other.append(f"exit {struck.ended.code} without a kill: {struck.ended.output}")

    def _resume(self, house: House, outcome: Outcome, arguments: list[str]) -> None:
        self.warm.start(house, arguments)
        ended = self.warm.wait(injection.PATIENCE)
        if ended.code != 0:
            outcome.other.append(f"resumed: exit {ended.code}, hung {ended.hung}: {ended.output}")

    def _requests(self, outcome: Outcome) -> None:
        asked = {path: n for path, n in self.site.requests.items() if path != "/robots.txt"}
        outcome.refetched = sum(n - 1 for n in asked.values())
        if outcome.refetched > UNWRITTEN * len(outcome.case.injections):
            outcome.other.append(f"{outcome.refetched} pages were fetched again")
        limited = sum(path.startswith(site.LIMITED) for path in asked)
        if limited != site.MAXIMUM:
            outcome.other.append(f"{limited} pages asked for under a maximum of {site.MAXIMUM}")


def in_between(house: House) -> bool:
    """Whether the rows show a crawl after its first and before its last commit."""
    return bool(house.as_left("SELECT 1 FROM excursion WHERE found > 0")) and bool(
        house.as_left("SELECT 1 FROM excursion WHERE unfinished")
    )


def verdicts(house: House) -> Verdicts:
    found = house.as_left("SELECT doc_id, url, outcome, reason FROM ledger")
    return {(doc, _path(url)): f"{outcome} {reason}".strip() for doc, url, outcome, reason in found}


def paths(house: House) -> set[str]:
    """What was fetched and committed."""
    return {_path(url) for (url,) in house.as_left("SELECT url FROM ledger WHERE status > 0")}


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[-1]


def compare(house: House, outcome: Outcome, calm: Verdicts) -> None:
    now = verdicts(house)
    # Under a maximum the set is not fixed, its size is.
    fixed = {key: value for key, value in calm.items() if not key[1].startswith(site.LIMITED)}
    outcome.lost += [f"{key}: {value}, not {now.get(key)}" for key, value in fixed.items() if now.get(key) != value]
    outcome.lost += [f"{key} should not be there" for key in now if key not in calm]
    crawled = sum(key[1].startswith(site.LIMITED) and value == "crawled" for key, value in now.items())
    if crawled != site.MAXIMUM:
        outcome.lost.append(f"{crawled} pages stored under a maximum of {site.MAXIMUM}")
    for what, query in _TWICE.items():
        outcome.duplicated += [f"{what}: {row}" for row in house.as_left(query)]
    left = house.as_left("SELECT count(*) FROM message") + house.as_left("SELECT count(*) FROM active_queue")
    if left != [(0,), (0,)]:
        outcome.imbalances.append(f"left behind: messages and served queues {left}")


_TWICE = {
    "ledger": "SELECT max(doc_id), max(url) FROM ledger GROUP BY excursion_id, url_key HAVING count(*) > 1",
    "version": "SELECT doc_id, max(url) FROM page_version GROUP BY doc_id, url_key HAVING count(*) > 1",
    "head": "SELECT doc_id, max(version_id) FROM page_head GROUP BY doc_id, url_key HAVING count(*) > 1",
    "crawled_pages": "SELECT doc_id, page_url FROM crawled_pages GROUP BY doc_id, page_url HAVING count(*) > 1",
    "version without ledger": "SELECT url FROM page_version v WHERE NOT EXISTS "
    "(SELECT 1 FROM ledger l WHERE l.version_id = v.id)",
    "page without head": "SELECT url FROM ledger l WHERE outcome = 'crawled' AND NOT EXISTS "
    "(SELECT 1 FROM page_head h WHERE h.version_id = l.version_id)",
    "page without crawled_pages": "SELECT url FROM ledger l WHERE outcome = 'crawled' AND NOT EXISTS "
    "(SELECT 1 FROM crawled_pages c WHERE c.page_url = l.url AND c.doc_id = l.doc_id)",
}


@contextmanager
def lanes(folder: Path, count: int, house: House) -> Iterator[list[Lane]]:
    """Several lanes beside each other, each with its own site and a copy of this house."""
    made: list[Lane] = []
    with ExitStack() as stack:
        for number in range(count):
            served = stack.enter_context(serve(site.pages()))
            (folder / f"lane{number}").mkdir()
            made.append(Lane(folder / f"lane{number}", house, served))
            stack.callback(made[-1].warm.close)
        yield made
