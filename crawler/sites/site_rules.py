"""Owns: what a site says before its pages may be asked for: the robots.txt of http and https, asked for once a site,
followed where it was moved, read and obeyed. Another scheme will bring rules of its own.

Does not: pace requests or tell who is silent (site_state), fetch. Called by: the dispatcher.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse, resolve

from ..engine.response_kind import REDIRECTS, SLOW_DOWN, hopeless, retry_after
from ..policy.robots_file import decode
from ..policy.robots_rules import Robots, is_answer
from ..values import REASONS, Fetched, PointSettings, Request
from .site_state import ASKING, BREAKER, KNOWN, ROBOTS_HOPS, UNKNOWN, UNREADABLE, Hosts, SiteState


@dataclass(frozen=True, slots=True)
class RobotsRequest:
    """The mark of a request for robots.txt, and of the site it went to, which a redirect may have named."""

    site: SiteState
    at: SiteState


class SiteRules:
    def __init__(self, hosts: Hosts, start: Callable[[Request], None], *, ignored: bool) -> None:
        self._hosts = hosts
        self._start = start
        self._all_ignored = ignored  # by the run

    def block(self, site: SiteState, owner: PointSettings) -> bool:
        """Whether the site must say its rules first; then it is asked for them."""
        if self._ignored(owner) or site.robots is not None:
            return False
        unchecked = owner.accept_bad_certificate
        untried = unchecked and site.trouble == "tls_failed" and not site.unchecked  # asked for others only
        if site.robots_state == UNREADABLE and not untried:
            return False
        if site.robots_state != ASKING:
            site.robots_state, site.robots_hops, site.unchecked = ASKING, 0, unchecked
            self._ask(site)
        return True

    def refusal(self, site: SiteState, owner: PointSettings, url: str) -> Refusal | None:
        """Why this page is not asked for."""
        ignored = self._ignored(owner)
        if (site.robots_state == UNREADABLE and not ignored) or self._hosts.given_up(site):
            return Refusal(site.trouble, "the site did not answer")
        allowed, rule = (True, "") if ignored or not site.robots else site.robots.allowed(url)
        return None if allowed else Refusal("robots_disallowed", rule)

    def came(self, robots: RobotsRequest, fetched: Fetched) -> None:
        """An answer to a request for robots.txt."""
        site = robots.site
        self._hosts.landed(robots.at)
        location = fetched.header("location") if fetched.status in REDIRECTS else ""
        if fetched.reason:
            self.failed(site, fetched.reason, hopeless(fetched))
        elif location and site.robots_hops < ROBOTS_HOPS:
            site.robots_hops += 1
            self._follow(site, resolve(fetched.request.address.href, location))
        else:
            self.answered(site, fetched.status, fetched.body)
            wait = retry_after(fetched.header("retry-after"), time.time()) if fetched.status in SLOW_DOWN else 0.0
            if wait:
                self._hosts.leave_alone(site, wait)

    def answered(self, site: SiteState, status: int, body: bytes) -> None:
        """RFC 9309: 2xx is read, 4xx allows everything, the rest cannot be read, nor can one asked for too often."""
        if is_answer(status):
            self._hosts.answered(site)
            site.robots_state = KNOWN
            site.fresh_robots = status, decode(body).encode() if status < 300 else b""
            site.robots = Robots.from_status(*site.fresh_robots)
            self._hosts.learned(site)
        else:
            self.failed(site, "robots_unavailable")

    def failed(self, site: SiteState, reason: str, for_good: bool = False) -> None:
        """Nothing is fetched from this site for now; after our patience its messages fail with this reason."""
        site.trouble = reason if reason in REASONS else "robots_unavailable"
        if for_good:  # waiting will not help
            site.robots_state = UNREADABLE
            return
        site.failures = max(site.failures, BREAKER - 1)
        self._hosts.silent(site, site.trouble)
        site.robots_state = UNREADABLE if self._hosts.given_up(site) else UNKNOWN

    def _ignored(self, owner: PointSettings) -> bool:
        return owner.ignore_robots or self._all_ignored

    def _ask(self, site: SiteState) -> None:
        request = self._request(site, site.origin + "/robots.txt")
        if request is not None:
            self._hosts.departed(site)
            self._start(request)

    def _follow(self, site: SiteState, url: str) -> None:
        """A further request, in the turn of the site it goes to."""
        request = self._request(site, url)
        if request is not None:
            self._hosts.take(request.address.origin, lambda: self._start(request))

    def _request(self, site: SiteState, url: str) -> Request | None:
        address = parse(url)
        if isinstance(address, Refusal):
            self.answered(site, 404, b"")
            return None
        mark = RobotsRequest(site, self._hosts.site(address.origin))
        return Request(address.href, address, accept_bad_certificate=site.unchecked, is_robots=True, token=mark)
