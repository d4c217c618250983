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
class Desk:
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
        self._desks: dict[str, Desk] = {}
        self._wanting: set[Desk] = set()
        self._queueing: dict[Desk, None] = {}  # in the order in which they came
        self._learned: dict[Desk, None] = {}  # something that their rows do not say yet
        self._asked = self._beaten = 0.0

    def desk(self, origin: str) -> Desk:
        desk = self._desks.get(origin)
        if desk is None:
            self.meet([origin])
            desk = self._desks[origin]
        return desk

    def meet(self, origins: Iterable[str]) -> None:
        """Sites that are about to be asked for pages: what is known of them is looked up for all of them at once."""
        fresh = [Desk(origin, digest_of(origin)) for origin in dict.fromkeys(origins) if origin not in self._desks]
        if not fresh:
            return
        known = site_store.read([desk.key for desk in fresh])
        shared = self._pace.share({desk.key: desk.origin for desk in fresh})
        for desk in fresh:
            self._desks[desk.origin] = desk
            desk.shared = max(1, shared[desk.key])
            if row := known.get(desk.key):
                self._hear(desk, row.trouble)
                if robots := Robots.from_status(row.robots_status, row.robots):
                    desk.robots_state, desk.robots = KNOWN, robots

    # -- pace ---------------------------------------------------------------------------------------------------

    def pause(self, desk: Desk) -> float:
        delay = (desk.robots.crawl_delay if desk.robots else 0.0) or 0.0
        return max(SPEEDS[self.speed][0], delay)

    def ready(self, desk: Desk, now: float) -> bool:
        """Whether a page may be asked for now; a site with a pause is asked for a slot otherwise."""
        return not desk.queue and self._free(desk, now)

    def _free(self, desk: Desk, now: float) -> bool:
        if now < desk.next_at or (desk.down_since and desk.flying):
            return False
        if not self._by_slots(desk):
            return desk.flying < max(1, SPEEDS[self.speed][1] // desk.shared)
        if desk.slots:
            return desk.slots[0] <= now
        self._wanting.add(desk)
        return False

    def _by_slots(self, desk: Desk) -> bool:
        """Whether each request takes its turn among those of all instances."""
        return bool(self.pause(desk)) or desk.shared > SPEEDS[self.speed][1]

    def ask(self, now: float) -> None:
        """Reserve slots for all sites that wait for one."""
        if not self._wanting or now - self._asked < ASK_SECONDS:
            return
        self._asked = now
        wants = [self._want(desk) for desk in self._wanting]
        granted = self._pace.reserve(wants)
        for desk in self._wanting:
            desk.landed, desk.used = 0, True
            desk.slots.extend(granted[desk.key])
        self._wanting.clear()

    def _want(self, desk: Desk, limit: int | None = None) -> Want:
        limit = SPEEDS[self.speed][1] if limit is None else limit
        longest = max(pause for pause, _ in SPEEDS.values())
        landed_ago, pause = time.monotonic() - desk.landed_at, self.pause(desk) or NO_PAUSE
        return Want(desk.key, desk.origin, pause, limit, desk.landed, landed_ago, longest)

    def departed(self, desk: Desk) -> None:
        desk.flying += 1
        desk.used = True
        if desk.slots:
            desk.slots.popleft()

    def landed(self, desk: Desk) -> None:
        desk.flying -= 1
        desk.landed += 1
        desk.landed_at = time.monotonic()

    # -- requests that are not the first of their page (fetch/turns.py) ----------------------------------------

    def again(self, origin: str, go: Callable[[], None]) -> None:
        self.landed(self.desk(origin))
        self.take(origin, go)

    def take(self, origin: str, go: Callable[[], None]) -> None:
        desk = self.desk(origin)
        desk.queue.append(go)
        self._queueing[desk] = None
        self._let_go(desk, time.monotonic())

    def done(self, origin: str) -> None:
        self.landed(self.desk(origin))

    def let_on(self, now: float) -> None:
        """Those whose turn has come; also while no page may start, because what was begun is to end."""
        for desk in list(self._queueing):
            self._let_go(desk, now)
        if self._queueing:
            self.ask(now)

    def _let_go(self, desk: Desk, now: float) -> None:
        while desk.queue and self._free(desk, now):
            self.departed(desk)
            desk.queue.popleft()()
        if not desk.queue:
            self._queueing.pop(desk, None)

    # -- over all instances -------------------------------------------------------------------------------------

    def beat(self, now: float) -> None:
        """Every few seconds: give back what is not used, count who else serves our sites, hear what others know."""
        if now - self._beaten < BEAT_SECONDS:
            return
        self._beaten = now
        alone = self._pace.alone()
        idle = {desk for desk in self._desks.values() if not (desk.used or desk.flying or now < desk.next_at)}
        self._drop_stale_slots()
        self._give_back(idle if alone else self._desks.values())
        self._pace.quit(desk.key for desk in idle)
        shared = self._pace.share({desk.key: desk.origin for desk in self._desks.values() if desk not in idle})
        for desk in self._desks.values():
            desk.shared = shared[desk.key] or desk.shared
            desk.used = False
        if not alone:
            self._listen()

    def _drop_stale_slots(self) -> None:
        now = time.monotonic()
        for desk in self._desks.values():
            if desk.slots and now - desk.slots[0] > STALE_SLOT:
                desk.landed += len(desk.slots)
                desk.slots.clear()

    def _give_back(self, desks: Collection[Desk]) -> None:
        landed = [desk for desk in desks if desk.landed and self._by_slots(desk) and not (desk.flying or desk.slots)]
        if landed:
            self._pace.reserve([self._want(desk, 0) for desk in landed])
            for desk in landed:
                desk.landed = 0

    def _listen(self) -> None:
        """What other instances were told by our sites, or not told."""
        troubles = site_store.troubles()
        for desk in self._desks.values():
            if desk in self._learned:
                continue
            if desk.key in troubles:
                self._hear(desk, troubles[desk.key])
            elif desk.told:  # it answered somebody, or the next probe is due
                desk.next_at = min(desk.next_at, desk.wait_until)

    def _hear(self, desk: Desk, trouble: SiteTrouble) -> None:
        now = time.monotonic()
        desk.next_at = max(desk.next_at, now + trouble.wait)
        if not trouble.failing_for:
            desk.wait_until = max(desk.wait_until, now + trouble.wait)
            return
        desk.told = True
        if trouble.wait < -LONGEST_PROBE:  # nobody has looked for long
            self._learned[desk] = None
        elif not desk.down_since:
            desk.down_since, desk.trouble = now - trouble.failing_for, trouble.reason
            desk.failures = max(desk.failures, BREAKER - 1)  # one failure of our own, and we know it too

    def leave(self) -> None:
        self._pace.leave()

    # -- silences -----------------------------------------------------------------------------------------------

    def leave_alone(self, desk: Desk, seconds: float) -> None:
        """The site asked for it: all instances wait, also after a restart."""
        desk.next_at = max(desk.next_at, time.monotonic() + seconds)
        desk.wait_until = max(desk.wait_until, time.monotonic() + seconds)
        self._learned[desk] = None

    def answered(self, desk: Desk) -> None:
        if not (desk.failures or desk.told):
            return
        if desk.told or desk.down_since:
            self._learned[desk] = None
            desk.next_at = desk.wait_until
        desk.failures, desk.down_since = 0, 0.0

    def silent(self, desk: Desk, reason: str) -> None:
        """No answer came. After a few in a row the site is only probed, less and less often.

        A probe waits as long again as the silence lasts, however many requests were under way when it began.
        """
        now = time.monotonic()
        desk.failures += 1
        desk.trouble = reason
        if desk.failures >= BREAKER:
            desk.down_since = desk.down_since or now
            wait = min(max(FIRST_PROBE, now - desk.down_since), LONGEST_PROBE)
            desk.next_at = max(desk.next_at, now + wait)
            self._learned[desk] = None

    def given_up(self, desk: Desk) -> bool:
        """The site was silent for longer than our patience, and to us too."""
        patient = not desk.down_since or time.monotonic() - desk.down_since <= self.patience
        return not patient and desk.failures >= BREAKER

    def learned(self, desk: Desk) -> None:
        """Its row is to say it, with the next commit."""
        self._learned[desk] = None

    def save(self) -> None:
        """With the commit of a batch: what was learned of sites."""
        if self._learned:
            site_store.write([self._note(desk) for desk in self._learned])
            self._learned.clear()

    def _note(self, desk: Desk) -> Note:
        robots, desk.fresh_robots = desk.fresh_robots, None
        now = time.monotonic()
        asked = max(desk.wait_until - now, 0.0)
        if desk.down_since:
            desk.told = True
            probe = 0.0 if self.given_up(desk) else desk.next_at - now
            silence = max(now - desk.down_since, 0.001), desk.trouble
            return Note(desk.key, max(asked, probe, 0.001), silence, robots)
        answers_again = (0.0, "") if desk.told else None
        desk.told = False
        return Note(desk.key, asked, answers_again, robots)
