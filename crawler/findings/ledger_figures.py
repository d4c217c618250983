"""The sums of one ledger: by site, by kind of error, by exclude URL; and addresses that are suspiciously alike. Pure.

A ledger may have a million rows: every row is looked at once and nothing is kept of it but counts and small samples.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit

from clearinghouse.database.digests import digest_of

from ..ledger.error_groups import pattern_of
from ..ledger.site_folders import column_of
from ..values import CRAWLED, FAILED, REDIRECTED, SKIPPED, UNCHANGED
from .types import Alike

MOST_HOSTS = 200  # of one excursion; links lead to thousands of other sites
MOST_GROUPS = 500
MOST_FOLDERS = 50_000
SAMPLES = 1000  # response times kept of a site
MOST_QUERIES = 100_000  # addresses with parameters that are compared
FEW_ALIKE = 20
# The reasons behind a count of a site; the report that shows the counts lists these.
OUTSIDE = ("outside_root", "redirect_outside_root")
EXCLUDED = ("excluded", "redirect_excluded")
WAITING = ("page_limit", "run_limit", "run_stopped", "run_cancelled")
_DATED = re.compile(r"(?:19|20)\d\d[/-](?:0?[1-9]|1[0-2])(?!\d)|[?&](?:year|month|day|date)=\d", re.I)


class LedgerLine(NamedTuple):
    """What is read of a ledger row."""

    url: str
    outcome: str
    reason: str
    detail: str
    status: int
    size: int
    milliseconds: int
    version_id: int | None
    previous_version_id: int | None
    point_id: int | None


@dataclass(slots=True)
class Site:
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    bytes: int = 0
    robots: int = 0
    outside: int = 0
    excluded: int = 0
    failed: int = 0
    waiting: int = 0
    times: list[int] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """Sites we asked come first, then those most is left out of."""
        asked = self.new + self.changed + self.unchanged + self.failed
        return asked * 1_000_000 + self.robots + self.outside + self.excluded

    @property
    def median_ms(self) -> int:
        return round(median(self.times)) if self.times else 0


@dataclass(slots=True)
class FolderFigures:
    """The addresses right in one folder; the names are those of the Hosts table."""

    found: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    redirected: int = 0
    robots: int = 0
    outside: int = 0
    excluded: int = 0
    other: int = 0
    left: int = 0
    errors: int = 0
    bytes: int = 0
    times: list[int] = field(default_factory=list)  # of a whole site

    def add(self, line: LedgerLine) -> None:
        name = column_of(line.outcome, line.reason, known=line.previous_version_id is not None)
        setattr(self, name, getattr(self, name) + 1)
        self.found += 1
        if line.outcome in (CRAWLED, UNCHANGED):
            self.bytes += line.size


@dataclass(slots=True)
class FailureFigures:
    """Failures of one kind, on one site, in places of one shape: as the Errors tab of a run groups them."""

    reason: str
    site: str
    pattern: str
    count: int = 0
    example: str = ""
    status: int = 0

    @property
    def key(self) -> bytes:
        return digest_of("\n".join((self.reason, self.site, self.pattern)))


@dataclass(slots=True)
class Figures:
    """Fed line by line."""

    sites: dict[str, Site] = field(default_factory=dict)
    folders: dict[str, FolderFigures] = field(default_factory=dict)
    whole: dict[str, FolderFigures] = field(default_factory=dict)  # the sums of each site
    groups: dict[tuple[str, str, str], FailureFigures] = field(default_factory=dict)
    excludes: Counter[str] = field(default_factory=Counter)
    cut: Counter[int] = field(default_factory=Counter)
    deep: Counter[int] = field(default_factory=Counter)
    throttled: int = 0
    dated: Counter[str] = field(default_factory=Counter)  # addresses that name a day, by what they begin with
    stored_bytes: int = 0

    def add(self, line: LedgerLine) -> None:
        self._folder(line)
        site = self.sites.setdefault(host_of(line.url), Site())
        if line.outcome == SKIPPED:
            self._skipped(line, site)
            return
        if line.milliseconds and len(site.times) < SAMPLES:
            site.times.append(line.milliseconds)
        site.bytes += line.size
        if line.outcome == FAILED:
            self._failed(line, site)
        elif line.outcome == UNCHANGED:
            site.unchanged += 1
        elif line.outcome == CRAWLED and line.previous_version_id:
            site.changed += 1
        elif line.outcome == CRAWLED:
            site.new += 1
        if line.outcome not in (FAILED, REDIRECTED):
            self.stored_bytes += line.size
            self._dated(line.url)

    def _dated(self, url: str) -> None:
        match = _DATED.search(url)
        if match:
            before = url[: match.start()]
            beginning = before[: max(before.rfind("/"), before.rfind("?")) + 1]
            few = len(self.dated) < MOST_FOLDERS or beginning in self.dated
            self.dated[beginning if few else ""] += 1

    def _folder(self, line: LedgerLine) -> None:
        site, folder = folders_of(line.url)
        if not site or len(self.folders) > MOST_FOLDERS:
            return
        self.folders.setdefault(folder, FolderFigures()).add(line)
        whole = self.whole.setdefault(site, FolderFigures())
        whole.add(line)
        if line.milliseconds and line.outcome in (CRAWLED, UNCHANGED, REDIRECTED) and len(whole.times) < SAMPLES:
            whole.times.append(line.milliseconds)

    def _skipped(self, line: LedgerLine, site: Site) -> None:
        site.robots += line.reason == "robots_disallowed"
        site.outside += line.reason in OUTSIDE
        site.excluded += line.reason in EXCLUDED
        site.waiting += line.reason in WAITING
        if line.reason == "excluded":
            self.excludes[line.detail] += 1
        if line.point_id is not None:
            self.cut[line.point_id] += line.reason == "page_limit"
            self.deep[line.point_id] += line.reason == "too_deep"

    def _failed(self, line: LedgerLine, site: Site) -> None:
        site.failed += 1
        self.throttled += line.status == 429
        name = (line.reason, *pattern_of(line.url))
        group = self.groups.setdefault(name, FailureFigures(*name, example=line.url, status=line.status))
        group.count += 1

    def top_sites(self) -> list[tuple[str, Site]]:
        return sorted(self.sites.items(), key=lambda item: (-item[1].weight, item[0]))[:MOST_HOSTS]

    def top_groups(self) -> list[FailureFigures]:
        return sorted(self.groups.values(), key=lambda group: (-group.count, group.pattern))[:MOST_GROUPS]


def folders_of(url: str) -> tuple[str, str]:
    """The site of a web address and the folder it is in, both with their slash; empty for what is no web address."""
    begin = url.find("/", len("https://"))
    if not url.startswith(("http://", "https://")):
        return "", ""
    return (url[: begin + 1], url[: url.rfind("/") + 1]) if begin > 0 else ("", "")


def host_of(url: str) -> str:
    """Host and port of an address; what cannot be read belongs to no site."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2][:255]
    except ValueError:
        return ""


def alike(pages: Iterable[tuple[str, bytes]]) -> Iterator[Alike]:
    """Parameters that multiply addresses although most of the pages behind them say the same, worst first."""
    groups: dict[str, dict[bytes, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    seen = 0
    for url, digest in pages:
        base, mark, query = url.partition("?")
        if not mark:
            continue
        seen += 1
        if seen > MOST_QUERIES:
            break
        pairs = query.split("&")
        for pair in pairs:
            name, equals, _ = pair.partition("=")
            if name and equals:
                rest = "&".join(other for other in pairs if other is not pair)
                groups[name][digest_of(f"{base}?{rest}")].append(digest)
    found = [Alike(name, _same(families.values())) for name, families in groups.items()]
    yield from sorted((one for one in found if one.count >= FEW_ALIKE), key=lambda one: -one.count)[:5]


def _same(families: Iterable[list[bytes]]) -> int:
    """How many addresses are in families of which at least half is a repetition."""
    return sum(len(family) for family in families if len(family) > 1 and len(set(family)) * 2 <= len(family))


def repeated(digests: Iterable[bytes]) -> int:
    """Pages whose content another page has too."""
    counts = Counter(digests)
    return sum(count for count in counts.values() if count > 1)
