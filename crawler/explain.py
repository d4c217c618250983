"""Owns: the answer to "would this address be crawled?", check by check. Does not: fetch, or store anything.

The checks are the crawler's own functions, so the answer cannot differ from what a crawl does.
Called by: the command explain, the tester, every Why?.
"""

import time
from typing import Any

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.networks import address_allowed
from clearinghouse.addresses.parse import parse
from clearinghouse.digests import digest_of

from .hosts import ROBOTS_KEPT
from .models import Excursion, Host, LedgerEntry
from .policy.judge import Rules, TraceLine
from .policy.robots import Robots
from .values import Snapshot

YES, NO, DEPENDS = "yes", "no", "depends"
_REASON_OF = {
    "address": "bad_address", "scheme": "scheme_not_allowed", "port": "port_not_allowed", "traps": "trap_suspected",
    "root": "outside_root", "exclude": "excluded", "nofollow": "nofollow", "depth": "too_deep",
    "network": "address_refused", "robots": "robots_disallowed",
}  # fmt: skip


def explain(snapshot: Snapshot, url: str, found_on: str = "") -> dict[str, Any]:
    """{"verdict": yes, no or depends, "reason": code, "url": canonical, "depth": n, "trace": [lines]}"""
    rules = Rules(snapshot)
    judged = rules.verdicts(url)
    depth = _depth(snapshot, judged.url, found_on)
    lines = [_network(line, judged.url) for line in rules.trace(url, depth, robots=_robots(rules, judged))]
    stop = next((line for line in lines if line.result == "stop"), None)
    reason = _reason(judged.refusals.values(), stop)
    verdict = NO if stop else YES if depth is not None else DEPENDS
    trace = [line._asdict() for line in lines]
    return {"verdict": verdict, "reason": reason, "url": judged.url, "depth": depth, "trace": trace}


def _reason(refusals: Any, stop: TraceLine | None) -> str:
    if stop is None:
        return ""
    codes = {refusal.reason for refusal in refusals if refusal}
    expected = _REASON_OF.get(stop.check, "")
    return "too_long" if stop.check == "address" and "too_long" in codes else expected


def _depth(snapshot: Snapshot, url: str, found_on: str) -> int | None:
    """0 for a crawl point itself; one more than the page it was found on, when the last run knows that page."""
    if any(parse(point.url) == parse(url) for point in snapshot.points):
        return 0
    parent = parse(found_on) if found_on else None
    if parent is None or isinstance(parent, Refusal):
        return None
    if any(parse(point.url) == parent for point in snapshot.points):
        return 1
    last = Excursion.objects.filter(doc_id=snapshot.doc_id).order_by("-id").first()
    row = LedgerEntry.objects.filter(excursion=last, url_key=digest_of(parent.href)).first() if last else None
    return row.depth + 1 if row else None


def _robots(rules: Rules, judged: Any) -> tuple[bool, str] | None:
    """The verdict of the robots.txt kept of this site; None when it was never read or is not asked."""
    owner = next((p.settings for p in rules.points if p.settings.id == judged.owner), None)
    if judged.address is None or owner is None or owner.ignore_robots:
        return None
    rows = Host.objects.filter(key=digest_of(judged.address.origin), robots_at__gt=time.time() - ROBOTS_KEPT)
    row = rows.first()
    robots = Robots.from_status(row.robots_status, row.robots_text.encode("latin-1", "replace")) if row else None
    return robots.allowed(judged.url) if robots else None


def _network(line: TraceLine, url: str) -> TraceLine:
    """An address given in numbers is judged at once; a name only when it is resolved for the request."""
    address = parse(url)
    if line.check != "network" or isinstance(address, Refusal):
        return line
    host = address.host.strip("[]")
    if not host.replace(".", "").isdigit() and ":" not in host:
        return line
    allowed = address_allowed(host, address.port)
    return line._replace(result="pass" if allowed else "stop", detail=host)
