"""How a crawl of a document differs from the one before, from the ledgers of both; when a page was last modified."""

from collections.abc import Callable, Generator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import cast

from clearinghouse.digests import digest_of

from .. import extract
from ..models import Excursion, LedgerEntry, PageVersion, State
from ..policy.change import Changes, Stored, compare
from ..policy.judge import Rules
from ..policy.sightings import link_keys
from ..propagation.missing import Trip, shown
from ..sql import chunks
from ..values import REDIRECTED, Snapshot

Beat = Callable[[], None]
_AT_ONCE = 5_000
KEPT = (State.FINISHED, State.FINISHED_AT_LIMIT, State.STOPPED)  # ends that keep what was stored


def excursion_before(excursion: Excursion) -> Excursion | None:
    """The newest earlier excursion of the whole document whose results were kept."""
    earlier = Excursion.objects.filter(doc_id=excursion.doc_id, id__lt=excursion.pk, state__in=KEPT, part="")
    return earlier.order_by("-id").first()


def changes_of(excursion: Excursion, before: Excursion | None = None) -> Changes:
    """What is new, changed, unchanged, moved and gone in this excursion."""
    steps = changing(excursion, before or excursion_before(excursion), excursion.state)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(Changes, end.value)


def changing(
    excursion: Excursion, before: Excursion | None, state: str, beat: Beat = lambda: None
) -> Generator[None, None, Changes]:
    """The same in steps, for a loop that has other things to do meanwhile; `state` is how it is about to end."""
    # A part of a document says nothing about the rest, like a run that was stopped.
    now = Trip(State.STOPPED if excursion.part else state)
    then = Trip(before.state if before else "")
    olds, redirects = yield from _read(excursion, now)
    if before is not None:
        yield from _read(before, then)
    gone = _gone(now, then, Rules(Snapshot.from_json(excursion.snapshot)), beat)
    yield
    pages = _stored(now, olds, bool(gone))
    yield
    return compare(pages, _digests({key: then.named[key] for key in gone}), gone, redirects)


def _stored(trip: Trip, olds: dict[bytes, int], moving: bool) -> dict[bytes, Stored]:
    """The pages with their contents, read only where they decide something: for changed pages, and for new ones
    when others are gone."""
    changed = {key: version for key, version in trip.named.items() if key in olds and olds[key] != version}
    new = {key: version for key, version in trip.named.items() if key not in olds} if moving else {}
    digests, before = _digests(changed | new), _digests({key: olds[key] for key in changed})
    pages: dict[bytes, Stored] = {}
    for key in trip.named:
        old = before.get(key, b"") if key in olds else None
        pages[key] = Stored(digests.get(key, b""), old)
    return pages


def last_modified(version: PageVersion) -> datetime | None:
    """What the site said of its page, as a time; None when it said nothing that can be read."""
    try:
        said = parsedate_to_datetime(version.last_modified)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return said if said.tzinfo else said.replace(tzinfo=UTC)


def _read(excursion: Excursion, trip: Trip) -> Generator[None, None, tuple[dict[bytes, int], dict[bytes, bytes]]]:
    """Fills the trip; returns the versions shown before by key, and the key each redirect leads to."""
    key_of = link_keys(Rules(Snapshot.from_json(excursion.snapshot)))
    olds: dict[bytes, int] = {}
    redirects: dict[bytes, bytes] = {}
    columns = ("url_key", "outcome", "reason", "status", "version_id", "previous_version_id", "redirect_url")
    rows = LedgerEntry.objects.filter(excursion=excursion).order_by().values_list(*columns)
    for number, (key, outcome, reason, status, version, old, destination) in enumerate(rows.iterator(_AT_ONCE)):
        trip.note(key, outcome, (reason, status), version)
        if version is not None and old is not None:
            olds[key] = old
        if outcome == REDIRECTED:
            redirects[key] = key_of(destination) or b""
        if not number % _AT_ONCE:
            yield
    return olds, redirects


def _gone(now: Trip, then: Trip, rules: Rules, beat: Beat) -> set[bytes]:
    """Pages of the crawl before that a second crawl like this one would take away (rule 16)."""
    key_of = link_keys(rules)

    def links(version_id: int) -> list[bytes]:
        beat()
        packed = PageVersion.objects.filter(pk=version_id).values_list("links", flat=True).first()
        return [key_of(url) or digest_of(url) for url in extract.packed_addresses(bytes(packed or b""))]

    staying = shown([now, now, then], links)
    return {key for key in then.named if key not in now.named and key not in staying}


def _digests(versions: dict[bytes, int]) -> dict[bytes, bytes]:
    """What these addresses contained, by the versions given."""
    keys = {version: key for key, version in versions.items()}
    found: dict[bytes, bytes] = {}
    for part in chunks(sorted(keys)):
        rows = PageVersion.objects.filter(id__in=part).order_by().values_list("id", "digest")
        found.update((keys[version], bytes(digest)) for version, digest in rows)
    return found
