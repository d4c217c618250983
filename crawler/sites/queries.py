"""What is known of sites: their robots.txt as last read, with the sitemaps it names (shown, never followed)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from django.db.models import Q, Sum

from clearinghouse.database.digests import digest_of

from ..bulk_sql import chunks
from ..models import Host, HostService, Instance, Run
from ..policy.robots_file import decode
from ..policy.robots_rules import Robots
from ..runs.run_counts import Docs


@dataclass(frozen=True, slots=True)
class SiteRobots:
    """robots.txt of one site. A status of 0: it was never read."""

    origin: str
    status: int = 0
    read_at: datetime | None = None
    sitemaps: tuple[str, ...] = ()
    crawl_delay: float | None = None
    text: str = ""


def robots_of(origins: Iterable[str]) -> list[SiteRobots]:
    """In the order asked, each site once."""
    keys = {digest_of(origin): origin for origin in origins}
    rows: dict[bytes, Host] = {}
    for part in chunks(list(keys)):
        rows |= {row.key: row for row in Host.objects.filter(key__in=part)}
    return [_site(origin, rows.get(key)) for key, origin in keys.items()]


@dataclass(frozen=True, slots=True)
class Served:
    """A site that the instances of a run fetch from now, or will."""

    origin: str
    flying: int
    wait_until: float
    failing_since: float


def waited_for(run: Run, now: datetime, most: int = 8) -> list[Served]:
    """The silent and the busy sites that living instances of this run are to fetch from; one query."""
    late = Q(host__failing_since__gt=0) | Q(host__wait_until__gt=now.timestamp())
    rows = HostService.objects.filter(late, instance__run=run, instance__alive=True).values(
        "host__origin", "host__wait_until", "host__failing_since"
    )
    counted = rows.annotate(busy=Sum("flying")).order_by("-busy", "host__origin")[:most]
    return [
        Served(row["host__origin"], row["busy"], row["host__wait_until"], row["host__failing_since"]) for row in counted
    ]


@dataclass(frozen=True, slots=True)
class Flight:
    """A request under way."""

    doc_id: int
    url: str
    begun: float  # seconds since 1970


def fetching_now(run: Run, docs: Docs, most: int = 8) -> tuple[int, list[Flight]]:
    """How many requests the living instances of this run have under way, and the oldest of those a person may see.

    Who does not see the whole run is told of no others, not even how many there are.
    """
    told = Instance.objects.filter(run=run, alive=True).values_list("fetching", flat=True)
    known = [one for one in told if one]
    flights = [Flight(*row) for one in known for row in one["oldest"] if docs is None or row[0] in docs]
    count = sum(one["requests"] for one in known) if docs is None else len(flights)
    return count, sorted(flights, key=lambda flight: flight.begun)[:most]


class Awaited(NamedTuple):
    """What a pause or an early end waits for."""

    fetched: int = 0  # pages that are being fetched
    read: int = 0  # pages that have come and are being read
    instances: int = 0  # that are to obey


def awaited(run: Run) -> Awaited:
    told = list(Instance.objects.filter(run=run, alive=True).values_list("fetching", flat=True))
    reading = sum(one.get("reading", 0) for one in told)
    return Awaited(sum(one.get("requests", 0) for one in told) - reading, reading, len(told))


def _site(origin: str, row: Host | None) -> SiteRobots:
    if row is None or not row.robots_status:
        return SiteRobots(origin)
    robots = Robots.from_status(row.robots_status, row.robots_text.encode("latin-1", "replace"))
    read_at = datetime.fromtimestamp(row.robots_at, UTC)
    if robots is None:
        return SiteRobots(origin, row.robots_status, read_at)
    text = decode(row.robots_text.encode("latin-1", "replace"))
    return SiteRobots(
        origin, row.robots_status, read_at, tuple(dict.fromkeys(robots.sitemaps)), robots.crawl_delay, text
    )
