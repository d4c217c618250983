"""Owns: how gently each site is treated by this instance: its pace, its pauses, its robots.txt, its silences.

Does not: fetch. What must hold over all instances stands in the row of the host (pace.py); robots.txt is kept there
for a day, so that not every run asks again. Called by: the instance.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from clearinghouse import env
from clearinghouse.digests import digest_of

from .models import Host, Instance
from .pace import Pace, Want
from .policy.robots import Robots
from .speeds import SPEEDS
from .values import REASONS

ROBOTS_KEPT = 24 * 3600.0
ROBOTS_HOPS = 5
UNKNOWN, ASKING, KNOWN, UNREADABLE = "unknown", "asking", "known", "unreadable"
BREAKER = 5  # failures in a row after which a site is only probed
LONGEST_PROBE = 600.0
STALE_SLOT = 2.0
ASK_SECONDS = 0.05
_AT_ONCE = {"dns_failed", "address_refused", "port_not_allowed", "tls_failed"}  # a silence that waiting does not end


@dataclass(slots=True, eq=False)
class Desk:
    """One site (scheme, host, port)."""

    origin: str
    key: bytes
    flying: int = 0
    landed: int = 0  # since the last reservation
    landed_at: float = 0.0  # seconds since 1970
    slots: deque[float] = field(default_factory=deque)
    queue: deque[Callable[[], None]] = field(default_factory=deque)  # requests that go before the next page
    shared: int = 1  # instances that serve it
    next_at: float = 0.0  # this process's monotonic clock
    failures: int = 0
    down_since: float = 0.0
    probe_wait: float = 0.0
    trouble: str = ""  # reason of the last failure
    robots_state: str = UNKNOWN
    robots_hops: int = 0
    robots: Robots | None = None
    dirty: bool = False
    wait_until: float = 0.0
    text: bytes = field(default=b"", repr=False)
    status: int = 0


class Hosts:
    def __init__(self, speed: str, instance: Instance) -> None:
        self.speed = speed
        self.patience = float(env.number("HOST_PATIENCE"))
        self._pace = Pace(instance)
        self._desks: dict[str, Desk] = {}
        self._wanting: set[Desk] = set()
        self._queueing: dict[Desk, None] = {}  # in the order in which they came
        self._asked = 0.0

    def desk(self, origin: str) -> Desk:
        desk = self._desks.get(origin)
        if desk is None:
            desk = self._desks[origin] = Desk(origin, digest_of(origin))
            _recall(desk)
        return desk

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
        if not self.pause(desk):
            return desk.flying < max(1, SPEEDS[self.speed][1] // desk.shared)
        if desk.slots:
            return desk.slots[0] <= time.time()
        self._wanting.add(desk)
        return False

    def ask(self, now: float) -> None:
        """Reserve slots for all sites that wait for one."""
        if not self._wanting or now - self._asked < ASK_SECONDS:
            return
        self._asked = now
        wants = [self._want(desk) for desk in self._wanting]
        granted = self._pace.reserve(wants)
        for desk in self._wanting:
            desk.landed = 0
            desk.slots.extend(granted[desk.key])
        self._wanting.clear()

    def _want(self, desk: Desk) -> Want:
        return Want(desk.key, desk.origin, self.pause(desk) or 0.01, SPEEDS[self.speed][1], desk.landed, desk.landed_at)

    def departed(self, desk: Desk) -> None:
        desk.flying += 1
        if desk.slots:
            desk.slots.popleft()

    def landed(self, desk: Desk) -> None:
        desk.flying -= 1
        desk.landed += 1
        desk.landed_at = time.time()

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

    def beat(self) -> None:
        """Every few seconds: give back what is not used, count who else serves our sites."""
        now = time.time()
        for desk in self._desks.values():
            if desk.slots and now - desk.slots[0] > STALE_SLOT:
                desk.landed += len(desk.slots)
                desk.slots.clear()
        idle = [desk for desk in self._desks.values() if desk.landed and self.pause(desk) and not desk.flying]
        if idle:
            self._pace.reserve([Want(d.key, d.origin, self.pause(d), 0, d.landed, d.landed_at) for d in idle])
            for desk in idle:
                desk.landed = 0
        fast = {desk.key: desk for desk in self._desks.values() if not self.pause(desk)}
        for key, count in self._pace.share(fast).items() if fast else ():
            fast[key].shared = max(1, count)

    def leave(self) -> None:
        self._pace.leave()

    # -- silences -----------------------------------------------------------------------------------------------

    def leave_alone(self, desk: Desk, seconds: float) -> None:
        """The site asked for it: all instances wait, also after a restart."""
        desk.next_at = max(desk.next_at, time.monotonic() + seconds)
        desk.wait_until, desk.dirty = time.time() + seconds, True

    def answered(self, desk: Desk) -> None:
        desk.failures, desk.down_since, desk.probe_wait = 0, 0.0, 0.0

    def silent(self, desk: Desk, reason: str) -> None:
        """No answer came. After a few in a row the site is only probed, less and less often."""
        now = time.monotonic()
        desk.failures += 1
        desk.trouble = reason
        if desk.failures >= BREAKER:
            desk.down_since = desk.down_since or now
            desk.probe_wait = min(max(1.0, desk.probe_wait * 2), LONGEST_PROBE)
            desk.next_at = now + desk.probe_wait

    def given_up(self, desk: Desk) -> bool:
        """The site was silent for longer than our patience, or will be for ever."""
        return bool(desk.down_since) and time.monotonic() - desk.down_since > self.patience

    # -- robots.txt ---------------------------------------------------------------------------------------------

    def robots_answered(self, desk: Desk, status: int, body: bytes) -> None:
        """RFC 9309: 2xx is read, 4xx allows everything, the rest cannot be read."""
        if 200 <= status < 500:
            self.answered(desk)
            desk.robots_state, desk.status = KNOWN, status
            desk.text = body if status < 300 else b""
            desk.robots = Robots.from_status(status, desk.text)
            desk.dirty = True
        else:
            self.robots_failed(desk, "robots_unavailable")

    def robots_failed(self, desk: Desk, reason: str) -> None:
        """Nothing is fetched from this site for now; after our patience its messages fail with this reason."""
        desk.trouble = reason if reason in REASONS else "robots_unavailable"
        desk.failures = max(desk.failures, BREAKER - 1)
        self.silent(desk, desk.trouble)
        lost = reason in _AT_ONCE or self.given_up(desk)
        desk.robots_state = UNREADABLE if lost else UNKNOWN

    def save(self) -> None:
        """With the commit of a batch: what was learned of sites."""
        for desk in self._desks.values():
            if desk.dirty:
                values: dict[str, object] = {"origin": desk.origin[:300], "wait_until": desk.wait_until}
                if desk.robots_state == KNOWN:
                    text = desk.text.decode("latin-1").replace("\0", "")
                    values |= {"robots_status": desk.status, "robots_at": time.time(), "robots_text": text}
                Host.objects.update_or_create(key=desk.key, defaults=values)
                desk.dirty = False


def _recall(desk: Desk) -> None:
    row = Host.objects.filter(key=desk.key).first()
    if row is None:
        return
    desk.wait_until = row.wait_until
    desk.next_at = time.monotonic() + max(0.0, row.wait_until - time.time())
    if row.robots_status and row.robots_at > time.time() - ROBOTS_KEPT:
        desk.robots_state, desk.status = KNOWN, row.robots_status
        desk.text = row.robots_text.encode("latin-1", "replace")
        desk.robots = Robots.from_status(row.robots_status, desk.text)
