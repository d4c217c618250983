"""The judgement of an address: every check that is made when a link is found, in one place. Pure.

Crawler, explainer, preview and the oracle of the tests ask the same functions, so they cannot disagree.
"""

from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.networks import port_allowed
from clearinghouse.addresses.parsing import parse
from clearinghouse.addresses.patterns import Exclude, compile_exclude
from clearinghouse.addresses.roots import canonical_root
from clearinghouse.web.plurals import plural
from crawler.policy.identity import identify, without_session_folder
from crawler.policy.traps import suspicion
from crawler.values import PointSettings, Snapshot

from .session_ids import without_folder

# The reasons in check order: of several verdicts about one URL, the furthest down this list stands in the ledger.
CHECK_ORDER = (
    "bad_address", "too_long", "scheme_not_allowed", "port_not_allowed", "outside_root", "trap_suspected",
    "excluded", "nofollow", "too_deep", "point_deactivated", "run_limit", "address_refused", "robots_disallowed",
    "page_limit",
)  # fmt: skip
_CHECKS = {
    "address": ("bad_address", "too_long"), "scheme": ("scheme_not_allowed",), "port": ("port_not_allowed",),
    "root": ("outside_root",), "traps": ("trap_suspected",), "exclude": ("excluded",), "nofollow": ("nofollow",),
    "depth": ("too_deep",), "deactivation": ("point_deactivated",), "run limit": ("run_limit",),
    "network": ("address_refused",), "robots": ("robots_disallowed",), "maximum": ("page_limit",),
}  # fmt: skip
_OF_A_POINT = frozenset({"root", "traps", "exclude", "nofollow", "depth"})  # what only a crawl point can answer
_ASKED_LATER = {"depth", "deactivation", "run limit", "network", "robots", "maximum"}
_RANK = {reason: rank for rank, reason in enumerate(CHECK_ORDER)}


class LinkVerdict(NamedTuple):
    """What one raw link comes to, for all active crawl points of the document."""

    url: str  # the identity: canonical, options of the owner applied; the raw text when it is no web address
    address: Address | None
    owner: int  # id of the crawl point as which the URL is read, 0 for none
    refusals: dict[int, Refusal | None]  # by crawl point id; None = may be queued for it (depth aside)


class TraceLine(NamedTuple):
    check: str
    result: str  # pass, stop, idle
    detail: str


class _Point(NamedTuple):
    settings: PointSettings
    root: str
    other_root: str  # the same root with the other scheme, when both count as one
    outside: Refusal


class CrawlRules:
    """The rules of one snapshot, made ready once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.points = [_prepared(point) for point in sorted(snapshot.points, key=lambda p: p.id) if point.active]
        self._settings = {point.settings.id: point.settings for point in self.points}
        # The longest root first, ties to the lowest id: the first that matches is the owner.
        self._by_root = sorted(self.points, key=lambda point: (-len(point.root), point.settings.id))
        compiled = map(compile_exclude, snapshot.excludes)
        self.excludes: list[Exclude] = [exclude for exclude in compiled if not isinstance(exclude, Refusal)]

    def owner(self, address: Address) -> PointSettings | None:
        """The crawl point as which this address is read: longest root on the canonical URL, before its options."""
        href = address.href
        for point in self._by_root:
            if _under(href, point):
                return point.settings
        return None

    def identity(self, address: Address) -> tuple[Address, PointSettings | None]:
        """The page an address names, and as whom it is read: both depend on the result alone, however it was found."""
        owner = self.owner(address)
        if owner is None and "/(" in address.path:  # the folder of a session may hide whose address it is
            plain = without_session_folder(address)
            owner = self.owner(plain)
            if owner is None or not owner.drop_sessions:
                return address, None
            address = plain
        while owner is not None:
            named = identify(address, owner)
            if named is address:
                break
            address, owner = named, self.owner(named)  # ends: an owner's root never gets shorter
        return address, owner

    def verdicts(self, href: str, nofollow: bool = False, page_nofollow: bool = False) -> LinkVerdict:
        """Judge one link for every crawl point at once. A page's own nofollow always counts, a link's by option."""
        parsed = parse(href)
        if isinstance(parsed, Refusal):
            return LinkVerdict(href, None, 0, dict.fromkeys(self._settings, parsed))
        address, owner = self.identity(parsed)
        early = _early(address)
        if early is not None:
            return LinkVerdict(address.href, address, owner.id if owner else 0, dict.fromkeys(self._settings, early))
        if owner is None:  # the owner is the first whose root matches: outside for all, and nothing else is asked
            return LinkVerdict(address.href, address, 0, {point.settings.id: point.outside for point in self.points})
        late = self._late(address, owner, nofollow, page_nofollow)
        refusals = {point.settings.id: late if _under(address.href, point) else point.outside for point in self.points}
        return LinkVerdict(address.href, address, owner.id, refusals)

    def trace(
        self,
        url: str,
        found_depth: int | None = None,
        nofollow: bool = False,
        robots: tuple[bool, str] | None = None,
        point_id: int | None = None,
    ) -> list[TraceLine]:
        """Every check in order, with its result: the explainer's answer. For the crawl point that is named, or else
        for the one that decides."""
        judged = self.verdicts(url, nofollow)
        if not self.points:
            return _lines(_without_points(judged), self._details(judged, None, None, None), _OF_A_POINT)
        point = self._settings.get(point_id or 0) or self.deciding(judged)
        refusal = judged.refusals.get(point.id) if point else None
        if refusal is None and point and found_depth is not None:
            refusal = too_deep(point, found_depth)
        if refusal is None and robots is not None and not robots[0]:
            refusal = Refusal("robots_disallowed", robots[1])
        details = self._details(judged, point, found_depth, robots)
        return _lines(refusal, details)

    def deciding(self, judged: LinkVerdict) -> PointSettings | None:
        """The crawl point whose verdict stands: of several that let the URL in the owner, of several that get equally
        far the one whose root string it follows longest."""
        standing = first_blocking(judged.refusals.values())
        reason = standing.reason if standing else None
        best = [
            point
            for point in self.points
            if (refusal.reason if (refusal := judged.refusals[point.settings.id]) else None) == reason
        ]
        if judged.owner in {point.settings.id for point in best}:
            return self._settings[judged.owner]
        nearest = max(best, key=lambda point: _followed(point.root, judged.url), default=None)
        return nearest.settings if nearest else None

    def _details(
        self, judged: LinkVerdict, point: PointSettings | None, depth: int | None, robots: tuple[bool, str] | None
    ) -> dict[str, str]:
        address = judged.address
        details = {"address": judged.url}
        if address is not None:
            details |= {"scheme": address.scheme, "port": str(address.port)}
        if point is not None:
            details["root"] = point.root
        if self.excludes:
            count = len(self.excludes)
            details["exclude"] = f"{plural(count, 'exclude URL')} of the document"
        if point is not None and depth is not None:
            details["depth"] = f"depth {depth} of {point.depth}"
        if robots is not None:
            details["robots"] = robots[1]
        return details

    def _late(self, address: Address, owner: PointSettings, nofollow: bool, page_nofollow: bool) -> Refusal | None:
        """The checks after the root, which are the same for all crawl points whose root it begins with."""
        if owner.stop_traps:
            rule = suspicion(address)
            if rule:
                return Refusal("trap_suspected", rule)
        excluded = self._excluded(address)
        if excluded is not None:
            return excluded
        return Refusal("nofollow") if page_nofollow or (nofollow and owner.obey_nofollow) else None

    def _excluded(self, address: Address) -> Refusal | None:
        for exclude in self.excludes:
            if exclude.matches(address.href):
                return Refusal("excluded", exclude.pattern)
        return None


def first_blocking(refusals: Iterable[Refusal | None]) -> Refusal | None:
    """Of the verdicts of several crawl points the one that got furthest; None as soon as one let the URL pass."""
    furthest: Refusal | None = None
    for refusal in refusals:
        if refusal is None:
            return None
        if furthest is None or _RANK[refusal.reason] > _RANK[furthest.reason]:
            furthest = refusal
    return furthest


def too_deep(point: PointSettings, depth: int) -> Refusal | None:
    """The last check made when a link is found: the only one that needs the way it was found."""
    return Refusal("too_deep", f"depth {depth} of {point.depth}") if depth > point.depth else None


def _early(address: Address) -> Refusal | None:
    """The check of a readable address before the root, which is the same for all crawl points."""
    if not port_allowed(address.host, address.port):
        return Refusal("port_not_allowed", str(address.port))
    return None


def _prepared(settings: PointSettings) -> _Point:
    try:
        root = canonical_root(settings.root)
    except ValueError:
        root = "\0"  # begins no address: a root string that cannot be read lets nothing in
    if settings.drop_sessions:
        root = without_folder(root)  # copied from a browser; addresses are compared without it
    scheme, separator, rest = root.partition("://")
    swapped = ("http" if scheme == "https" else "https") + separator + rest
    other = swapped if settings.merge_schemes and separator else root
    return _Point(settings, root, other, Refusal("outside_root", settings.root))


def _followed(root: str, href: str) -> int:
    """How many characters of the root string the address begins with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(root, href, strict=False)))


def _under(href: str, point: _Point) -> bool:
    return href.startswith((point.root, point.other_root))


def _without_points(judged: LinkVerdict) -> Refusal:
    """Nobody asks for an address of a document without an active crawl point; the earlier checks stop it earlier."""
    if judged.address is None:
        read = parse(judged.url)
        return read if isinstance(read, Refusal) else Refusal("bad_address", judged.url)
    return _early(judged.address) or Refusal("point_deactivated")


def _lines(refusal: Refusal | None, details: dict[str, str], unasked: frozenset[str] = frozenset()) -> list[TraceLine]:
    """Checks before the refusal passed, those behind it were not made; without a detail nobody asked them."""
    lines: list[TraceLine] = []
    stopped = False
    for check, reasons in _CHECKS.items():
        if refusal is not None and refusal.reason in reasons:
            stopped = True
            lines.append(TraceLine(check, "stop", refusal.detail))
        elif stopped or check in unasked or (check in _ASKED_LATER and check not in details):
            lines.append(TraceLine(check, "idle", ""))
        else:
            lines.append(TraceLine(check, "pass", details.get(check, "")))
    return lines
