"""Whose request goes next: each in turn, and nobody has more than a few at work, however many they send."""

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

Key = tuple[str, str]  # where somebody is, and as whom: an address, and a session or key
# Seconds of threads that somebody had, beyond one second each second: above the first there is one request at work for
# them, above the second none until it is less. People stay far below, and so does a program that asks one by one.
MUCH, TOO_MUCH = 5.0, 10.0
LEAST = 0.01  # seconds counted for any request: bringing it and its answer costs the machine more than its thread
REMEMBERED = 10_000  # of those who had some


class RequestTurns:
    """So many requests at once altogether, so many of each; those who wait go round by address, then by session."""

    def __init__(self, most: int, each: int) -> None:
        self._most, self._each = most, each
        self._at_work: Counter[Key] = Counter()
        self._used: OrderedDict[Key, tuple[float, float]] = OrderedDict()  # seconds of threads, and when
        self._waiting: OrderedDict[str, OrderedDict[Key, deque[asyncio.Future[None]]]] = OrderedDict()

    @asynccontextmanager
    async def one(self, key: Key, seconds: float) -> AsyncIterator[None]:
        """Raises TimeoutError when the turn does not come in time."""
        if not self._free(key) or key in self._waiting.get(key[0], ()):
            await self._wait(key, seconds)
        else:
            self._at_work[key] += 1
        began = time.monotonic()
        try:
            yield
        finally:
            self._count(key, time.monotonic() - began)
            self._at_work[key] -= 1
            if not self._at_work[key]:
                del self._at_work[key]
            self._go_on()

    def _free(self, key: Key) -> bool:
        return self._at_work.total() < self._most and self._at_work[key] < self._each_of(key)

    def _each_of(self, key: Key) -> int:
        """Who works as people do has a few at once; who never pauses has one, and rests at times."""
        spent = self._spent(key)
        return 0 if spent > TOO_MUCH else 1 if spent > MUCH else self._each

    def _spent(self, key: Key) -> float:
        seconds, then = self._used.get(key, (0.0, 0.0))
        return max(seconds - (time.monotonic() - then), 0.0)

    def _count(self, key: Key, seconds: float) -> None:
        spent = self._spent(key) + max(seconds, LEAST)
        self._used[key] = spent, time.monotonic()
        self._used.move_to_end(key)
        if spent > TOO_MUCH:
            asyncio.get_running_loop().call_later(spent - TOO_MUCH, self._go_on)
        while len(self._used) > REMEMBERED:
            self._used.popitem(last=False)

    async def _wait(self, key: Key, seconds: float) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key[0], OrderedDict()).setdefault(key, deque()).append(turn)
        try:
            await asyncio.wait_for(turn, seconds)
        except (TimeoutError, asyncio.CancelledError):
            self._forget(key, turn)
            raise

    def _forget(self, key: Key, turn: "asyncio.Future[None]") -> None:
        if turn.done() and not turn.cancelled():  # it had come at the same moment
            self._at_work[key] -= 1
            self._go_on()
            return
        line = self._waiting.get(key[0], {}).get(key)
        if line is not None and turn in line:
            line.remove(turn)
            self._tidy(key)

    def _tidy(self, key: Key) -> None:
        here = self._waiting[key[0]]
        if not here[key]:
            del here[key]
        if not here:
            del self._waiting[key[0]]

    def _go_on(self) -> None:
        while self._at_work.total() < self._most and (key := self._next()):
            turn = self._waiting[key[0]][key].popleft()
            self._tidy(key)
            if not turn.done():
                self._at_work[key] += 1
                turn.set_result(None)

    def _next(self) -> Key | None:
        """The first who may go; who went last stands behind everybody."""
        for place in list(self._waiting):
            for key in list(self._waiting[place]):
                if self._at_work[key] < self._each_of(key):
                    self._waiting.move_to_end(place)
                    self._waiting[place].move_to_end(key)
                    return key
        return None
