"""Owns: the parts of the ledger's proof that read stored contents: every link of every stored page has its verdict
(nothing found was lost, I2), the counted backlinks are those of the pages, and the bytes are still those that were
fetched (I3). Called by: ledger_check.
"""

from collections import Counter
from collections.abc import Iterator

from django.db.models import QuerySet

from clearinghouse.database.digests import digest_of
from clearinghouse.web.plurals import plural

from ..models import Excursion, LedgerEntry, Message, PageBody, PageVersion, State
from ..policy.backlinks import ALL, count_backlinks
from .links_between_pages import keys_of, packed_pages, versions_of

READ_AT_MOST = 20_000  # contents of one document; of more than that an even share is read
BYTES_AT_ONCE, BODIES_AT_ONCE = 16_000_000, 200
COUNTED_AT_MOST = 1_000_000  # addresses of one document; beyond that the proof would need more memory than a crawl


def of_links(excursion: Excursion) -> Iterator[str]:
    """Sentences about links without a verdict, and about backlinks that are not what the pages say."""
    if not excursion.snapshot or excursion.found > COUNTED_AT_MOST:
        return
    key_of, counts = keys_of(excursion), Counter[bytes]()
    for pages in packed_pages(versions_of(excursion.pk)):
        count_backlinks(pages, key_of, counts)
    rows = LedgerEntry.objects.filter(excursion=excursion).order_by()
    stored: dict[bytes, int] = dict(rows.values_list("url_key", "backlinks").iterator(5000))
    if excursion.derived_to >= ALL:
        wrong = sum(1 for key, count in stored.items() if count != counts[key])
        if wrong:
            yield f"{plural(wrong, 'address has,addresses have')} other backlinks than the pages say"
    if _links_are_followed(excursion):
        known = stored.keys() | set(Message.objects.filter(excursion=excursion).values_list("url_key", flat=True))
        lost = sum(1 for key in counts if key not in known)
        if lost:
            yield f"{plural(lost, 'linked address has,linked addresses have')} no verdict"


def _links_are_followed(excursion: Excursion) -> bool:
    """Not so where a crawl point was deactivated: what was in flight for it is stored, its links lead nowhere."""
    return excursion.state != State.CANCELLED and not excursion.tallies.get("reason", {}).get("point_deactivated")


def of_bytes(versions: QuerySet[PageVersion]) -> Iterator[str]:
    """How many of these versions have other bytes stored than their digest says."""
    wrong = 0
    for part in _loads(_share(versions)):
        stored = PageBody.objects.filter(digest__in=part).values_list("digest", "content")
        wrong += sum(digest_of(bytes(content)) != bytes(digest) for digest, content in stored)
    if wrong:
        yield f"{plural(wrong, 'content is,contents are')} not the bytes that were fetched"


def _share(versions: QuerySet[PageVersion]) -> dict[bytes, int]:
    """Digest and size of what is read. Digests are spread evenly: the lowest are as good a sample as any."""
    total = versions.count()
    if total > READ_AT_MOST:
        versions = versions.filter(digest__lt=(2**32 * READ_AT_MOST // total).to_bytes(4, "big"))
    return dict(versions.order_by().values_list("digest", "size"))


def _loads(sizes: dict[bytes, int]) -> Iterator[list[bytes]]:
    """As many at a time as memory is good for."""
    part: list[bytes] = []
    load = 0
    for digest, size in sizes.items():
        if part and (len(part) == BODIES_AT_ONCE or load + size > BYTES_AT_ONCE):
            yield part
            part, load = [], 0
        part.append(digest)
        load += size
    if part:
        yield part
