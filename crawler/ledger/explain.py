"""Owns: the answer to "would this address be crawled?", check by check. Does not: fetch, or store anything.

The checks are the crawler's own functions, so the answer cannot differ from what a crawl does.
Called by: the command explain, the tester, every Why?.
"""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.networks import address_allowed
from clearinghouse.database.digests import digest_of
from crawlpoints.points_by_address import comparable_root

from .. import extract
from ..models import Excursion, LedgerEntry, PageVersion, State
from ..policy.address_checks import RANKS, too_deep
from ..policy.judge import CrawlRules, LinkVerdict, trace_of
from ..preview.timed_rules import Deadline, RulesInTime
from ..sites import site_store
from ..values import REASONS, PointSettings, Snapshot
from .depths import depths_of

YES, NO, DEPENDS = "yes", "no", "depends"
NO_POINT = "no crawl point of this document is active"
IGNORED = "ignored by this crawl point"
Verdict = tuple[bool, str]  # of a robots.txt: whether it allows, and its rule


def explain(
    snapshot: Snapshot, url: str, found_on: str = "", robots: Verdict | None = None, rules: RulesInTime | None = None
) -> dict[str, Any]:
    """{"verdict": yes, no or depends, "reason": code, "url": canonical, "depth": n, "crawl_point_id": n,
    "trace": [lines]}

    The crawl point is the one that decides. The depth is the one at which it would be crawled, or the highest possible
    one while that depends on the page that links to it. `robots` is the verdict of a robots.txt read just now;
    otherwise the one kept counts. `rules`, of the same snapshot, serve many addresses. Raises TimeUsedUp when their
    deadline comes first.
    """
    rules = rules or RulesInTime(snapshot, Deadline())
    judged = rules.verdicts(url)
    source = _source(snapshot, rules, found_on)
    arrivals = _arrivals(rules, judged, found_on, source)
    linked = rules.verdicts(url, *_marks(source[1], rules, judged.url)) if source else judged
    best = _best(rules, judged, linked, arrivals)
    point = best.point if best else _deepest(rules, judged)
    refusal, compared = _checked(rules, judged, point, best, robots)
    verdict = NO if refusal else YES if best else DEPENDS
    limit = point.depth if point else 0
    return {
        "verdict": verdict, "reason": refusal.reason if refusal else "", "url": judged.url,
        "depth": best.depth if best else limit if verdict == DEPENDS else None,
        "crawl_point_id": point.id if point else None,
        "trace": [line._asdict() for line in trace_of(refusal, compared)],
    }  # fmt: skip


def sentence_of(answer: Mapping[str, Any]) -> str:
    """The answer in words."""
    depth, reason = answer["depth"], answer["reason"]
    if answer["verdict"] == NO:
        # What stops an address before a crawl is never a crawl point deactivated meanwhile.
        return f"No, because {NO_POINT if reason == 'point_deactivated' else REASONS[reason].because}"
    if depth:
        return f"Yes, at depth {depth} at most"
    if answer["verdict"] == YES:
        return "Yes, at depth 0: a crawl starts there"
    return "Only if the start page redirects to it: the depth limit is 0"


def _deepest(rules: CrawlRules, judged: LinkVerdict) -> PointSettings | None:
    """Of the crawl points that let it in the one with the highest depth limit; of several the owner."""
    points = (prepared.settings for prepared in rules.points)
    free = [point for point in points if judged.refusals.get(point.id) is None]
    return max(free, key=lambda point: (point.depth, point.id == judged.owner), default=rules.deciding(judged))


class Arrival(NamedTuple):
    """The address as one crawl point finds it."""

    point: PointSettings
    depth: int
    refusal: Refusal | None


def _best(rules: CrawlRules, judged: LinkVerdict, linked: LinkVerdict, arrivals: dict[int, int]) -> Arrival | None:
    """Of the crawl points that find it the one that lets it in, or else the one that gets furthest in the checks."""
    found: list[Arrival] = []
    for point in (prepared.settings for prepared in rules.points):
        if point.id in arrivals and point.id in judged.refusals:
            depth = arrivals[point.id]
            # What a link says of itself does not count where a crawl begins.
            refusal = (linked if depth else judged).refusals[point.id] or too_deep(point, depth)
            found.append(Arrival(point, depth, refusal))
    return max(found, key=lambda one: (_order(one.refusal), -one.depth), default=None)


def _order(refusal: Refusal | None) -> int:
    return len(RANKS) if refusal is None else RANKS[refusal.reason]


def _source(snapshot: Snapshot, rules: CrawlRules, found_on: str) -> tuple[Excursion, LedgerEntry] | None:
    """The page named, as the latest crawl of the document met it."""
    if not found_on:
        return None
    key = digest_of(rules.verdicts(found_on).url)
    rows = LedgerEntry.objects.filter(doc_id=snapshot.doc_id, url_key=key).exclude(excursion__state=State.CANCELLED)
    row = rows.select_related("excursion").order_by("-id").first()
    return (row.excursion, row) if row else None


def _marks(source: LedgerEntry, rules: CrawlRules, url: str) -> tuple[bool, bool]:
    """Whether each link of the page to this address, and whether the page itself, says nofollow."""
    columns = PageVersion.objects.filter(pk=source.version_id).values_list("links", "flags").first()
    if columns is None:
        return False, False
    links = extract.unpack_links(bytes(columns[0])) if columns[0] else []
    marked = {link.nofollow for link in links if rules.verdicts(link.url).url == url}
    return marked == {True}, bool(marked) and "nofollow" in columns[1].split()


def _arrivals(
    rules: RulesInTime, judged: LinkVerdict, found_on: str, source: tuple[Excursion, LedgerEntry] | None
) -> dict[int, int]:
    """Crawl point -> depth at which it finds the address: as its own URL, or on the page named, if that is known."""
    own = _starting_at(rules, judged.url)
    if not found_on:
        return own
    if source is None:
        return dict.fromkeys(_starting_at(rules, rules.verdicts(found_on).url), 1) | own
    last, row = source
    # A redirect is no click: what it leads to is as deep as itself.
    step = 0 if row.redirect_url and rules.verdicts(row.redirect_url).url == judged.url else 1
    nearest = {row.crawl_point_id: row.depth} if row.crawl_point_id else {}
    # The nearest way mostly decides; else a shorter one than that of the ledger, or another crawl point, may.
    letting_in = _best(rules, judged, judged, {point: depth + step for point, depth in nearest.items()})
    if letting_in is None or letting_in.refusal is not None:
        nearest = depths_of(last, row.url_key, rules.deadline) or nearest
    return {point: depth + step for point, depth in nearest.items()} | own


def _starting_at(rules: CrawlRules, url: str) -> dict[int, int]:
    """The crawl points that begin at this address."""
    points = (point.settings for point in rules.points)
    return {point.id: 0 for point in points if rules.verdicts(point.url).url == url}


def _checked(
    rules: CrawlRules, judged: LinkVerdict, point: PointSettings | None, best: Arrival | None, robots: Verdict | None
) -> tuple[Refusal | None, dict[str, str]]:
    """What stops it, and what each check compared; without a crawl point nobody asks for it."""
    if point is None:
        return rules.without_points(judged), rules.compared(judged)
    owner = next((one.settings for one in rules.points if one.settings.id == judged.owner), None)
    robots = robots or _robots(owner, judged)
    compared = rules.compared(judged, point, best.depth if best else None, robots)
    if owner is not None and owner.ignore_robots:
        compared["robots"] = IGNORED
    refusal = best.refusal if best else judged.refusals.get(point.id)
    if refusal is None and robots is not None and not robots[0]:
        refusal = Refusal("robots_disallowed", robots[1])
    if refusal is None and judged.address is not None:
        compared["deactivation"] = ""  # the rules hold active crawl points only
        refusal = _network(judged.address, compared)
    return refusal, compared


def _robots(owner: PointSettings | None, judged: LinkVerdict) -> Verdict | None:
    """The verdict of the robots.txt kept of this site; None when it was never read or is not asked."""
    if judged.address is None or owner is None or owner.ignore_robots:
        return None
    robots = site_store.robots(digest_of(judged.address.origin))
    return robots.allowed(judged.url) if robots else None


def _network(address: Address, compared: dict[str, str]) -> Refusal | None:
    """An address given in numbers is judged at once; a name only when it is resolved for the request."""
    host = address.host.strip("[]")
    if not host.replace(".", "").isdigit() and ":" not in host:
        return None
    compared["network"] = host
    return None if address_allowed(host, address.port) else Refusal("address_refused", host)


class RootComparison(NamedTuple):
    """Root string and address with the first character that differs."""

    same: str
    root_hit: str
    root_rest: str
    address_hit: str
    address_rest: str

    @property
    def position(self) -> int:
        return len(self.same) + 1


def compare(root: str, address: str) -> RootComparison | None:
    """Where they part, the root as it is compared; None when the address does begin with it."""
    root = comparable_root(root)
    at = next((at for at, (one, other) in enumerate(zip_longest(root, address)) if one != other), len(root))
    if at == len(root):
        return None
    return RootComparison(root[:at], root[at : at + 1], root[at + 1 :], address[at : at + 1], address[at + 1 :])
