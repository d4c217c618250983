"""Owns: how gently each site is treated by this instance: its pace, its pauses, its silences.

Does not: fetch, or ask for robots.txt (site_rules). What must hold over all instances stands in the row of the host
(rate_slots); robots.txt is kept there for a day, so that not every run asks again. Called by: the instance.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from clearinghouse import env
from clearinghouse.database.digests import digest_of

from ..liveness.instances import BEAT_SECONDS
from ..models import Instance
from ..policy.robots_rules import Robots
from . import site_store
from .rate_slots import NEVER, RateSlots, Want
from .site_store import Note, SiteTrouble
from .speeds import SPEEDS

ROBOTS_HOPS = 5
UNKNOWN, ASKING, KNOWN, UNREADABLE = "unknown", "asking", "known", "unreadable"
BREAKER = 5  # failures in a row after which a site is only probed
FIRST_PROBE, LONGEST_PROBE = 1.0, 600.0
STALE_SLOT = 2.0
ASK_SECONDS = 0.05
NO_PAUSE = 0.01  # between slots of a site without a pause that has fewer connections than instances


@dataclass(slots=True, eq=False)
class SiteState:
    """One site (scheme, host, port)."""

    origin: str
    key: bytes
    flying: int = 0
    landed: int = 0  # since the last reservation
    landed_at: float = -NEVER  # this clock and those below: this process's monotonic one
    slots: deque[float] = field(default_factory=deque)
    queue: deque[Callable[[], None]] = field(default_factory=deque)  # requests that go before the next page
    shared: int = 1  # instances that serve it
    used: bool = True  # since the last beat
    next_at: float = 0.0
    failures: int = 0
    down_since: float = 0.0
    told: bool = False  # its row says that it does not answer
    trouble: str = ""  # reason of the last failure
    robots_state: str = UNKNOWN
    robots_hops: int = 0
    robots: Robots | None = None
    unchecked: bool = False  # its robots.txt was asked for whatever its certificate
    wait_until: float = 0.0  # asked for by the site
    fresh_robots: tuple[int, bytes] | None = field(default=None, repr=False)  # not saved yet


class Hosts:
    def __init__(self, speed: str, instance: Instance) -> None:
        self.speed = speed
        self.patience = float(env.number("HOST_PATIENCE"))
        self._pace = RateSlots(instance)
        self._sites: dict[str, SiteState] = {}
        self._wanting: set[SiteState] = set()
        self._queueing: dict[SiteState, None] = {}  # in the order in which they came
        self._learned: dict[SiteState, None] = {}  # something that their rows do not say yet
        self._asked = self._beaten = 0.0

    def site(self, origin: str) -> SiteState:
        site = self._sites.get(origin)
        if site is None:
            self.meet([origin])
            site = self._sites[origin]
        return site

    def meet(self, origins: Iterable[str]) -> None:
        """Sites that are about to be asked for pages: what is known of them is looked up for all of them at once."""
        fresh = [SiteState(origin, digest_of(origin)) for origin in dict.fromkeys(origins) if origin not in self._sites]
        if not fresh:
            return
        known = site_store.read([site.key for site in fresh])
        shared = self._pace.share({site.key: site.origin for site in fresh})
        for site in fresh:
            self._sites[site.origin] = site
            site.shared = max(1, shared[site.key])
            if row := known.get(site.key):
                self._hear(site, row.trouble)
                if robots := Robots.from_status(row.robots_status, row.robots):
                    site.robots_state, site.robots = KNOWN, robots

    # -- pace ---------------------------------------------------------------------------------------------------

    def pause(self, site: SiteState) -> float:
        delay = (site.robots.crawl_delay if site.robots else 0.0) or 0.0
        return max(SPEEDS[self.speed][0], delay)

    def ready(self, site: SiteState, now: float) -> bool:
        """Whether a page may be asked for now; a site with a pause is asked for a slot otherwise."""
        return not site.queue and self._free(site, now)

    def _free(self, site: SiteState, now: float) -> bool:
        if now < site.next_at or (site.down_since and site.flying):
            return False
        if not self._by_slots(site):
            return site.flying < max(1, SPEEDS[self.speed][1] // site.shared)
        if site.slots:
            return site.slots[0] <= now
        self._wanting.add(site)
        return False

    def _by_slots(self, site: SiteState) -> bool:
        """Whether each request takes its turn among those of all instances."""
        return bool(self.pause(site)) or site.shared > SPEEDS[self.speed][1]

    def ask(self, now: float) -> None:
        """Reserve slots for all sites that wait for one."""
        if not self._wanting or now - self._asked < ASK_SECONDS:
            return
        self._asked = now
        wants = [self._want(site) for site in self._wanting]
        granted = self._pace.reserve(wants)
        for site in self._wanting:
            site.landed, site.used = 0, True
            site.slots.extend(granted[site.key])
        self._wanting.clear()

    def _want(self, site: SiteState, limit: int | None = None) -> Want:
        limit = SPEEDS[self.speed][1] if limit is None else limit
        longest = max(pause for pause, _ in SPEEDS.values())
        landed_ago, pause = time.monotonic() - site.landed_at, self.pause(site) or NO_PAUSE
        return Want(site.key, site.origin, pause, limit, site.landed, landed_ago, longest)

    def departed(self, site: SiteState) -> None:
        site.flying += 1
        site.used = True
        if site.slots:
            site.slots.popleft()

    def landed(self, site: SiteState) -> None:
        site.flying -= 1
        site.landed += 1
        site.landed_at = time.monotonic()

    # -- requests that are not the first of their page (fetch/turns.py) ----------------------------------------

    def again(self, origin: str, go: Callable[[], None]) -> None:
        self.landed(self.site(origin))
        self.take(origin, go)

    def take(self, origin: str, go: Callable[[], None]) -> None:
        site = self.site(origin)
        site.queue.append(go)
        self._queueing[site] = None
        self._let_go(site, time.monotonic())

    def done(self, origin: str) -> None:
        self.landed(self.site(origin))

    def let_on(self, now: float) -> None:
        """Those whose turn has come; also while no page may start, because what was begun is to end."""
        for site in list(self._queueing):
            self._let_go(site, now)
        if self._queueing:
            self.ask(now)

    def _let_go(self, site: SiteState, now: float) -> None:
        while site.queue and self._free(site, now):
            self.departed(site)
            site.queue.popleft()()
        if not site.queue:
            self._queueing.pop(site, None)

    # -- over all instances -------------------------------------------------------------------------------------

    def beat(self, now: float) -> None:
        """Every few seconds: give back what is not used, count who else serves our sites, hear what others know."""
        if now - self._beaten < BEAT_SECONDS:
            return
        self._beaten = now
        alone = self._pace.alone()
        idle = {site for site in self._sites.values() if not (site.used or site.flying or now < site.next_at)}
        self._drop_stale_slots()
        self._give_back(idle if alone else self._sites.values())
        self._pace.quit(site.key for site in idle)
        shared = self._pace.share({site.key: site.origin for site in self._sites.values() if site not in idle})
        for site in self._sites.values():
            site.shared = shared[site.key] or site.shared
            site.used = False
        if not alone:
            self._listen()

    def _drop_stale_slots(self) -> None:
        now = time.monotonic()
        for site in self._sites.values():
            if site.slots and now - site.slots[0] > STALE_SLOT:
                site.landed += len(site.slots)
                site.slots.clear()

    def _give_back(self, sites: Collection[SiteState]) -> None:
        landed = [site for site in sites if site.landed and self._by_slots(site) and not (site.flying or site.slots)]
        if landed:
            self._pace.reserve([self._want(site, 0) for site in landed])
            for site in landed:
                site.landed = 0

    def _listen(self) -> None:
        """What other instances were told by our sites, or not told."""
        troubles = site_store.troubles()
        for site in self._sites.values():
            if site in self._learned:
                continue
            if site.key in troubles:
                self._hear(site, troubles[site.key])
            elif site.told:  # it answered somebody, or the next probe is due
                site.next_at = min(site.next_at, site.wait_until)

    def _hear(self, site: SiteState, trouble: SiteTrouble) -> None:
        now = time.monotonic()
        site.next_at = max(site.next_at, now + trouble.wait)
        if not trouble.failing_for:
            site.wait_until = max(site.wait_until, now + trouble.wait)
            return
        site.told = True
        if trouble.wait < -LONGEST_PROBE:  # nobody has looked for long
            self._learned[site] = None
        elif not site.down_since:
            site.down_since, site.trouble = now - trouble.failing_for, trouble.reason
            site.failures = max(site.failures, BREAKER - 1)  # one failure of our own, and we know it too

    def leave(self) -> None:
        self._pace.leave()

    # -- silences -----------------------------------------------------------------------------------------------

    def leave_alone(self, site: SiteState, seconds: float) -> None:
        """The site asked for it: all instances wait, also after a restart."""
        site.next_at = max(site.next_at, time.monotonic() + seconds)
        site.wait_until = max(site.wait_until, time.monotonic() + seconds)
        self._learned[site] = None

    def answered(self, site: SiteState) -> None:
        if not (site.failures or site.told):
            return
        if site.told or site.down_since:
            self._learned[site] = None
            site.next_at = site.wait_until
        site.failures, site.down_since = 0, 0.0

    def silent(self, site: SiteState, reason: str) -> None:
        """No answer came. After a few in a row the site is only probed, less and less often.

        A probe waits as long again as the silence lasts, however many requests were under way when it began.
        """
        now = time.monotonic()
        site.failures += 1
        site.trouble = reason
        if site.failures >= BREAKER:
            site.down_since = site.down_since or now
            wait = min(max(FIRST_PROBE, now - site.down_since), LONGEST_PROBE)
            site.next_at = max(site.next_at, now + wait)
            self._learned[site] = None

    def given_up(self, site: SiteState) -> bool:
        """The site was silent for longer than our patience, and to us too."""
        patient = not site.down_since or time.monotonic() - site.down_since <= self.patience
        return not patient and site.failures >= BREAKER

    def learned(self, site: SiteState) -> None:
        """Its row is to say it, with the next commit."""
        self._learned[site] = None

    def save(self) -> None:
        """With the commit of a batch: what was learned of sites."""
        if self._learned:
            site_store.write([self._note(site) for site in self._learned])
            self._learned.clear()

    def _note(self, site: SiteState) -> Note:
        robots, site.fresh_robots = site.fresh_robots, None
        now = time.monotonic()
        asked = max(site.wait_until - now, 0.0)
        if site.down_since:
            site.told = True
            probe = 0.0 if self.given_up(site) else site.next_at - now
            silence = max(now - site.down_since, 0.001), site.trouble
            return Note(site.key, max(asked, probe, 0.001), silence, robots)
        answers_again = (0.0, "") if site.told else None
        site.told = False
        return Note(site.key, asked, answers_again, robots)
