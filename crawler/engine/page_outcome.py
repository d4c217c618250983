"""Owns: what is done with one answer: the verdict on its URL, its version, its links. Does not: fetch or commit.

Fetch -> pure decision -> store. Called by: the instance, for each answer, one page at a time.
"""

import time
from collections.abc import Sequence

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import resolve
from clearinghouse.database.digests import digest_of

from .. import bulk_sql, extract
from ..extract.parser_messages import Parsed
from ..liveness.instances import Pulse
from ..models import Instance, LedgerEntry, PageBody, PageVersion
from ..policy import path
from ..policy.frontier import SHORT
from ..policy.identity import own_form
from ..values import CRAWLED, FAILED, FREE, SKIPPED, Fetched
from . import storage
from .local_queue import Item, LocalQueue
from .message_queue import Previous
from .response_kind import FAILURE, PAGE, REDIRECT, RETRY, SELF_REDIRECTS, SKIP, UNCHANGED, ResponseKind, judge
from .storage import NewVersion, Verdict, VersionRow

_ABOVE_INT32 = 8  # blocks start above any key of an adopted table
_READ_AT_ONCE = 100  # versions, when pages are expanded again


class OutcomeReader:
    """Reads answers for one instance; version ids are drawn from a block of its own, so no row is asked for a key."""

    def __init__(self, instance_id: int) -> None:
        self._next_version = (instance_id + _ABOVE_INT32) << 28

    def read(self, queue: LocalQueue, item: Item, fetched: Fetched) -> ResponseKind:
        """Everything one answer changes, in memory; the answer says whether the message is to be tried again."""
        item.tries += 1
        answer = judge(fetched, item.tries, time.time())
        if answer.kind == RETRY:
            item.identity = answer.reason == "decode_failed"
            item.not_before = time.monotonic() + 0.5 * 2**item.tries
        elif answer.kind == REDIRECT:
            return self._redirect(queue, item, fetched, answer)
        elif answer.kind == PAGE and self._same_as_before(queue, item, fetched):
            self._unchanged(queue, item, fetched)
            return ResponseKind(UNCHANGED)
        elif answer.kind == PAGE:
            return answer  # its bytes go to a parser first; store() follows
        elif answer.kind == UNCHANGED and self._read_by_an_older_extractor(queue, item):
            self._take_stored_bytes(queue, item, fetched)
            return ResponseKind(PAGE)
        elif answer.kind == UNCHANGED:
            self._unchanged(queue, item, fetched)
        else:
            outcome = {FAILURE: FAILED, SKIP: SKIPPED}[answer.kind]
            self.conclude(queue, item, Verdict(item.key, item.url, outcome, answer.reason, answer.detail), fetched)
        return answer

    # -- the kinds of answers -----------------------------------------------------------------------------------

    def _redirect(self, queue: LocalQueue, item: Item, fetched: Fetched, answer: ResponseKind) -> ResponseKind:
        destination = resolve(item.url, answer.location)
        if item.tries <= SELF_REDIRECTS and queue.frontier.judge(destination).short == item.short:
            cookies, form = _cookies(fetched), own_form(_address(item), fetched, destination)
            if cookies:
                item.cookies, item.not_before = cookies, time.monotonic()
                queue.needs_cookies(item, fetched.headers)
                return ResponseKind(RETRY, "cookie")
            if form is not None:
                item.form, item.not_before = form, time.monotonic()
                return ResponseKind(RETRY, "session")
        ways = queue.frontier.finish(item.key, counts=False)
        outcome, refusal = queue.frontier.redirect(item.short, item.key, destination, ways)
        verdict = Verdict(item.key, item.url, outcome, refusal.reason, refusal.detail, redirect_url=destination)
        self._store(queue, item, verdict, fetched)
        return answer

    def _same_as_before(self, queue: LocalQueue, item: Item, fetched: Fetched) -> bool:
        previous = queue.look_up_previous(item)
        if previous is None or previous.extractor != extract.EXTRACTOR:
            return False
        return previous.digest == digest_of(fetched.body)

    def _read_by_an_older_extractor(self, queue: LocalQueue, item: Item) -> bool:
        previous = queue.look_up_previous(item)
        return previous is not None and previous.extractor != extract.EXTRACTOR

    def _take_stored_bytes(self, queue: LocalQueue, item: Item, fetched: Fetched) -> None:
        """A 304 brings no body; the one we have is read again."""
        previous = queue.look_up_previous(item)
        assert previous is not None
        fetched.body = bytes(PageBody.objects.get(digest=previous.digest).content)
        kind = PageVersion.objects.values_list("content_type", flat=True).get(pk=previous.version_id)
        kept = {"content-type": kind, "etag": previous.etag, "last-modified": previous.last_modified}
        fetched.headers = [
            (name, value) for name, value in kept.items() if value and not fetched.header(name)
        ] + fetched.headers

    def store(self, queue: LocalQueue, item: Item, fetched: Fetched, page: Parsed) -> None:
        """A page was read: its version, its verdict, its links."""
        if page.refusal is not None:
            verdict = Verdict(item.key, item.url, SKIPPED, page.refusal.reason, page.refusal.detail)
            self.conclude(queue, item, verdict, fetched)
            return
        previous = queue.look_up_previous(item)
        version_id = self._new_version(queue, item, fetched, page)
        same = previous is not None and previous.digest == page.digest  # only the reading is new
        verdict = Verdict(item.key, item.url, UNCHANGED if same else CRAWLED, version_id=version_id)
        verdict.previous_version_id = previous.version_id if previous else None
        ways = self.conclude(queue, item, verdict, fetched)
        queue.tally.answered(0, 0, page.type_id)
        queue.frontier.links(item.key, ways, page.urls, page.marks, page.nofollow)

    def _unchanged(self, queue: LocalQueue, item: Item, fetched: Fetched) -> None:
        previous = queue.look_up_previous(item)
        assert isinstance(previous, Previous)  # a 304 without a condition was refused by fetch
        verdict = Verdict(item.key, item.url, UNCHANGED, version_id=previous.version_id)
        verdict.previous_version_id = previous.version_id
        ways = self.conclude(queue, item, verdict, fetched)
        etag, last_modified = _validators(fetched)
        said_anew = (etag or last_modified) and (etag, last_modified) != (previous.etag, previous.last_modified)
        if said_anew and fetched.status != 304:
            queue.work.validators.append((etag, last_modified, queue.excursion.doc_id, item.key))
        stored = _stored_links(queue, [previous.version_id])
        _expand_stored(queue, item.key, stored.get(previous.version_id), ways)

    # -- verdicts -----------------------------------------------------------------------------------------------

    def conclude(
        self, queue: LocalQueue, item: Item, verdict: Verdict, fetched: Fetched | None = None
    ) -> Sequence[path.Way]:
        """The final verdict on a message; returns the ways its links may be followed."""
        ways = queue.frontier.finish(item.key, verdict.reason not in FREE, verdict.reason == "page_limit")
        self._store(queue, item, verdict, fetched)
        return ways

    def give_up(self, queue: LocalQueue, item: Item, verdict: Verdict) -> None:
        """A fault of ours: this is the verdict, unless the message had its own before."""
        if any(one.key == item.key for one in queue.work.verdicts):
            return
        queue.work.versions = [version for version in queue.work.versions if version.row.url_key != item.key]
        if path.kind(queue.frontier.known[item.short]) == path.DONE:
            self._store(queue, item, verdict, None)
        else:
            self.conclude(queue, item, verdict)

    def _store(self, queue: LocalQueue, item: Item, verdict: Verdict, fetched: Fetched | None) -> None:
        reached = queue.frontier.ways(item.short)
        nearest = queue.frontier.nearest_way(item.short)
        verdict.depth, verdict.hop = nearest.depth, nearest.hop
        verdict.point_id, verdict.found_on = queue.frontier.ids[nearest.point], item.found_on
        if fetched:
            verdict.status, verdict.milliseconds = fetched.status, fetched.milliseconds
            verdict.size = len(fetched.body)
            queue.tally.answered(fetched.status, fetched.received, 0)
        queue.work.verdicts.append(verdict)
        queue.work.reserved.discard(item.short)
        moved = queue.frontier.changes.moved.get(item.short)
        queue.tally.verdict(verdict.outcome, verdict.reason, moved[1] if moved else nearest.depth)
        _count_points(queue, verdict, reached)

    def _new_version(self, queue: LocalQueue, item: Item, fetched: Fetched, page: Parsed) -> int:
        self._next_version += 1
        excursion, (etag, last_modified) = queue.excursion, _validators(fetched)
        row = VersionRow(
            id=self._next_version, run_id=excursion.run_id, doc_id=excursion.doc_id, url_key=item.key, url=item.url,
            digest=page.digest, type_id=page.type_id, extension=page.extension, title=page.title, metas=page.metas,
            headings=page.headings, text=page.text, language=page.language[:20], links=page.packed,
            canonical=page.canonical, content_type=fetched.header("content-type")[:255], charset=page.charset[:40],
            etag=etag, last_modified=last_modified, size=len(fetched.body), flags=page.flags,
            extractor=extract.EXTRACTOR,
        )  # fmt: skip
        head_exists = queue.look_up_previous(item) is not None
        queue.work.versions.append(NewVersion(row, page.digest, fetched.body, head_exists))
        return self._next_version


def _count_points(queue: LocalQueue, verdict: Verdict, reached: Sequence[path.Way]) -> None:
    for way in reached:
        point_id = queue.frontier.ids[way.point]
        if verdict.version_id:
            queue.tally.of_point(point_id, "pages")
        elif verdict.outcome == FAILED:
            queue.tally.of_point(point_id, "errors")
    _note_used(queue)


def _validators(fetched: Fetched) -> tuple[str, str]:
    return fetched.header("etag")[:255], fetched.header("last-modified")[:64]


def _address(item: Item) -> Address:
    assert item.address is not None  # it was asked for
    return item.address


def _cookies(fetched: Fetched) -> str:
    pairs = [value.split(";", 1)[0].strip() for name, value in fetched.headers if name == "set-cookie"]
    return "; ".join(pair for pair in pairs if "=" in pair)


def _stored_links(queue: LocalQueue, version_ids: Sequence[int]) -> dict[int, tuple[bytes, str]]:
    """Packed links and flags of these versions, by their ids; of those that wait for the next commit too."""
    found = storage.unwritten_links(queue.work, set(version_ids))
    rest = PageVersion.objects.filter(pk__in=[pk for pk in version_ids if pk not in found])
    found.update((pk, (bytes(links), flags)) for pk, links, flags in rest.values_list("pk", "links", "flags"))
    return found


def _expand_stored(queue: LocalQueue, key: bytes, stored: tuple[bytes, str] | None, ways: Sequence[path.Way]) -> None:
    if stored and ways:
        packed, flags = stored
        links = extract.unpack_links(packed)
        marks = "".join("01"[link.nofollow] for link in links)
        queue.frontier.links(key, ways, [link.url for link in links], marks, "nofollow" in flags.split())


def expand_again(queue: LocalQueue, instance: Instance) -> None:
    """Done URLs that are reached by a shorter way, or by a further crawl point: expanded from what is stored.

    It happens before the commit that stores the new way: a kill in between would lose what the way leads to. One
    link may lead to all that is stored, so others must see meanwhile that this instance lives.
    """
    pulse = Pulse(instance)
    while queue.frontier.changes.again:
        again, queue.frontier.changes.again = queue.frontier.changes.again, {}
        for rows in bulk_sql.chunks(_judged(queue, list(again.values()), pulse), _READ_AT_ONCE):
            stored = _stored_links(queue, [row.version_id for row in rows if row.version_id])
            for row in rows:
                _expand_row(queue, row, stored)
                pulse.beat()
    _note_used(queue)


def _expand_row(queue: LocalQueue, row: Verdict, stored: dict[int, tuple[bytes, str]]) -> None:
    key, short = row.key, row.key[:SHORT]
    ways = queue.frontier.expandable(key)
    queue.work.touched[short] = key  # a place under a maximum may be taken
    if row.redirect_url and ways:
        outcome, refusal = queue.frontier.redirect(short, key, row.redirect_url, ways)
        verdict = Verdict(key, row.url, outcome, refusal.reason, refusal.detail, redirect_url=row.redirect_url)
        queue.work.rejudged.append(verdict)
    elif row.version_id:
        _expand_stored(queue, key, stored.get(row.version_id), ways)


def _judged(queue: LocalQueue, keys: list[bytes], pulse: Pulse) -> list[Verdict]:
    """What became of these URLs: verdicts of this batch, which are not written yet, and rows of the ledger."""
    wanted = set(keys)
    found = [verdict for verdict in queue.work.verdicts if verdict.key in wanted]
    rest = list(wanted - {verdict.key for verdict in found})
    for part in bulk_sql.chunks(rest):
        rows = LedgerEntry.objects.filter(excursion=queue.excursion, url_key__in=part)
        for key, url, outcome, place, version in rows.values_list(
            "url_key", "url", "outcome", "redirect_url", "version_id"
        ):
            found.append(Verdict(bytes(key), url, outcome, redirect_url=place, version_id=version))
        pulse.beat()
    return found


def _note_used(queue: LocalQueue) -> None:
    if not queue.frontier.limited:
        return
    for point_id, limit in zip(queue.frontier.ids, queue.frontier.limits, strict=True):
        if limit.maximum:
            queue.tally.points.setdefault(str(point_id), {})["used"] = limit.used
