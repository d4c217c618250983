"""Owns: the part of the ledger's proof that reads stored links: every link of every stored page has its verdict
(nothing found was lost, I2), and the counted backlinks are those of the pages. Called by: ledger_check.
"""

from collections import Counter
from collections.abc import Iterator

from .models import Excursion, LedgerEntry, Message, State
from .policy.sightings import KEYS, count_backlinks
from .queries.links import keys_of, packed_pages, versions_of

COUNTED_AT_MOST = 1_000_000  # addresses of one document; beyond that the proof would need more memory than a crawl


def of_links(excursion: Excursion) -> Iterator[str]:
    """Sentences about links without a verdict, and about backlinks that are not what the pages say."""
    if not excursion.snapshot or excursion.found > COUNTED_AT_MOST:
        return
    key_of, counts = keys_of(excursion), Counter[bytes | None]()
    for pages in packed_pages(versions_of(excursion.pk)):
        count_backlinks(pages, key_of, counts)
    rows = LedgerEntry.objects.filter(excursion=excursion).order_by()
    stored: dict[bytes, int] = dict(rows.values_list("url_key", "backlinks").iterator(5000))
    if excursion.derived_to >= KEYS:
        wrong = sum(1 for key, count in stored.items() if count != counts[key])
        if wrong:
            yield f"{wrong} addresses have other backlinks than the pages say"
    if _links_are_followed(excursion):
        known = stored.keys() | set(Message.objects.filter(excursion=excursion).values_list("url_key", flat=True))
        lost = sum(1 for key in counts if key not in known)
        if lost:
            yield f"{lost} linked addresses have no verdict"


def _links_are_followed(excursion: Excursion) -> bool:
    """Not so where a crawl point was deactivated: what was in flight for it is stored, its links lead nowhere."""
    return excursion.state != State.CANCELLED and not excursion.tallies.get("reason", {}).get("point_deactivated")
