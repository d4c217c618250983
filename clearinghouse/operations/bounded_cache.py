"""Owns: what a process keeps of answers that cannot change any more, so that the next question costs little: bounded.

Does not: know what is kept, or when it would be out of date: the key must say everything it depends on.
Called by: searches, the figures of runs that ended.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")
Key = tuple[Hashable, ...]


class BoundedCache:
    """At most so much weight; what was used longest ago goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._items: OrderedDict[Key, tuple[object, int]] = OrderedDict()
        self._lock = Lock()
        self._making: dict[Key, Any] = {}  # locks, each held by who makes it now

    def get(self, key: Key, make: Callable[[], tuple[T, int]]) -> T:
        """What is kept under this key, or what `make` gives together with its weight; below 0: it is not kept.

        It is made once: who asks for it meanwhile waits. Threads that make the same share one processor, and all of
        them would wait as many times as long. `make` may ask for other keys, never for its own.
        """
        with self._lock:
            if key in self._items:
                return self._found(key)
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._items:
                    return self._found(key)
            try:
                made, weight = make()  # outside the first lock: who asks something else need not wait
                self._keep(key, made, weight)
                return made
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def _found(self, key: Key) -> Any:
        self._items.move_to_end(key)
        return self._items[key][0]

    def _keep(self, key: Key, made: object, weight: int) -> None:
        with self._lock:
            if weight >= 0 and key not in self._items:
                self._items[key] = (made, weight)
                self._weight += weight
            while self._weight > self._most and len(self._items) > 1:
                self._weight -= self._items.popitem(last=False)[1][1]

    def forget(self, first: Hashable) -> None:
        """Everything whose key begins so."""
        self.drop(lambda key: key[0] == first)

    def drop(self, unwanted: Callable[[Key], bool]) -> None:
        with self._lock:
            for key in [key for key in self._items if unwanted(key)]:
                self._weight -= self._items.pop(key)[1]

    def __iter__(self) -> Iterator[Key]:
        with self._lock:
            return iter(list(self._items))

    def __len__(self) -> int:
        return len(self._items)
