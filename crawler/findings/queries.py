"""What the diagnosis reads of an ended excursion, and the findings as screens list them."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Sum, Value, When

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.database.digests import digest_of

from ..bulk_sql import chunks
from ..extract import packed_addresses
from ..models import BY_PEOPLE, OPEN_STATES, Advice, Excursion, Finding, LedgerEntry, PageVersion, State
from ..runs.latest_crawls import COMPLETE, complete_before, newest
from ..runs.run_counts import Docs
from ..values import CRAWLED, UNCHANGED, PointSettings, Snapshot
from .ledger_figures import LedgerLine
from .types import WARN

_LINE = (
    "url", "outcome", "reason", "detail", "status", "size", "milliseconds", "version_id", "previous_version_id",
    "crawl_point_id",
)  # fmt: skip
_NEEDING = {"state": Finding.State.OPEN, "weight__gte": WARN}
# They were to be reviewed, and somebody has decided about each of their findings since.
_DECIDED = Q(diagnosis__advice=Advice.REVIEW) & ~Exists(Finding.objects.filter(excursion=OuterRef("pk"), **_NEEDING))
_AT_ONCE = 2_000
_STARTS = 500  # crawl points whose start pages are looked at


def undiagnosed(limit: int) -> list[int]:
    """Ended excursions nobody looked through yet, oldest first."""
    rows = Excursion.objects.exclude(state__in=OPEN_STATES).filter(diagnosis=None, unfinished=False)
    return list(rows.order_by("id").values_list("id", flat=True)[:limit])


def undiagnosed_of(run_id: int, docs: Docs = None) -> int:
    rows = Excursion.objects.filter(run=run_id, diagnosis=None, unfinished=False).exclude(state__in=OPEN_STATES)
    return _visible(rows, docs).count()


def lines_of(excursion: Excursion) -> Iterator[LedgerLine]:
    """The whole ledger of an excursion, a part at a time."""
    last = 0
    while True:
        rows = LedgerEntry.objects.filter(excursion=excursion, id__gt=last).order_by("id")
        part = list(rows.values_list("id", *_LINE)[:_AT_ONCE])
        for row in part:
            yield LedgerLine(*row[1:])
        if len(part) < _AT_ONCE:
            return
        last = part[-1][0]


def contents_of(excursion: Excursion) -> Iterator[tuple[str, bytes]]:
    """Address and content digest of each stored page."""
    last = 0
    while True:
        rows = LedgerEntry.objects.filter(excursion=excursion, outcome__in=(CRAWLED, UNCHANGED), id__gt=last)
        part = list(rows.exclude(version_id=None).order_by("id").values_list("id", "url", "version_id")[:_AT_ONCE])
        digests: dict[int, bytes] = {}
        for some in chunks([row[2] for row in part]):
            digests |= dict(PageVersion.objects.filter(id__in=some).order_by().values_list("id", "digest"))
        yield from ((url, digests[version]) for _, url, version in part if version in digests)
        if len(part) < _AT_ONCE:
            return
        last = part[-1][0]


def bytes_not_sent_again(excursion: Excursion) -> int:
    """Sizes of the stored pages which the site confirmed with 304, without a body."""
    confirmed = LedgerEntry.objects.filter(excursion=excursion, outcome=UNCHANGED, size=0).exclude(version_id=None)
    stored = PageVersion.objects.filter(id__in=confirmed.order_by().values("version_id"))
    return stored.aggregate(total=Sum("size"))["total"] or 0


def only_page(excursion: Excursion) -> int | None:
    """The ledger row of the one page that was stored; None when there are more, or none."""
    rows = LedgerEntry.objects.filter(excursion=excursion, outcome__in=(CRAWLED, UNCHANGED))
    ids = list(rows.values_list("id", flat=True)[:2])
    return ids[0] if len(ids) == 1 else None


def before(excursion: Excursion) -> tuple[int, int] | None:
    """Run and pages of the crawl before this one."""
    row = complete_before(excursion).values_list("run_id", "crawled", "unchanged").first()
    return (row[0], row[1] + row[2]) if row else None


def starts_of(excursion: Excursion, snapshot: Snapshot) -> list[tuple[PointSettings, dict[str, Any]]]:
    """Each active crawl point with the ledger row of its URL, and in how many runs in a row it failed."""
    points = [(point, key) for point in snapshot.points if point.active and (key := _key(point))][:_STARTS]
    keys = [key for _, key in points]
    known: dict[bytes, dict[str, Any]] = {}
    for some in chunks(keys):
        rows = LedgerEntry.objects.filter(excursion=excursion, url_key__in=some)
        columns = ("url_key", "outcome", "reason", "status", "redirect_url", "detail", "version_id")
        known |= {bytes(row["url_key"]): row for row in rows.values(*columns)}
    return [(point, known[key] | {"key": key}) for point, key in points if key in known]


def _key(point: PointSettings) -> bytes | None:
    address = parse(point.url)
    return None if isinstance(address, Refusal) else digest_of(address.href)


def failing_runs(excursion: Excursion, key: bytes) -> int:
    """How many crawls of the document in a row, this one included, this address failed in; those that did not come
    to their end are none of them."""
    rows = LedgerEntry.objects.filter(doc_id=excursion.doc_id, url_key=key, excursion_id__lte=excursion.pk)
    rows = rows.filter(Q(excursion=excursion) | Q(excursion__state__in=COMPLETE, excursion__left_out_at=None))
    count = 0
    for outcome in rows.order_by("-id").values_list("outcome", flat=True)[:12]:
        if outcome != "failed":
            break
        count += 1
    return count


def links_of(version_id: int | None) -> list[str]:
    packed = PageVersion.objects.filter(pk=version_id).values_list("links", flat=True).first() if version_id else None
    return list(packed_addresses(bytes(packed or b"")))


# -- lists ------------------------------------------------------------------------------------------------------


def findings_of(run_id: int, docs: Docs, state: str = "") -> QuerySet[Finding]:
    """Of a run, those still to be decided first, the heaviest first."""
    rows = _visible(Finding.objects.filter(run_id=run_id), docs)
    rows = rows.filter(state=state) if state else rows
    undecided = Case(When(state=Finding.State.OPEN, then=Value(0)), default=Value(1))
    return _with_title(rows).order_by(undecided, "-weight", "id")


def needing(run_id: int, docs: Docs) -> QuerySet[Finding]:
    """Of a run, those that need attention: nobody decided about them, and they are more than a remark."""
    return findings_of(run_id, docs).filter(**_NEEDING)


def needing_by_run(run_ids: Collection[int], docs: Docs) -> dict[int, int | None]:
    """How many of each run need attention; None while documents of it are still looked through."""
    ended = Excursion.objects.filter(run__in=run_ids, diagnosis=None, unfinished=False)
    found: dict[int, int | None] = dict.fromkeys(_visible(ended, docs).values_list("run_id", flat=True).distinct())
    rows = _visible(Finding.objects.filter(run_id__in=run_ids), docs).filter(**_NEEDING)
    for run_id, number in rows.values_list("run_id").annotate(n=Count("id")).order_by():
        found.setdefault(run_id, number)
    return found


def counts_of(run_id: int, docs: Docs) -> Counter[str]:
    """By state."""
    rows = _visible(Finding.objects.filter(run_id=run_id), docs)
    return Counter(dict(rows.values_list("state").annotate(n=Count("id")).order_by()))


def open_findings(docs: Docs, least: int) -> QuerySet[Finding]:
    """Findings of at least this weight of the newest crawl of each document that nobody decided about."""
    rows = Finding.objects.filter(excursion__in=_judged(docs), state=Finding.State.OPEN, weight__gte=least)
    return _with_title(rows)


def _judged(docs: Docs | Collection[int]) -> QuerySet[Any]:
    """The crawl of each document that tells what is wrong with it: the newest that came to its end, also of a part of
    it; where there is none, the newest that was not cancelled."""
    complete = Excursion.objects.filter(state__in=COMPLETE, left_out_at=None)
    alone = Q(state__in=(State.STOPPED, State.FAILED)) & ~Exists(complete.filter(doc_id=OuterRef("doc_id")))
    rows = Excursion.objects.filter(Q(state__in=COMPLETE) | alone, unfinished=False, left_out_at=None)
    return newest(_visible(rows, docs)).values("pk")


def newest_findings(doc_id: int) -> list[Finding]:
    """Of the newest ended crawl of a document, open ones only, the heaviest first."""
    return list(open_findings({doc_id}, 0).order_by("-weight", "id"))


def decided_before(excursion: Excursion) -> dict[tuple[str, str], Finding]:
    """What was accepted in the crawl before, or in one since that did not come to its end: people know it, it needs
    no decision again."""
    previous = Excursion.objects.filter(doc_id=excursion.doc_id, id__lt=excursion.pk, diagnosis__isnull=False)
    last = previous.filter(state__in=COMPLETE).order_by("-id").values_list("id", flat=True).first() or 0
    rows = Finding.objects.filter(excursion__in=previous.filter(id__gte=last), state=Finding.State.ACCEPTED)
    return {(row.rule, row.subject): row for row in rows.order_by("id")}


def advice_of(run_id: int, docs: Docs) -> dict[str, int]:
    """What is advised for the documents of a run, and for how many."""
    rows = _visible(_advised(run_id), docs)
    found = Counter(dict(rows.values_list("diagnosis__advice").annotate(n=Count("id")).order_by()))
    decided = rows.filter(_DECIDED).count() if found[Advice.REVIEW] else 0
    found.update({Advice.REVIEW.value: -decided, Advice.PROPAGATE.value: decided})
    return dict(+found)


def advised_to_propagate(run_id: int) -> set[int]:
    """The documents of a run whose findings speak for propagating them."""
    rows = _advised(run_id).filter(Q(diagnosis__advice=Advice.PROPAGATE) | _DECIDED)
    return set(rows.values_list("doc_id", flat=True))


def _advised(run_id: int) -> QuerySet[Excursion]:
    """Crawls about which something is to be advised: not those that somebody ended, or left out."""
    rows = Excursion.objects.filter(run=run_id, diagnosis__isnull=False, left_out_at=None)
    return rows.exclude(state__in=BY_PEOPLE)


def _with_title(rows: QuerySet[Finding]) -> QuerySet[Finding]:
    return rows.select_related("excursion").defer("excursion__snapshot", "excursion__tallies", "excursion__error")


def _visible(rows: QuerySet[Any], docs: Docs | Collection[int]) -> QuerySet[Any]:
    return rows if docs is None else rows.filter(doc_id__in=docs)
