"""Owns: the rows of a target: a new generation beside the live one, written in short transactions.

Nothing written here is visible before the switch. Loading again after a kill starts with begin(), which takes the
traces of an unfinished load back; contents already there are found by id and digest and not written twice.
Does not: decide what changes (plan), switch. Called by: work, services.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from django.db import connections, transaction

from clearinghouse.published.models import OPEN, LiveGeneration
from clearinghouse.search import backends
from clearinghouse.search.ranking.similarity import likeness
from crawler.bulk_sql import chunks, execute_many, insertion, own_ids

from ..plan import VARIANTS, Change, Held
from . import index_merging
from .collect import Beat, Content, contents
from .packed_pages import Pages, WantedPages
from .published_rows import META_COLUMNS, VERSION_COLUMNS, meta_rows, version_row

T = TypeVar("T")
SETTLE_SECONDS = 1800.0
AIM = 0.030  # seconds of a transaction; the budget is 50 ms
_SMALLEST, _LARGEST = 1, 400
_AT_ONCE = 1_000  # rows
_LIVE = "gen_from <= %s AND gen_to > %s"


def execute(alias: str, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """One statement on a target; its rows, if it has any."""
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, list(values))
        return cursor.fetchall() if cursor.description else [cursor.rowcount]


def live(alias: str) -> int:
    return LiveGeneration.objects.using(alias).values_list("generation", flat=True).first() or 0


def newest(alias: str) -> int:
    """The highest generation number this target has ever seen."""
    top = execute(alias, "SELECT MAX(gen_from) FROM published_interval")[0][0] or 0
    closed = execute(alias, "SELECT MAX(gen_to) FROM published_interval WHERE gen_to < %s", [OPEN])[0][0] or 0
    return max(live(alias), top, closed)


def count(alias: str, generation: int) -> int:
    sql = f"SELECT COUNT(*) FROM published_interval WHERE {_LIVE}"  # noqa: S608
    return int(execute(alias, sql, [generation, generation])[0][0])


def count_of(alias: str, generation: int, doc_ids: Sequence[int]) -> dict[int, int]:
    """How many pages each of these documents has in a generation; those without any are missing."""
    found: dict[int, int] = {}
    for part in chunks(doc_ids):
        marks = ", ".join(["%s"] * len(part))
        sql = f"SELECT doc_id, COUNT(*) FROM published_interval WHERE {_LIVE} AND doc_id IN ({marks}) GROUP BY doc_id"  # noqa: S608
        found |= {int(doc_id): int(number) for doc_id, number in execute(alias, sql, [generation, generation, *part])}
    return found


def documents(alias: str, generation: int) -> set[int]:
    """The documents that have pages in a generation."""
    sql = f"SELECT DISTINCT doc_id FROM published_interval WHERE {_LIVE}"  # noqa: S608
    return {row[0] for row in execute(alias, sql, [generation, generation])}


def held(alias: str, doc_id: int, generation: int) -> Iterator[Held]:
    """Read as it is used: what a document shows may be very much. Use it up before anything is written."""
    sql = (
        "SELECT i.published_id, v.url_key, v.digest FROM published_interval i "
        "JOIN published_version v ON v.published_id = i.published_id "
        "WHERE i.doc_id = %s AND i.gen_to > %s AND i.gen_from <= %s"
    )
    for row in streamed(alias, sql, [doc_id, generation, generation]):
        yield Held(row[0], bytes(row[1]), bytes(row[2]))


def streamed(alias: str, sql: str, values: Sequence[Any]) -> Iterator[Any]:
    """The rows of one statement, of which only some are in memory."""
    with connections[alias].chunked_cursor() as cursor:
        cursor.execute(sql, list(values))
        while rows := cursor.fetchmany(_AT_ONCE):
            yield from rows


def begin(alias: str) -> None:
    """A place for what is loaded, without what an unfinished load, or a generation that was rolled back, left there."""
    backends.backend(alias).ensure()
    shown = live(alias)
    for table in ("published_interval", "published_document"):
        with transaction.atomic(using=alias):
            execute(alias, f"DELETE FROM {table} WHERE gen_from > %s", [shown])  # noqa: S608
            sql = f"UPDATE {table} SET gen_to = %s WHERE gen_to > %s AND gen_to < %s"  # noqa: S608
            execute(alias, sql, [OPEN, shown, OPEN])


def distrust(alias: str, beat: Beat) -> None:
    """After a verification that failed: nothing the load wrote is kept, not even a meta tag without its page."""
    forget_unseen(alias, beat)
    sql = (
        "SELECT m.published_meta_id FROM published_meta m WHERE NOT EXISTS "
        "(SELECT 1 FROM published_version v WHERE v.published_id = m.published_id)"
    )
    for ids in _paced(row[0] for row in execute(alias, sql)):
        marks = ", ".join(["%s"] * len(ids))
        with transaction.atomic(using=alias):
            execute(alias, f"DELETE FROM published_meta WHERE published_meta_id IN ({marks})", ids)  # noqa: S608
        beat()


def apply(alias: str, generation: int, change: Change, pages: Pages, beat: Beat) -> None:
    """Writes what a document needs in this generation."""
    # In the order of their ids: neither side jumps to and fro in its files.
    ids_of = WantedPages(pages)
    for part in _paced(contents(pages, sorted(change.opened, key=lambda key: ids_of[key].published_id))):
        with transaction.atomic(using=alias):
            ids = _write(alias, part)
            rows = [(number, change.doc_id, generation, OPEN) for number in ids]
            _insert(alias, "published_interval", ("published_id", "doc_id", "gen_from", "gen_to"), rows)
        beat()
    for ids in _paced(iter(change.closed)):
        marks = ", ".join(["%s"] * len(ids))
        sql = (
            f"UPDATE published_interval SET gen_to = %s WHERE published_id IN ({marks}) "  # noqa: S608
            "AND gen_to = %s AND gen_from < %s"
        )
        with transaction.atomic(using=alias):
            execute(alias, sql, [generation, *ids, OPEN, generation])
        beat()


def rewrite(alias: str, pages: Pages, held_rows: Iterable[Held], beat: Beat) -> int:
    """--full: every page that stays is written again under its own id, its index entry with it; how many were."""
    wanted = WantedPages(pages)
    same = {
        row.url_key: row.published_id
        for row in held_rows
        if row.url_key in wanted and wanted[row.url_key].digest == row.digest
    }
    for part in _paced(contents(pages, same)):
        ids = [same[content.url_key] for content in part]
        marks = ", ".join(["%s"] * len(ids))
        with transaction.atomic(using=alias):
            backends.backend(alias).remove(ids)
            for table in ("published_meta", "published_version"):
                execute(alias, f"DELETE FROM {table} WHERE published_id IN ({marks})", ids)  # noqa: S608
            _insert_contents(alias, list(zip(ids, part, strict=True)))
            backends.backend(alias).add(ids)
        beat()
    return len(same)


def renamed(alias: str, wanted: dict[int, tuple[str, str]]) -> int:
    """How many documents a target knows under another title or project, or not at all."""
    shown = _names(alias)
    return len([doc_id for doc_id in {*shown, *wanted} if shown.get(doc_id) != wanted.get(doc_id)])


def _names(alias: str) -> dict[int, tuple[str, str]]:
    now = live(alias)
    sql = f"SELECT doc_id, title, project FROM published_document WHERE {_LIVE}"  # noqa: S608
    return {row[0]: (row[1], row[2]) for row in execute(alias, sql, [now, now])}


def name_documents(alias: str, generation: int, wanted: dict[int, tuple[str, str]]) -> None:
    """Titles and projects of the documents of this generation, as intervals like the pages; call after begin()."""
    shown = _names(alias)
    stale = [doc_id for doc_id, names in shown.items() if wanted.get(doc_id) != names]
    fresh = [(doc_id, *names, generation, OPEN) for doc_id, names in wanted.items() if shown.get(doc_id) != names]
    with transaction.atomic(using=alias):
        for doc_id in stale:
            sql = "UPDATE published_document SET gen_to = %s WHERE doc_id = %s AND gen_to = %s"
            execute(alias, sql, [generation, doc_id, OPEN])
        _insert(alias, "published_document", ("doc_id", "title", "project", "gen_from", "gen_to"), fresh)


def index(alias: str, generation: int, beat: Beat) -> int:
    """Puts the pages of a generation that are not indexed yet into the full text index; how many were."""
    backends.backend(alias).ensure()
    missing = backends.backend(alias).missing(generation)
    if missing:
        index_merging.by_hand(alias)
    for number, ids in enumerate(_paced(iter(missing)), 1):
        with transaction.atomic(using=alias):
            backends.backend(alias).add(ids)
        beat()
        if number % index_merging.EVERY == 0:
            index_merging.merge(alias, beat)
    index_merging.merge(alias, beat)
    if missing:
        backends.backend(alias).tidy(len(missing))
    _settle(alias, beat)
    return len(missing)


def _settle(alias: str, beat: Beat) -> None:
    """Wait for an index that its server fills on its own time; one that never ends fails the verification."""
    until, index_of = time.monotonic() + SETTLE_SECONDS, backends.backend(alias)
    while not index_of.settled() and time.monotonic() < until:
        beat()
        time.sleep(0.2)


def purge(alias: str, oldest: int, beat: Beat) -> int:
    """Removes intervals that ended at or before the oldest generation kept, and contents nothing shows any more."""
    sql = "SELECT id, published_id FROM published_interval WHERE gen_to <= %s"
    ended = execute(alias, sql, [oldest])
    for part in _paced(iter(ended)):
        with transaction.atomic(using=alias):
            marks = ", ".join(["%s"] * len(part))
            sql = f"DELETE FROM published_interval WHERE id IN ({marks})"  # noqa: S608
            execute(alias, sql, [row[0] for row in part])
        beat()
    execute(alias, "DELETE FROM published_document WHERE gen_to <= %s", [oldest])
    return forget_unseen(alias, beat)


def forget_unseen(alias: str, beat: Beat) -> int:
    """Removes the contents no generation shows; how many. What an unfinished load wrote is written anew then."""
    sql = (
        "SELECT v.published_id FROM published_version v WHERE NOT EXISTS "
        "(SELECT 1 FROM published_interval i WHERE i.published_id = v.published_id)"
    )
    unseen = [row[0] for row in execute(alias, sql)]
    for ids in _paced(iter(unseen)):
        marks = ", ".join(["%s"] * len(ids))
        with transaction.atomic(using=alias):
            backends.backend(alias).remove(ids)
            for table in ("published_meta", "published_version"):
                execute(alias, f"DELETE FROM {table} WHERE published_id IN ({marks})", ids)  # noqa: S608
        beat()
    return len(unseen)


def _write(alias: str, part: Sequence[Content]) -> list[int]:
    """The published ids of these contents; those that are not there yet are written."""
    wanted = [content.page.published_id for content in part]
    marks = ", ".join(["%s"] * len(wanted))
    sql = f"SELECT published_id, digest FROM published_version WHERE published_id IN ({marks})"  # noqa: S608
    there = {row[0]: bytes(row[1]) for row in execute(alias, sql, wanted)}
    ids: list[int] = []
    fresh: list[tuple[int, Content]] = []
    for content in part:
        number = content.page.published_id
        if number in there and there[number] != content.page.digest:
            number, known = _other_id(alias, content, there)
        else:
            known = number in there
        ids.append(number)
        if not known:
            there[number] = content.page.digest
            fresh.append((number, content))
    _insert_contents(alias, fresh)
    return ids


def _other_id(alias: str, content: Content, taken: Iterable[int]) -> tuple[int, bool]:
    """An id for a content whose own is taken, and whether the content is there already.

    Another variant of its version first; adopted rows may have taken all of them.
    """
    digest = content.page.digest
    sql = "SELECT published_id FROM published_version WHERE doc_id = %s AND url_key = %s AND digest = %s"
    same = execute(alias, sql, [content.version.doc_id, content.url_key, digest])
    if same:
        return same[0][0], True
    first = content.version.id * VARIANTS
    sql = "SELECT published_id FROM published_version WHERE published_id >= %s AND published_id < %s"
    used = {row[0] for row in execute(alias, sql, [first, first + VARIANTS])} | set(taken)
    free = next((number for number in range(first, first + VARIANTS) if number not in used), None)
    if free is None:
        free = max(execute(alias, "SELECT MAX(published_id) FROM published_version")[0][0], *taken) + 1
    return free, False


def _insert_contents(alias: str, fresh: Sequence[tuple[int, Content]]) -> None:
    moment = connections[alias].ops.adapt_datetimefield_value
    versions = [version_row(number, content, moment) for number, content in fresh]
    metas = [row for number, content in fresh for row in meta_rows(number, content)]
    _insert(alias, "published_version", VERSION_COLUMNS, versions, ids=True)
    _insert(alias, "published_meta", META_COLUMNS, metas, ids=True)
    if fresh:
        pages = [_described(content, row) for (_, content), row in zip(fresh, versions, strict=True)]
        backends.backend(alias).describe(pages)


def _described(content: Content, row: Sequence[Any]) -> backends.Described:
    """While the text is at hand; what it is alike is asked once, not once for each target."""
    at = dict(zip(VERSION_COLUMNS, row, strict=True))
    alike = content.pages.likeness(content.url_key) or likeness(at["title_str"], at["text"])
    content.pages.remember(content.url_key, alike)
    return backends.Described(
        row[0], at["doc_id"], at["crawl_page_type_id"], at["host"], at["language"], at["crawl_page_url"], alike,
        at["crawled_at"],
    )  # fmt: skip


def _insert(
    alias: str, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, ids: bool = False
) -> None:
    if rows:
        with own_ids(alias, table if ids else ""):
            execute_many(insertion(connections[alias].vendor, table, columns), rows, alias)


def _paced(items: Iterator[T]) -> Iterator[list[T]]:
    """Parts of a size that keeps the transaction around each of them short."""
    size = 10
    while part := list(islice(items, size)):
        started = time.perf_counter()
        yield part
        spent = time.perf_counter() - started
        size = int(max(_SMALLEST, min(_LARGEST, size * min(2.0, max(0.5, AIM / max(spent, 0.001))))))
