"""The judgement of an address: every check that is made when a link is found, in one place. Pure.

Crawler, explainer, preview and the oracle of the tests ask the same functions, so they cannot disagree.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.addresses.patterns import Exclude, compile_exclude
from clearinghouse.addresses.roots import canonical_root
from clearinghouse.web.plurals import plural
from crawler.policy.address_checks import ADDRESS_CHECKS, CHECKS, LINK_CHECKS, RANKS, CheckStage, too_deep
from crawler.policy.identity import identify, without_session_folder
from crawler.values import PointSettings, Snapshot

from .session_ids import without_folder


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
    roots: tuple[str, ...]  # with the same root of the other scheme, when both count as one
    outside: Refusal


class CrawlRules:
    """The rules of one snapshot, made ready once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.points = [_prepared(point) for point in sorted(snapshot.points, key=lambda p: p.id) if point.active]
        self._settings = {point.settings.id: point.settings for point in self.points}
        # The longest root first, ties to the lowest id: the first that matches is the owner.
        self._by_root = sorted(self.points, key=lambda point: (-len(point.root), point.settings.id))
        compiled = map(compile_exclude, snapshot.excludes)
        self.excludes: Sequence[Exclude] = [exclude for exclude in compiled if not isinstance(exclude, Refusal)]

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
        for check in ADDRESS_CHECKS:
            early = check(address)
            if early is not None:
                return LinkVerdict(
                    address.href, address, owner.id if owner else 0, dict.fromkeys(self._settings, early)
                )
        if owner is None:  # the owner is the first whose root matches: outside for all, and nothing else is asked
            return LinkVerdict(address.href, address, 0, {point.settings.id: point.outside for point in self.points})
        late = None
        for ask in LINK_CHECKS:
            late = ask(address, owner, self.excludes, nofollow, page_nofollow)
            if late is not None:
                break
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
            return trace_of(self.without_points(judged), self.compared(judged))
        point = self._settings.get(point_id or 0) or self.deciding(judged)
        refusal = judged.refusals.get(point.id) if point else None
        if refusal is None and point and found_depth is not None:
            refusal = too_deep(point, found_depth)
        if refusal is None and robots is not None and not robots[0]:
            refusal = Refusal("robots_disallowed", robots[1])
        return trace_of(refusal, self.compared(judged, point, found_depth, robots))

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

    def compared(
        self,
        judged: LinkVerdict,
        point: PointSettings | None = None,
        depth: int | None = None,
        robots: tuple[bool, str] | None = None,
    ) -> dict[str, str]:
        """By the name of the check: what the address was held against."""
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

    def without_points(self, judged: LinkVerdict) -> Refusal:
        """Nobody asks for an address of a document without an active crawl point, unless an earlier check stops it."""
        if judged.address is None:
            read = parse(judged.url)
            return read if isinstance(read, Refusal) else Refusal("bad_address", judged.url)
        refused = (check(judged.address) for check in ADDRESS_CHECKS)
        return next(filter(None, refused), Refusal("point_deactivated"))


def first_blocking(refusals: Iterable[Refusal | None]) -> Refusal | None:
    """Of the verdicts of several crawl points the one that got furthest; None as soon as one let the URL pass."""
    furthest: Refusal | None = None
    for refusal in refusals:
        if refusal is None:
            return None
        if furthest is None or RANKS[refusal.reason] > RANKS[furthest.reason]:
            furthest = refusal
    return furthest


def _prepared(settings: PointSettings) -> _Point:
    try:
        root = canonical_root(settings.root)
    except ValueError:
        root = "\0"  # begins no address: a root string that cannot be read lets nothing in
    if settings.drop_sessions:
        root = without_folder(root)  # copied from a browser; addresses are compared without it
    scheme, separator, rest = root.partition("://")
    swapped = ("http" if scheme == "https" else "https") + separator + rest
    roots = (root, swapped) if settings.merge_schemes and separator else (root,)
    return _Point(settings, root, roots, Refusal("outside_root", settings.root))


def _followed(root: str, href: str) -> int:
    """How many characters of the root string the address begins with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(root, href, strict=False)))


def _under(href: str, point: _Point) -> bool:
    return href.startswith(point.roots)


def trace_of(refusal: Refusal | None, compared: Mapping[str, str]) -> list[TraceLine]:
    """Checks before the refusal passed, those behind it were not made; nor were those of a crawl point without one, or
    those that are made later, unless they say what they compared."""
    lines: list[TraceLine] = []
    stopped = False
    for check in CHECKS:
        asked = "root" if check.stage is CheckStage.LINK else check.name
        if refusal is not None and refusal.reason in check.reasons:
            stopped = True
            lines.append(TraceLine(check.name, "stop", refusal.detail))
        elif stopped or (check.stage is not CheckStage.ADDRESS and asked not in compared):
            lines.append(TraceLine(check.name, "idle", ""))
        else:
            lines.append(TraceLine(check.name, "pass", compared.get(check.name, "")))
    return lines
