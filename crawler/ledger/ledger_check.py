"""Owns: the proof that a run's rows are right: the invariants of the ledger, counted again from the rows themselves.

Each check names the invariants it stands for (I1 balance, I2 nothing lost, I3 nothing twice, I6 limits, I10 cuts are
visible, I12 every failure has a reason); those about requests and time cannot be seen in rows.
Reads only. Called by: the command check_ledger, and by tests after every kill.
"""

from collections import Counter
from collections.abc import Iterator

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Length

from clearinghouse.web.plurals import plural

from ..engine.finishing.finish import WORST_FIRST
from ..engine.strands import STRANDS
from ..fetch.size_limits import DOCUMENT_AT_MOST, DOCUMENTS, TEXT_AT_MOST
from ..models import (
    ActiveQueue,
    CrawledPage,
    Excursion,
    LedgerEntry,
    PageBody,
    PageHead,
    PageVersion,
    Run,
    State,
)
from ..values import CRAWLED, FAILED, LEFT_BEHIND, OUTCOMES, QUEUED, REASONS, REDIRECTED, SKIPPED, UNCHANGED, Snapshot
from . import ledger_contents

PAGES = (CRAWLED, UNCHANGED)
PRUNING = "prune"  # the control of an excursion whose rows are being removed, step by step
Rows = QuerySet[LedgerEntry]


def faults(run: Run) -> list[str]:
    """Every broken invariant as a sentence; an empty list is the proof."""
    found: list[str] = []
    for excursion in Excursion.objects.filter(run=run).exclude(control=PRUNING).order_by("id"):
        rows = LedgerEntry.objects.filter(excursion=excursion).order_by()
        for check in (_balance, _reasons, _ends, _messages, _pages, _versions, _cuts, _limits, _redirects, _finds,
                      _heads, _projection, _links):  # fmt: skip
            found += [f"document {excursion.doc_id}: {sentence}" for sentence in check(excursion, rows)]
    return found + list(_of_run(run))


# -- I1: every address found is in exactly one place -------------------------------------------------------------


def _balance(excursion: Excursion, rows: Rows) -> Iterator[str]:
    counted = Counter(dict(rows.values_list("outcome").annotate(n=Count("id"))))
    counted[QUEUED] += STRANDS[excursion.strand].queue_rows(excursion).waiting.count()
    for outcome in OUTCOMES:
        if counted[outcome] != getattr(excursion, outcome):
            yield f"{outcome} says {getattr(excursion, outcome)}, the rows say {counted[outcome]}"
    if excursion.found != sum(counted.values()):
        yield f"found {excursion.found} is not the sum of the outcomes {sum(counted.values())}"
    waiting = sum(pair[1] for pair in excursion.tallies.get("depth", {}).values())
    if excursion.tallies and waiting != counted[QUEUED]:
        yield f"the tally of depths has {waiting} waiting, the rows say {counted[QUEUED]}"
    taken = {str(depth): n for depth, n in rows.filter(taken=True).values_list("depth").annotate(n=Count("id"))}
    tallied = {depth: pair[0] for depth, pair in excursion.tallies.get("depth", {}).items() if pair[0]}
    if excursion.tallies and tallied != taken:
        yield f"the tally of depths says {tallied} were taken from the queue, the rows say {taken}"
    if "left" in excursion.tallies:
        behind = rows.filter(reason__in=LEFT_BEHIND).values_list("depth").annotate(n=Count("id"))
        left = {str(depth): n for depth, n in behind}
        if excursion.tallies["left"] != left:
            yield f"the tally of depths says {excursion.tallies['left']} were left, the rows say {left}"


# -- I12: every failure has a named reason -----------------------------------------------------------------------


def _reasons(excursion: Excursion, rows: Rows) -> Iterator[str]:
    refused = [code for code, reason in REASONS.items() if reason.outcome == SKIPPED]
    failed = [code for code, reason in REASONS.items() if reason.outcome == FAILED]
    unnamed = rows.filter(outcome=SKIPPED).exclude(reason__in=refused).count()
    unnamed += rows.filter(outcome=FAILED).exclude(reason__in=failed).count()
    if unnamed:
        yield f"{plural(unnamed, 'row is,rows are')} skipped or failed without a reason of the closed list"
    excused = rows.filter(outcome__in=(*PAGES, REDIRECTED)).exclude(reason="").count()
    if excused:
        yield f"{plural(excused, 'row has,rows have')} a reason although nothing went wrong"
    if rows.filter(reason="error").exists() and not excursion.error:
        yield "it met a fault of ours and kept no traceback"
    by_reason = dict(rows.exclude(reason="").values_list("reason").annotate(n=Count("id")))
    if by_reason != excursion.tallies.get("reason", {}):
        yield f"the tally of reasons {excursion.tallies.get('reason', {})} is not what the rows say: {by_reason}"


# -- I2: nothing is lost -----------------------------------------------------------------------------------------


def _ends(excursion: Excursion, rows: Rows) -> Iterator[str]:
    ended = excursion.state in WORST_FIRST
    if ended == excursion.unfinished:
        yield f"it is {excursion.state} and marked as {'un' if excursion.unfinished else ''}finished"
    if excursion.unfinished:
        return
    queue = STRANDS[excursion.strand].queue_rows(excursion)
    waiting = queue.waiting.count()
    if waiting:
        yield f"it ended {excursion.state} with {plural(waiting, 'message')} waiting"
    if waiting or queue.done.exists():
        yield "its queue was not deleted"
    if ActiveQueue.objects.filter(excursion=excursion).exists():
        yield "its queue is still marked as served"


def _messages(excursion: Excursion, rows: Rows) -> Iterator[str]:
    queue = STRANDS[excursion.strand].queue_rows(excursion)
    decided = Exists(rows.filter(url_key=OuterRef("url_key")))
    twice = queue.waiting.filter(decided).count()
    if twice:
        yield f"{plural(twice, 'message waits,messages wait')} although there is a verdict on the address"
    lost = queue.done.exclude(decided).count()
    if lost:
        yield f"{plural(lost, 'message is done and has,messages are done and have')} no verdict"


def _finds(excursion: Excursion, rows: Rows) -> Iterator[str]:
    found = rows.exclude(found_on=None)
    orphans = found.exclude(Exists(rows.filter(url_key=OuterRef("found_on")))).count()
    if orphans:
        yield f"{plural(orphans, 'address was,addresses were')} found on a page that has no verdict"


def _links(excursion: Excursion, rows: Rows) -> Iterator[str]:
    yield from ledger_contents.of_links(excursion)


# -- I3: a page is stored whole, and once ------------------------------------------------------------------------


def _pages(excursion: Excursion, rows: Rows) -> Iterator[str]:
    named = rows.filter(outcome__in=PAGES)
    nameless = named.filter(version_id__isnull=True).count()
    if nameless:
        yield f"{plural(nameless, 'page names,pages name')} no version"
    named = named.exclude(version_id=None)
    versions = PageVersion.objects.filter(id=OuterRef("version_id"))
    lost = named.exclude(Exists(versions)).count()
    if lost:
        yield f"{plural(lost, 'page names,pages name')} a version that does not exist"
    other = named.filter(Exists(versions)).exclude(Exists(versions.filter(url_key=OuterRef("url_key")))).count()
    if other:
        yield f"{plural(other, 'page names,pages name')} a version of another address"
    held = rows.exclude(outcome__in=PAGES).exclude(version_id=None).count()
    if held:
        yield f"{plural(held, 'address names,addresses name')} a version without being a page"


def _versions(excursion: Excursion, rows: Rows) -> Iterator[str]:
    named = PageVersion.objects.filter(id__in=rows.filter(outcome__in=PAGES).values("version_id"))
    bodiless = named.exclude(Exists(PageBody.objects.filter(digest=OuterRef("digest")))).count()
    if bodiless:
        yield f"{plural(bodiless, 'version has,versions have')} no stored bytes"
    own = PageVersion.objects.filter(doc_id=excursion.doc_id, run_id=excursion.run_id)
    unnamed = own.exclude(Exists(rows.filter(version_id=OuterRef("id")))).count()
    if unnamed:
        yield f"{plural(unnamed, 'version of this run is,versions of this run are')} named by no page"
    yield from ledger_contents.of_bytes(named)


def _heads(excursion: Excursion, rows: Rows) -> Iterator[str]:
    heads = PageHead.objects.filter(doc_id=excursion.doc_id)
    if excursion.state == State.CANCELLED:
        kept = rows.filter(outcome=CRAWLED).exclude(version_id=F("previous_version_id"))
        if heads.filter(version_id__in=kept.exclude(version_id=None).values("version_id")).exists():
            yield "it was cancelled and its pages are still shown"
        return
    if excursion.state == State.STOPPING or _is_followed(excursion):
        return
    shown = heads.filter(url_key=OuterRef("url_key"), version_id=OuterRef("version_id"))
    hidden = rows.filter(outcome__in=PAGES).exclude(version_id=None).exclude(Exists(shown)).count()
    if hidden:
        yield f"{plural(hidden, 'page is,pages are')} not shown by the document, or in another version"


def _is_followed(excursion: Excursion) -> bool:
    """Whether a newer crawl of the document has begun: heads and crawled_pages tell of that one."""
    return Excursion.objects.filter(doc_id=excursion.doc_id, id__gt=excursion.pk, opened=True).exists()


def _projection(excursion: Excursion, rows: Rows) -> Iterator[str]:
    if not excursion.opened or _is_followed(excursion):
        return
    stored = Counter(rows.filter(outcome__in=PAGES).values_list("url", flat=True).iterator())
    listed = Counter(CrawledPage.objects.filter(doc_id=excursion.doc_id).values_list("url", flat=True).iterator())
    if stored != listed:
        missing, surplus = sum((stored - listed).values()), sum((listed - stored).values())
        yield f"crawled_pages lacks {plural(missing, 'page')} and has {surplus} too many"


# -- I6: limits hold for the sum of all instances ----------------------------------------------------------------


def _limits(excursion: Excursion, rows: Rows) -> Iterator[str]:
    points = Snapshot.from_json(excursion.snapshot).points if excursion.snapshot else ()
    counted = excursion.tallies.get("point", {})
    for point in points:
        used = counted.get(str(point.id), {}).get("used", 0)
        if point.max_pages and used > point.max_pages:
            yield f"crawl point {point.id} used {used} of {plural(point.max_pages, 'page')}"
        deep = rows.exclude(outcome=SKIPPED).filter(crawl_point_id=point.id, depth__gt=point.depth).count()
        if deep:
            yield f"{plural(deep, 'address is,addresses are')} deeper than crawl point {point.id} allows: {point.depth}"
    if points and all(point.max_pages for point in points):
        most, pages = sum(point.max_pages for point in points), rows.filter(outcome__in=PAGES).count()
        if pages > most:
            yield f"{plural(pages, 'page was,pages were')} stored, all crawl points together may store {most}"
    strangers = rows.exclude(crawl_point_id=None).exclude(crawl_point_id__in=[point.id for point in points]).count()
    if points and strangers:
        yield f"{plural(strangers, 'address is,addresses are')} read for a crawl point that is not in the snapshot"


# -- I10: what was cut says so -----------------------------------------------------------------------------------


def _cuts(excursion: Excursion, rows: Rows) -> Iterator[str]:
    own = PageVersion.objects.filter(id__in=rows.filter(outcome__in=PAGES).values("version_id"))
    beyond = own.filter(Q(size__gt=DOCUMENT_AT_MOST) | (Q(size__gt=TEXT_AT_MOST) & ~Q(type_id__in=DOCUMENTS))).count()
    if beyond:
        yield f"{plural(beyond, 'page is,pages are')} stored beyond the size limit"
    body = PageBody.objects.filter(digest=OuterRef("digest")).annotate(bytes=Length("content"))
    other = own.filter(Exists(body.exclude(bytes=OuterRef("size")))).count()
    if other:
        yield f"{plural(other, 'page has,pages have')} other bytes stored than their size says"


def _redirects(excursion: Excursion, rows: Rows) -> Iterator[str]:
    nowhere = rows.filter(Q(outcome=REDIRECTED) | Q(reason__startswith="redirect_"), redirect_url="").count()
    if nowhere:
        yield f"{plural(nowhere, 'address redirects,addresses redirect')} to nowhere"


# -- the run -----------------------------------------------------------------------------------------------------


def _of_run(run: Run) -> Iterator[str]:
    excursions = Excursion.objects.filter(run=run)
    headless = PageHead.objects.filter(doc_id__in=excursions.values("doc_id"))
    headless = headless.exclude(Exists(PageVersion.objects.filter(id=OuterRef("version_id"))))
    if headless.exists():
        yield f"{plural(headless.count(), 'head shows,heads show')} a version that does not exist"
    states = set(excursions.values_list("state", flat=True))
    unfinished = excursions.filter(unfinished=True).exists()
    if run.finished_at and unfinished:
        yield "the run ended before its excursions"
    if run.finished_at and states and not unfinished:
        worst = next((state for state in WORST_FIRST if state in states), State.FAILED)
        if run.state != worst:
            yield f"the run is {run.state}, the worst of its excursions is {worst}"
    if not run.finished_at and states and not unfinished:
        yield "all excursions ended and the run did not"
