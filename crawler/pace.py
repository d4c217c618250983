"""Owns: the pace of each site over all instances, kept in rows: time slots and connections.

One transaction reserves for all sites that are due, at most a second's worth each. A site without a pause needs no
slots: its connections are divided among the instances that serve it, counted again at each beat.
Does not: decide how fast (hosts does). Called by: hosts.
"""

import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction

from clearinghouse.databases import WEBCRAWL

from .models import Host, HostService, Instance

AHEAD_SECONDS = 1.0  # a slot further away is not taken yet: somebody else may need the site first


@dataclass(frozen=True, slots=True)
class Want:
    key: bytes
    origin: str
    pause: float
    limit: int
    landed: int  # requests that ended, and slots that were not used, since the last look
    landed_at: float = 0.0  # when the last of them ended


class Pace:
    def __init__(self, instance: Instance) -> None:
        self._instance_id = instance.pk

    def reserve(self, wants: Collection[Want]) -> dict[bytes, list[float]]:
        """Slots (seconds since 1970) for these sites; none while others hold all the connections."""
        now, granted = time.time(), {}
        with transaction.atomic(using=WEBCRAWL):
            hosts = self._hosts(wants)
            flying = self._flying(hosts)
            for want in wants:
                host = hosts[want.key]
                mine = max(flying.pop((want.key, self._instance_id), 0) - want.landed, 0)
                others = sum(count for (key, _), count in flying.items() if key == want.key)
                base = max(now, host.next_at, host.wait_until)
                if want.limit <= 1:  # one at a time: the pause begins when the answer has come
                    base = max(base, want.landed_at + want.pause)
                most = min(want.limit - mine - others, max(1, int(1 / want.pause)))
                count = max(most, 0) if base <= now + AHEAD_SECONDS else 0
                granted[want.key] = [base + number * want.pause for number in range(count)]
                if count or base > host.next_at:
                    Host.objects.filter(key=want.key).update(next_at=base + count * want.pause)
                self._note(want.key, mine + count)
        return granted

    def share(self, keys: Collection[bytes]) -> Counter[bytes]:
        """How many living instances serve each of these sites, this one included."""
        if Instance.objects.filter(alive=True, kind__in=("crawl", "driver")).count() <= 1:
            return Counter(dict.fromkeys(keys, 1))
        with transaction.atomic(using=WEBCRAWL):
            known = set(HostService.objects.filter(instance_id=self._instance_id).values_list("host_id", flat=True))
            present = set(Host.objects.filter(key__in=list(keys)).values_list("key", flat=True))
            HostService.objects.bulk_create(
                HostService(host_id=key, instance_id=self._instance_id) for key in present - known
            )
        serving = HostService.objects.filter(host_id__in=list(keys), instance__alive=True)
        return Counter(serving.values_list("host_id", flat=True))

    def leave(self) -> None:
        HostService.objects.filter(instance_id=self._instance_id).delete()

    def _hosts(self, wants: Collection[Want]) -> dict[bytes, Host]:
        keys = [want.key for want in wants]
        hosts = {host.key: host for host in Host.objects.select_for_update().filter(key__in=keys).order_by("key")}
        for want in wants:
            if want.key not in hosts:
                hosts[want.key] = Host.objects.get_or_create(key=want.key, defaults={"origin": want.origin[:300]})[0]
        return hosts

    def _flying(self, keys: Collection[bytes]) -> dict[tuple[bytes, int], int]:
        rows = HostService.objects.filter(host_id__in=list(keys), instance__alive=True)
        return {(key, instance): count for key, instance, count in rows.values_list("host_id", "instance_id", "flying")}

    def _note(self, key: bytes, flying: int) -> None:
        mine = HostService.objects.filter(host_id=key, instance_id=self._instance_id)
        if not mine.update(flying=flying):
            HostService.objects.create(host_id=key, instance_id=self._instance_id, flying=flying)
