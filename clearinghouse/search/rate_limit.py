"""Owns: how many searches one address may send in a minute. Bounded, in memory, nothing is written down.

Each web process counts for itself: behind n processes somebody may send up to n times as much, which protects each
of them as well. Networks of the sixth version count by their first 64 bits, as one visitor may have that many.
Does not: know a request. Called by: the public search.
"""

import math
from collections import OrderedDict
from ipaddress import ip_address
from threading import Lock

from ..accounts.sign_in.visitor_key import visitor_key

MOST_ADDRESSES = 20_000


class Buckets:
    """Each address has a bucket of `size` drops that fills again within a minute; a search takes one."""

    def __init__(self, most: int = MOST_ADDRESSES) -> None:
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # drops and when
        self._most = most
        self._lock = Lock()

    def wait(self, address: str, size: int, now: float, *, drops: float = 1.0) -> int:
        """0: go on. Else the seconds after which a further search is answered."""
        key = visitor_key(address)
        with self._lock:
            left, then = self._left.pop(key, (float(size), now))
            left = min(float(size), left + max(0.0, now - then) * size / 60)
            enough = left >= drops
            self._left[key] = (left - drops if enough else left, now)
            while len(self._left) > self._most:
                self._left.popitem(last=False)
        return 0 if enough else max(1, math.ceil((drops - left) * 60 / size))

    def __len__(self) -> int:
        return len(self._left)


def is_this_machine(address: str) -> bool:
    """A program beside the server, or a proxy that does not say for whom it asks: then nobody can be told apart."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return True
