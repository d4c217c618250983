"""Owns: one message queue while an instance serves it: at most 200 messages in memory, in order of depth.

Does not: fetch or write. Called by: the instance.
"""

import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parsing import split
from clearinghouse.addresses.roots import begins_with

from ..fetch.sign_in.cookies import Jar
from ..fetch.sign_in.point_key import FORM
from ..models import Excursion, Message, MessageState
from ..policy.frontier import GO, HOLD, NO, SHORT, FoundUrl, Frontier
from ..policy.judge import CrawlRules
from ..values import PointSettings, Snapshot
from . import message_queue
from .counters import ExcursionCounters
from .message_queue import Previous, QueueContents, Waiting
from .storage import PendingWrites

IN_MEMORY = 200
LOW_WATER = 20
UNASKED = object()


@dataclass(slots=True, order=True)
class Item:
    """A message in memory."""

    depth: int
    order: int
    key: bytes = field(compare=False)
    url: str = field(compare=False)
    owner_id: int = field(compare=False)
    found_on: bytes | None = field(compare=False, default=None)
    tries: int = field(compare=False, default=0)
    not_before: float = field(compare=False, default=0.0)
    deaths: int = field(compare=False, default=0)  # processes it has cost
    identity: bool = field(compare=False, default=False)  # ask for an uncompressed answer
    cookies: str = field(compare=False, default="")
    address: Address | None = field(compare=False, default=None)
    form: Address | None = field(compare=False, default=None)  # as its site redirected it to itself, with a session id
    previous: Previous | object | None = field(compare=False, default=UNASKED)
    begun: float = field(compare=False, default=0.0)  # when its request went out, seconds since 1970

    @property
    def short(self) -> bytes:
        return self.key[:SHORT]


class LocalQueue:
    def __init__(self, excursion: Excursion, kept: QueueContents | None = None) -> None:
        self.excursion = excursion
        self.snapshot = Snapshot.from_json(excursion.snapshot)
        self.frontier = Frontier(self.snapshot)
        message_queue.restore(excursion, self.frontier, kept)
        self.tally = ExcursionCounters(excursion)
        self.work = PendingWrites(excursion, self.frontier, self.tally)
        self.points: dict[int, PointSettings] = {point.id: point for point in self.snapshot.points}
        self.off: set[int] = set()  # crawl points that were deactivated meanwhile
        self.excluding = bool(excursion.snapshot.get("applied"))  # excludes that came after some messages
        self.turn = 0  # when it started something last; those who waited longer go first
        self.leaving = False  # promised to another instance: nothing more is started
        self.flying: dict[bytes, Item] = {}
        # By crawl point and origin: cookies of sites that let nobody in without them (design rules 5 and 10).
        self._jars: dict[tuple[int, str], Jar] = {}
        self._heaps: dict[str, list[Item]] = {}  # by origin
        self._held: list[Item] = []  # waiting for a place under a maximum, or for their time
        self._size = 0
        self._order = 0
        self._deepest = 0  # of the messages in memory, or deeper
        self._behind = False  # a message that is only in the database became nearer than one in memory
        self._elsewhere = 0  # waiting messages that are only in the database
        self._restore_maxima()
        self._fill(kept.waiting()) if kept else self.refill()

    # -- filling ------------------------------------------------------------------------------------------------

    def refill(self) -> None:
        """Look into the database for the next messages; the queue's work must be committed."""
        if self._behind:
            self._unload()
        self._fill(message_queue.waiting(self.excursion.pk, IN_MEMORY + len(self.flying) + self._size))

    def _fill(self, messages: Sequence[Message | Waiting]) -> None:
        room = max(IN_MEMORY - self._size, 0)
        held = {item.key for heap in self._heaps.values() for item in heap} | {i.key for i in self._held}
        for message in messages:
            if room and message.url_key not in held and message.url_key[:SHORT] not in self.flying:
                self._push(_item(message, self._next_order()))
                room -= 1
            if message.state == MessageState.RESERVED and message.url_key[:SHORT] not in self.flying:
                self.work.reserved.add(message.url_key[:SHORT])
        self._elsewhere = max(self.tally.outcomes["queued"] - self._size - len(self.flying), 0)

    def absorb(self) -> None:
        """Take what the frontier found since the last look, as far as memory and order allow."""
        self._lift_nearer()
        fresh, self.frontier.fresh = self.frontier.fresh, []
        for found in fresh:
            item = self._from_found(found)
            crowded = self._elsewhere or self._size >= IN_MEMORY
            if crowded and item.depth >= self._deepest:
                self._elsewhere += 1
                continue
            self._push(item)
            if crowded:
                self._forget_deepest()

    def _lift_nearer(self) -> None:
        """Messages that were found again by a shorter way take their new place in the order."""
        if not self.frontier.nearer:
            return
        nearer, self.frontier.nearer = set(self.frontier.nearer), []
        for heap in self._heaps.values():
            for item in heap:
                if item.short in nearer:
                    nearer.discard(item.short)
                    item.depth = self.frontier.nearest(item.short)
            heapq.heapify(heap)
        fresh = {found.key[:SHORT] for found in self.frontier.fresh}
        nearer -= self.flying.keys() | {item.short for item in self._held} | fresh
        self._behind |= any(self.frontier.nearest(short) < self._deepest for short in nearer)

    def _unload(self) -> None:
        """Leave to the database what it knows as well as memory does, so that the nearest can be chosen anew."""
        reserved, self._deepest, self._size = self.work.reserved, 0, len(self._held)
        for origin, heap in list(self._heaps.items()):
            self._heaps[origin] = []
            for item in heap:
                if item.tries or item.deaths or item.short in reserved:
                    self._push(item)
        self._behind = False

    @property
    def low(self) -> bool:
        return self._behind or (self._elsewhere > 0 and self._size < LOW_WATER)

    @property
    def waiting(self) -> bool:
        """Whether there is anything to start, now or later."""
        return bool(self._size or self._elsewhere or self.frontier.fresh)

    @property
    def drained(self) -> bool:
        return not (self.waiting or self.flying)

    @property
    def spent(self) -> bool:
        """Every maximum is used up for good: whatever waits is skipped for it, whoever looks at it."""
        judged_otherwise = self.off or self.excluding
        under_way = self.flying or self.work.reserved
        return not (under_way or judged_otherwise) and all(limit.full for limit in self.frontier.limits)

    def _forget_deepest(self) -> None:
        """Leave the deepest message to the database: a nearer one took its seat in memory."""
        heap = max((heap for heap in self._heaps.values() if heap), key=lambda heap: max(heap))
        deepest = max(heap)
        if deepest.short not in self.work.reserved:
            heap.remove(deepest)
            heapq.heapify(heap)
            self._size -= 1
            self._elsewhere += 1

    def _from_found(self, found: FoundUrl) -> Item:
        depth = self.frontier.nearest(found.key[:SHORT])
        return Item(depth, self._next_order(), found.key, found.url, found.owner_id, found.found_on)

    def _next_order(self) -> int:
        self._order += 1
        return self._order

    def _push(self, item: Item) -> None:
        item.address = item.address or split(item.url)
        item.depth = self.frontier.nearest(item.short)
        heapq.heappush(self._heaps.setdefault(item.address.origin, []), item)
        self._size += 1
        self._deepest = max(self._deepest, item.depth)

    # -- taking -------------------------------------------------------------------------------------------------

    def origins(self) -> list[str]:
        """Sites that have something to fetch, the one with the shortest depth first."""
        return sorted((o for o, heap in self._heaps.items() if heap), key=lambda o: self._heaps[o][0])

    def has(self, origin: str) -> bool:
        return bool(self._heaps.get(origin))

    def fly(self, item: Item) -> None:
        item.begun = time.time()
        self.flying[item.short] = item

    def landed(self, item: Item) -> None:
        self.flying.pop(item.short, None)

    def put_back(self, item: Item) -> None:
        self.flying.pop(item.short, None)
        if item.not_before:
            self._held.append(item)
            self._size += 1
        else:
            self._push(item)

    def wake(self, now: float) -> None:
        """Held messages whose time has come are taken up again."""
        due = [item for item in self._held if item.not_before <= now]
        if due:
            self._held = [item for item in self._held if item.not_before > now]
            for item in due:
                self._size -= 1
                item.not_before = 0.0
                self._push(item)

    def look_up_previous(self, item: Item) -> Previous | None:
        """The version shown now; asked for all messages in memory at once."""
        if item.previous is UNASKED:
            asked = [*self.unasked, item]
            found = message_queue.previous_versions(self.excursion.doc_id, [i.key for i in asked])
            for one in asked:
                one.previous = found.get(one.key)
        return item.previous if isinstance(item.previous, Previous) else None

    @property
    def unasked(self) -> list[Item]:
        """Messages in memory of which it is not known what the document shows now."""
        return [item for heap in self._heaps.values() for item in heap if item.previous is UNASKED]

    # -- cookies ------------------------------------------------------------------------------------------------

    def cookies(self, item: Item) -> str:
        """What goes with its request: what its site wants to see from everybody, or what its own last answer set."""
        jar = self._jar(item)
        return (jar.header(item.address) if jar and item.address else "") or item.cookies

    def needs_cookies(self, item: Item, headers: list[tuple[str, str]]) -> None:
        """Its site sent it back to itself with a cookie; the pages after it bring theirs along at once."""
        owner, address = self.owner(item), item.address
        assert address is not None
        # The jar of a sign-in is kept at its door; where the certificate is bad no cookie is ever sent.
        if owner.auth_type != FORM and not owner.accept_bad_certificate:
            self._jars.setdefault((item.owner_id, address.origin), Jar(address.host)).take(headers, address)

    def take_cookies(self, item: Item, headers: list[tuple[str, str]]) -> None:
        """An answer came from a site that may want to see its cookies again."""
        jar = self._jar(item)
        if jar and item.address:
            jar.take(headers, item.address)

    def _jar(self, item: Item) -> Jar | None:
        return self._jars.get((item.owner_id, item.address.origin)) if self._jars and item.address else None

    # -- changes of the settings during the run -----------------------------------------------------------------

    def deactivate(self, point_id: int) -> None:
        """Its new fetches stop; URLs it owned are read as the next longest root says."""
        self.off.add(point_id)
        self.frontier.deactivate(point_id)

    def exclude(self, patterns: tuple[str, ...]) -> None:
        """These exclude URLs are to count for the running crawl too."""
        self.snapshot = replace(self.snapshot, excludes=patterns)
        self.frontier.judge_again(CrawlRules(self.snapshot))
        self.excluding = True

    def refusal(self, item: Item) -> Refusal | None:
        """Why a message must not be fetched any more although it was queued."""
        ways = self.frontier.live(item.short)
        if not ways:
            return Refusal("point_deactivated")
        if self.excluding:
            judged = self.frontier.judge(item.url)
            if all(judged.refusals[way.point] for way in ways):
                return judged.refusals[ways[0].point]
        return None

    def owner(self, item: Item) -> PointSettings:
        if item.owner_id in self.off:
            matching = [p for p in self.points.values() if p.id not in self.off and begins_with(item.url, p.root)]
            fallback = [self.points[self.frontier.ids[way.point]] for way in self.frontier.live(item.short)]
            item.owner_id = min(matching or fallback, key=lambda point: (-len(point.root), point.id)).id
        return self.points[item.owner_id]

    # -- maxima -------------------------------------------------------------------------------------------------

    def next_item(self, origin: str) -> tuple[str, Item]:
        """The next message of a site with GO, HOLD or NO.

        Under a maximum only a message whose place is reserved in the database may go, and none passes a nearer one.
        """
        item = self._heaps[origin][0]
        if not self.frontier.limited or item.short in self.work.reserved:
            return GO, item
        if self.frontier.may_start(item.short) == NO:
            return NO, item
        reserved = [i for i in self._heaps[origin] if i.depth == item.depth and i.short in self.work.reserved]
        return (GO, min(reserved)) if reserved else (HOLD, item)

    def take(self, item: Item) -> Item:
        assert item.address is not None
        heap = self._heaps[item.address.origin]
        if heap[0] is item:
            heapq.heappop(heap)
        else:
            heap.remove(item)
            heapq.heapify(heap)
        self._size -= 1
        return item

    def reserve(self, most: int) -> bool:
        """Take places for the next messages, in order of depth; they may go after the commit that follows."""
        ready = len(self.work.reserved) - len(self.flying)
        if not self.frontier.limited or ready >= min(self._size, most // 2):
            return False
        waiting = sorted(item for heap in self._heaps.values() for item in heap)
        taken = False
        for item in waiting[:most]:
            if item.short in self.work.reserved:
                continue
            if self.frontier.may_start(item.short) == HOLD and not self._give_up_deeper(waiting, item):
                break  # its places are in flight: nothing deeper may pass it
            if self.frontier.may_start(item.short) == GO:
                self.frontier.start(item.short)
                self.work.reserved.add(item.short)
                self.work.touched[item.short] = item.key
                taken = True
        return taken

    def _give_up_deeper(self, waiting: list[Item], nearer: Item) -> bool:
        """Take back the place of the deepest message that has not started: a nearer one was found."""
        for item in reversed(waiting):
            if item.depth > nearer.depth and item.short in self.work.reserved:
                self.work.reserved.discard(item.short)
                self.work.touched[item.short] = item.key
                self.frontier.release(item.short)
                return True
        return False

    def _restore_maxima(self) -> None:
        for limit, point in zip(self.frontier.limits, self.snapshot.points, strict=True):
            limit.used = self.tally.points.get(str(point.id), {}).get("used", 0)
        if self.frontier.limited:
            messages = Message.objects.filter(excursion=self.excursion, state=MessageState.RESERVED)
            for key in messages.values_list("url_key", flat=True):
                for way in self.frontier.ways(key[:SHORT]):
                    self.frontier.limits[way.point].reserved += way.granted


def look_up_previous(queues: list[LocalQueue]) -> None:
    """As the method of this name, for the messages of many queues at once."""
    wanted = {queue.excursion.doc_id: queue.unasked for queue in queues}
    found = message_queue.previous_of_many({doc_id: [i.key for i in items] for doc_id, items in wanted.items()})
    for doc_id, items in wanted.items():
        for item in items:
            item.previous = found.get((doc_id, item.key))


def _item(message: Message | Waiting, order: int) -> Item:
    return Item(message.depth, order, message.url_key, message.url, message.owner_id, message.found_on,
                deaths=message.attempts)  # fmt: skip
