"""Owns: the checks of an address, in the order in which they are made: each with its reasons, what decides it, and its
words. Pure.

Does not: walk them. Called by: judge and frontier of a crawl, the trace and the explainer, the screens that word both.
"""

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.networks import port_allowed
from clearinghouse.addresses.patterns import Exclude
from crawler.policy.traps import suspicion
from crawler.values import PointSettings


class CheckStage(IntEnum):
    """What a check has to know."""

    ADDRESS = 0  # nothing but the address
    LINK = 1  # as which crawl point it is read
    WAY = 2  # how deep a crawl point found it
    CRAWL = 3  # what only a crawl knows that is about to fetch it


class AddressCheck(NamedTuple):
    name: str  # in a trace, for programs too
    stage: CheckStage
    reasons: tuple[str, ...]  # for which it refuses
    label: str
    passed: str
    stopped: str = ""  # empty: the label
    waiting: str = ""  # while nothing stops the address and it is not known yet
    function: Callable[..., Refusal | None] | None = None  # none: it is made where it is known


def _wrong_port(address: Address) -> Refusal | None:
    return None if port_allowed(address.host, address.port) else Refusal("port_not_allowed", str(address.port))


# What is asked of an address under a root string, with the crawl point as which it is read: the answer is the same for
# all crawl points under whose root string it is. The last two: whether the link, or the whole page, says nofollow.
_Excludes: TypeAlias = Iterable[Exclude]
LinkCheck = Callable[[Address, PointSettings, _Excludes, bool, bool], Refusal | None]


def _trap(address: Address, owner: PointSettings, _: _Excludes, _link: bool, _page: bool) -> Refusal | None:
    rule = suspicion(address) if owner.stop_traps else ""
    return Refusal("trap_suspected", rule) if rule else None


def _excluded(address: Address, _: PointSettings, excludes: _Excludes, _link: bool, _page: bool) -> Refusal | None:
    for exclude in excludes:
        if exclude.matches(address.href):
            return Refusal("excluded", exclude.pattern)
    return None


def _nofollow(_address: Address, owner: PointSettings, _: _Excludes, link: bool, page: bool) -> Refusal | None:
    """A page's own nofollow always counts, a link's by option."""
    return Refusal("nofollow") if page or (link and owner.obey_nofollow) else None


def too_deep(point: PointSettings, depth: int) -> Refusal | None:
    """The last check made when a link is found: the only one that needs the way it was found."""
    return Refusal("too_deep", f"depth {depth} of {point.depth}") if depth > point.depth else None


_ADDRESS, _LINK, _WAY, _CRAWL = CheckStage
CHECKS = (
    AddressCheck("address", _ADDRESS, ("bad_address", "too_long"), "Can be read", "Can be read", "Cannot be read"),
    AddressCheck("scheme", _ADDRESS, ("scheme_not_allowed",), "http or https", "Is http or https",
                 "Is not http or https"),
    AddressCheck("port", _ADDRESS, ("port_not_allowed",), "Port", "Port allowed", "Port not allowed",
                 function=_wrong_port),
    AddressCheck("root", _LINK, ("outside_root",), "Root string", "Begins with the root string"),
    AddressCheck("traps", _LINK, ("trap_suspected",), "Endless addresses", "Not an endless address", "Looks endless",
                 function=_trap),
    AddressCheck("exclude", _LINK, ("excluded",), "Exclude URLs", "Not excluded", "Excluded by the exclude URL",
                 function=_excluded),
    AddressCheck("nofollow", _LINK, ("nofollow",), "nofollow", "Not linked with nofollow only",
                 "Linked with nofollow only", function=_nofollow),
    AddressCheck("depth", _WAY, ("too_deep",), "Depth limit", "Within the depth limit", "Beyond the depth limit",
                 "Depth depends on the page that links to it", too_deep),
    AddressCheck("deactivation", _CRAWL, ("point_deactivated",), "Crawl point active", "Crawl point active",
                 "No crawl point is active"),
    AddressCheck("run limit", _CRAWL, ("run_limit",), "Limits of the run", "Limits of the run",
                 waiting="Limits of the run: decided during the crawl"),
    AddressCheck("network", _CRAWL, ("address_refused",), "Network address", "Network address allowed",
                 "Network address not allowed", "Network address: checked when it is fetched"),
    AddressCheck("robots", _CRAWL, ("robots_disallowed",), "robots.txt", "robots.txt allows it",
                 "robots.txt forbids it", "robots.txt: not read yet; Fetch it now reads it"),
    AddressCheck("maximum", _CRAWL, ("page_limit",), "Maximum pages", "Maximum pages not reached",
                 waiting="Maximum pages: decided during the crawl"),
)  # fmt: skip
CHECK_NAMED = {check.name: check for check in CHECKS}
CHECK_OF = {reason: check for check in CHECKS for reason in check.reasons}
# The reasons in check order: of several verdicts about one URL, the furthest down this list stands in the ledger.
CHECK_ORDER = tuple(CHECK_OF)
RANKS = {reason: rank for rank, reason in enumerate(CHECK_ORDER)}
ADDRESS_CHECKS = tuple(check.function for check in CHECKS if check.stage is _ADDRESS and check.function)
LINK_CHECKS: tuple[LinkCheck, ...] = tuple(c.function for c in CHECKS if c.stage is _LINK and c.function)
