"""How a crawl of a document differs from the one before, from the ledgers of both; when a page was last modified."""

from collections.abc import Callable, Collection, Generator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import cast

from .. import extract
from ..bulk_sql import chunks
from ..engine.strands import STRANDS
from ..models import Excursion, LedgerEntry, PageVersion, State
from ..policy.backlinks import link_keys
from ..policy.crawl_difference import ComparedPage, CrawlDifference, compare
from ..policy.judge import CrawlRules
from ..propagation.loading.missing_pages import Trip, shown
from ..values import CRAWLED, FAILED, REDIRECTED, UNCHANGED, Snapshot
from .latest_crawls import complete_before

Beat = Callable[[], None]
_AT_ONCE = 5_000


def excursion_before(excursion: Excursion) -> Excursion | None:
    """What a crawl is compared with: the last complete one of its document."""
    return complete_before(excursion).first()


def changes_of(excursion: Excursion, before: Excursion | None = None) -> CrawlDifference:
    """What is new, changed, unchanged, moved and gone in this excursion."""
    steps = changing(excursion, before or excursion_before(excursion), excursion.state)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(CrawlDifference, end.value)


def changing(
    excursion: Excursion, before: Excursion | None, state: str, beat: Beat = lambda: None
) -> Generator[None, None, CrawlDifference]:
    """The same in steps, for a loop that has other things to do meanwhile; `state` is how it is about to end."""
    # A part of a document says nothing about the rest, like a run that was stopped.
    now = Trip(State.STOPPED if excursion.part else state)
    then = Trip(before.state if before else "")
    met = yield from _read_pages(excursion, now)
    olds: dict[bytes, int] = {}
    if before is not None:
        yield from _read_pages(before, then)
        olds = yield from _known_before(met, now, then, before)
    lost = sorted(then.named.keys() - now.named.keys())
    redirects = (yield from _read_rest(excursion, now, lost)) if lost else {}
    gone = _gone(excursion, now, then, beat) if lost else set()
    yield
    pages = _stored(now, olds, bool(gone))
    yield
    return compare(pages, _digests({key: then.named[key] for key in gone}), gone, redirects)


def _stored(trip: Trip, olds: dict[bytes, int], moving: bool) -> dict[bytes, ComparedPage]:
    """The pages with their contents, read only where they decide something: for changed pages, and for new ones
    when others are gone."""
    changed = {key: version for key, version in trip.named.items() if key in olds and olds[key] != version}
    new = {key: version for key, version in trip.named.items() if key not in olds} if moving else {}
    digests, before = _digests(changed | new), _digests({key: olds[key] for key in changed})
    pages: dict[bytes, ComparedPage] = {}
    for key in trip.named:
        old = before.get(key, b"") if key in olds else None
        pages[key] = ComparedPage(digests.get(key, b""), old)
    return pages


def last_modified(version: PageVersion) -> datetime | None:
    """What the site said of its page, as a time; None when it said nothing that can be read."""
    try:
        said = parsedate_to_datetime(version.last_modified)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return said if said.tzinfo else said.replace(tzinfo=UTC)


def _read_pages(excursion: Excursion, trip: Trip) -> Generator[None, None, dict[bytes, int]]:
    """The pages of a crawl, as its trip names them; returns the versions that were shown when it met them. Of a
    million addresses that were only met nothing is read."""
    olds: dict[bytes, int] = {}
    columns = ("url_key", "outcome", "version_id", "previous_version_id")
    rows = LedgerEntry.objects.filter(excursion=excursion, outcome__in=(CRAWLED, UNCHANGED)).order_by()
    for number, (key, outcome, version, old) in enumerate(rows.values_list(*columns).iterator(_AT_ONCE)):
        trip.note(key, outcome, ("", 0), version)
        if version is not None and old is not None:
            olds[key] = old
        if not number % _AT_ONCE:
            yield
    return olds


def _known_before(
    met: dict[bytes, int], now: Trip, then: Trip, before: Excursion
) -> Generator[None, None, dict[bytes, int]]:
    """The versions these pages had in the crawl before, or, where that one did not reach them, before it: what was
    stored since, by crawls that did not come to their end, is no yardstick. A page that it took away was not there."""
    known = {key: then.named[key] for key in now.named if key in then.named}
    others = {key: version for key, version in met.items() if key not in known}
    _note(before, then, others)
    yield
    took_all = before.state == State.FINISHED and not _failed_in_passing(before)
    others = {key: version for key, version in others.items() if not _taken(key, then, took_all)}
    since: set[int] = set()
    for part in chunks(sorted(others.values())):
        rows = PageVersion.objects.filter(id__in=part, run_id__gt=before.run_id).order_by()
        since.update(rows.values_list("id", flat=True))
        yield
    return known | {key: version for key, version in others.items() if version not in since}


def _taken(key: bytes, then: Trip, took_all: bool) -> bool:
    return key in then.missing or (took_all and not then.met(key))


def _failed_in_passing(excursion: Excursion) -> bool:
    """Whether pages may not have been met because another one, that leads to them, did not answer."""
    failed = LedgerEntry.objects.filter(excursion=excursion, outcome=FAILED)
    return failed.exclude(status__in=(404, 410)).exists()


def _read_rest(excursion: Excursion, trip: Trip, lost: list[bytes]) -> Generator[None, None, dict[bytes, bytes]]:
    """What the crawl says of these addresses, and all that failed or led elsewhere; returns where they led."""
    rules = CrawlRules(Snapshot.from_json(excursion.snapshot))
    key_of, redirects = link_keys(rules), dict[bytes, bytes]()
    _note(excursion, trip, lost)
    yield
    columns = ("url_key", "outcome", "reason", "status", "version_id", "redirect_url")
    rows = LedgerEntry.objects.filter(excursion=excursion, outcome__in=(FAILED, REDIRECTED)).order_by()
    for number, row in enumerate(rows.values_list(*columns).iterator(_AT_ONCE)):
        key, outcome, reason, status, version, destination = row
        trip.note(key, outcome, (reason, status), version)
        if outcome == REDIRECTED:
            redirects[key] = key_of(destination)
        if not number % _AT_ONCE:
            yield
    return redirects


def _note(excursion: Excursion, trip: Trip, keys: Collection[bytes]) -> None:
    """Adds to the trip what the crawl says of these addresses, where it met them."""
    for part in chunks(sorted(keys)):
        rows = LedgerEntry.objects.filter(excursion=excursion, url_key__in=part).order_by()
        for key, outcome, reason, status, version in rows.values_list(
            "url_key", "outcome", "reason", "status", "version_id"
        ):
            trip.note(key, outcome, (reason, status), version)


def _gone(excursion: Excursion, now: Trip, then: Trip, beat: Beat) -> set[bytes]:
    """Pages of the crawl before that a second crawl like this one would take away (rule 16)."""
    key_of = link_keys(CrawlRules(Snapshot.from_json(excursion.snapshot)))

    def links(version_id: int) -> set[bytes]:
        beat()
        packed = PageVersion.objects.filter(pk=version_id).values_list("links", flat=True).first()
        keys = {key_of(url) for url in extract.packed_addresses(bytes(packed or b""))}
        _note(excursion, now, keys)  # whoever asks for them wants to know next which of them were met
        return keys

    shielded = STRANDS[excursion.strand].shielded
    staying = shown([now, now, then], lambda trips, at: shielded(trips, at, links))
    return {key for key in then.named if key not in now.named and key not in staying}


def _digests(versions: dict[bytes, int]) -> dict[bytes, bytes]:
    """What these addresses contained, by the versions given."""
    keys = {version: key for key, version in versions.items()}
    found: dict[bytes, bytes] = {}
    for part in chunks(sorted(keys)):
        rows = PageVersion.objects.filter(id__in=part).order_by().values_list("id", "digest")
        found.update((keys[version], bytes(digest)) for version, digest in rows)
    return found
