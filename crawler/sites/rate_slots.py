"""Owns: the pace of each site over all instances, kept in rows: time slots and connections.

One transaction reserves for all sites that are due, at most a second's worth each. A site without a pause needs no
slots: its connections are divided among the instances that serve it, counted again at each beat. Where connections
are fewer than instances, slots are taken in turns that go round every second.
Does not: decide how fast (hosts does). Called by: hosts.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.db import connections, transaction

from clearinghouse.database.aliases import WEBCRAWL

from ..bulk_sql import Batch, chunks
from ..liveness import database_clock
from ..models import Host, HostService, Instance
from ..policy.robots_rules import Robots
from .site_store import mend, waiting

NEVER = 1e9
AHEAD_SECONDS = 1.0  # a slot further away is not taken yet: somebody else may need the site first


@dataclass(frozen=True, slots=True)
class Want:
    key: bytes
    origin: str
    pause: float
    limit: int  # connections; 0: no more is wanted, only what landed is given back
    landed: int  # requests that ended, and slots that were not used, since the last look
    landed_ago: float = NEVER  # seconds since the last of them ended
    longest: float = 0.0  # the longest pause anybody may keep there


class RateSlots:
    def __init__(self, instance: Instance) -> None:
        self._instance_id = instance.pk
        self._serving: set[bytes] = set()  # sites for which there is a row of ours

    def reserve(self, wants: Collection[Want]) -> dict[bytes, list[float]]:
        """Slots (by this process's monotonic clock) for these sites; none while others hold all the connections."""
        granted: dict[bytes, list[float]] = {}
        with transaction.atomic(using=WEBCRAWL):
            hosts = self._hosts(wants)
            flying = self._flying(list(hosts))
            now = database_clock.seconds()  # the rows are ours now, and it is the same clock for whoever has them next
            if any(host.noted_at > now for host in hosts.values()):
                mend(now)
            for want in wants:
                slots = self._grant(want, hosts[want.key], flying[want.key], now)
                granted[want.key] = [database_clock.monotonic(slot) for slot in slots]
        self._serving.update(hosts)
        self._serving -= {want.key for want in wants if not want.limit}
        return granted

    def share(self, sites: Mapping[bytes, str]) -> Counter[bytes]:
        """Says that this instance serves these sites, and counts how many living instances serve each of them."""
        fresh = {key: origin for key, origin in sites.items() if key not in self._serving}
        if fresh:
            with transaction.atomic(using=WEBCRAWL):
                self._join(fresh)
            self._serving.update(fresh)
        if self.alone():
            return Counter(dict.fromkeys(sites, 1))
        counts: Counter[bytes] = Counter()
        for part in chunks(list(sites)):
            serving = HostService.objects.filter(host_id__in=part, instance__alive=True)
            counts.update(map(bytes, serving.values_list("host_id", flat=True)))
        return counts

    def alone(self) -> bool:
        """Whether no other living instance crawls."""
        return Instance.objects.filter(alive=True, kind__in=("crawl", "driver")).count() <= 1

    def quit(self, keys: Iterable[bytes]) -> None:
        """This instance asks these sites for nothing more, for the time being."""
        gone = self._serving.intersection(keys)
        for part in chunks(sorted(gone)):
            HostService.objects.filter(instance_id=self._instance_id, host_id__in=part).delete()
        self._serving -= gone

    def leave(self) -> None:
        HostService.objects.filter(instance_id=self._instance_id).delete()
        self._serving.clear()

    def _grant(self, want: Want, host: Host, flying: dict[int, int], now: float) -> list[float]:
        held = flying.get(self._instance_id, 0)
        mine = max(held - want.landed, 0)
        others = sum(flying.values()) - held
        reserved = believed(want, host, now)
        free = max(now, reserved)
        if want.limit <= 1:  # one at a time: the pause begins when the answer has come
            free = max(free, now - want.landed_ago + want.pause)
        base = max(free, now + waiting(host, now))
        most = min(want.limit - mine - others, max(1, int(1 / want.pause)))
        possible = base <= now + AHEAD_SECONDS and has_turn(flying, self._instance_id, want.limit, int(base))
        count = max(most, 0) if possible else 0
        if count or (want.landed and free > host.next_at) or reserved < host.next_at:
            Host.objects.filter(key=want.key).update(next_at=base + count * want.pause if count else free)
        ours = HostService.objects.filter(host_id=want.key, instance_id=self._instance_id)
        if not want.limit:
            ours.delete()
        elif mine + count != held:
            ours.update(flying=mine + count)
        return [base + number * want.pause for number in range(count)]

    def _hosts(self, wants: Collection[Want]) -> dict[bytes, Host]:
        hosts = self._locked([want.key for want in wants])
        new = {w.key: w.origin for w in wants if w.key not in hosts or w.key not in self._serving}
        if new:
            self._join(new)
            hosts |= self._locked(list(new))
        return hosts

    def _locked(self, keys: list[bytes]) -> dict[bytes, Host]:
        rows: dict[bytes, Host] = {}
        for part in chunks(sorted(keys)):
            locked = Host.objects.select_for_update().defer("robots_text").filter(key__in=part).order_by("key")
            rows |= {bytes(host.key): host for host in locked}
        return rows

    def _flying(self, keys: list[bytes]) -> defaultdict[bytes, dict[int, int]]:
        """What each living instance that serves a site has under way there."""
        found: defaultdict[bytes, dict[int, int]] = defaultdict(dict)
        for part in chunks(keys):
            rows = HostService.objects.filter(host_id__in=part, instance__alive=True)
            for key, instance_id, count in rows.values_list("host_id", "instance_id", "flying"):
                found[bytes(key)][instance_id] = count
        return found

    def _join(self, sites: Mapping[bytes, str]) -> None:
        """Rows for sites and for our serving them, in the order in which everybody locks them."""
        if not self._serving:
            self.leave()  # rows of before this instance forgot everything, because the database was away
        keys, batch = sorted(sites), Batch()
        name = connections[WEBCRAWL].ops.quote_name("key")
        columns = (name, "origin", "next_at", "wait_until", "noted_at", "failing_since", "probe_reason",
                   "robots_status", "robots_at", "robots_text")  # fmt: skip
        batch.insert("host", columns, [(key, sites[key][:300], 0, 0, 0, 0, "", 0, 0, "") for key in keys], ignore=True)
        ours = [(key, self._instance_id, 0) for key in keys]
        batch.insert("host_service", ("host_id", "instance_id", "flying"), ours)
        batch.flush()


def believed(want: Want, host: Host, now: float) -> float:
    """The next free slot of a site. One further away than a pause can put it was put there by a clock that went back
    since, or that was ahead: then a whole pause is kept from now. Where the row knows a longer one than we, that."""
    pause = max(1.0, want.pause, want.longest)
    if host.next_at <= now + AHEAD_SECONDS + pause:
        return host.next_at
    rules = Robots.from_status(host.robots_status, host.robots_text.encode("latin-1", "replace"))
    pause = max(pause, (rules.crawl_delay if rules else 0.0) or 0.0)
    return host.next_at if host.next_at <= now + AHEAD_SECONDS + pause else now + pause


def has_turn(serving: Collection[int], instance_id: int, permits: int, second: int) -> bool:
    """Whether an instance may take a connection of this second, among those that serve the site.

    The turns go round scrambled: with a plain count, a pause of two seconds would always meet the same instance.
    """
    if permits >= len(serving) or instance_id not in serving:
        return permits >= len(serving)
    start = zlib.crc32(b"%d" % second)
    return (sorted(serving).index(instance_id) + start) % len(serving) < permits
