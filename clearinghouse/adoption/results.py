"""Owns: the results of an adopted database: the two tables put aside, their rows as generation 1 of a target.

Does not: change a row of them; rows that were nominally deleted stay aside unseen. Called by: adoption.prepare.

doc_crawl_page becomes doc_crawl_page_before, crawl_page_meta becomes crawl_page_meta_before. Each page is loaded
under its own id, in short transactions that a killed process continues; the switch to generation 1 comes last.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from django.db import connections, transaction
from django.utils import timezone

from clearinghouse.databases import TARGETS, WEBCRAWL
from clearinghouse.digests import digest_of
from clearinghouse.published import models as published
from clearinghouse.published.types import EXTENSIONS
from clearinghouse.search import backends

from . import standing, views
from .dialects import dialect
from .text import text_of

BEFORE = "_before"
FIRST_GENERATION = 1
_BATCH = 50  # their files lie in memory meanwhile
VERSION_BITS = 28  # an instance draws its versions' ids from the block that begins at its own id << 28
METAS_PER_PAGE = 256  # as in crawler.propagation.rows, and in the view crawl_page_meta of webcrawl
_LOWEST = -(2**63)
_UNKNOWN = ""


class TwoSetsOfResults(Exception):
    """doc_crawl_page and doc_crawl_page_before are both tables: a person must say which one counts."""


def put_aside(alias: str) -> list[str]:
    """Rename the results tables if they are tables; the new names."""
    connection = connections[alias]
    there = standing.tables(connection)
    found = [name for name in views.NAMES if name in there]
    if twice := [name for name in found if name + BEFORE in there]:
        raise TwoSetsOfResults(f"{alias}: {twice[0]} and {twice[0]}{BEFORE} are both tables; keep one of them")
    views.take_down(alias, found)
    for name in found:
        old, new = standing.quoted(connection, there[name]), standing.quoted(connection, name + BEFORE)
        with connection.schema_editor(atomic=True) as editor:
            editor.execute(editor.sql_rename_table % {"old_table": old, "new_table": new})
    return [name + BEFORE for name in found]


def load_before(alias: str) -> int:
    """Make the rows that were put aside generation 1 of this target, unless it has a generation; how many pages."""
    connection = connections[alias]
    table = standing.tables(connection).get(f"doc_crawl_page{BEFORE}")
    live = published.LiveGeneration.objects.using(alias).get(pk=1)
    if table is None or live.generation >= FIRST_GENERATION or not standing.count(connection, table):
        return 0
    pages = 0
    _ensure_index(alias)
    for batch in _batches(alias, table):
        pages += len(batch)
        with transaction.atomic(using=alias):
            _load(alias, batch)
    with transaction.atomic(using=alias):
        _load_documents(alias)
        _start_ids_above_theirs(alias)
        published.LiveGeneration.objects.using(alias).filter(pk=1).update(
            generation=FIRST_GENERATION, switched_at=timezone.now()
        )
    return pages


def _batches(alias: str, table: str) -> Iterator[list[dict[str, Any]]]:
    """Rows that count and are not loaded yet, in the order of their ids."""
    connection = connections[alias]
    columns = standing.column_names(connection, table)
    last = published.PublishedVersion.objects.using(alias).order_by("-pk").values_list("pk", flat=True).first()
    last = _LOWEST if last is None else last
    alive = f" AND coalesce({columns['deleted_fl']}, 0) = 0" if "deleted_fl" in columns else ""
    listed = ", ".join(standing.quoted(connection, name) for name in columns.values())
    key, home = standing.quoted(connection, columns["doc_crawl_page_id"]), standing.quoted(connection, table)
    first = "TOP (%s)" if connection.vendor == "microsoft" else ""
    limit = "" if first else " LIMIT %s"
    sql = f"SELECT {first} {listed} FROM {home} WHERE {key} > %s{alive} ORDER BY {key}{limit}"  # noqa: S608
    while True:
        found = standing.rows(connection, sql, (_BATCH, last) if first else (last, _BATCH))
        if not found:
            return
        named = [dict(zip(columns, row, strict=True)) for row in found]
        last = named[-1]["doc_crawl_page_id"]
        # The dictionary declares no key in this table: of rows with the same id one is shown.
        yield list({row["doc_crawl_page_id"]: row for row in named}.values())


def _load(alias: str, batch: list[dict[str, Any]]) -> None:
    metas = _metas_of(alias, [row["doc_crawl_page_id"] for row in batch])
    versions, intervals = [], []
    for row in batch:
        page_id = row["doc_crawl_page_id"]
        versions.append(_version(row, [meta for meta in metas if meta.published_id == page_id]))
        intervals.append(
            published.PublishedInterval(published_id=page_id, doc_id=row["doc_id"], gen_from=FIRST_GENERATION)
        )
    published.PublishedVersion.objects.using(alias).bulk_create(versions)
    published.PublishedMeta.objects.using(alias).bulk_create(metas)
    published.PublishedInterval.objects.using(alias).bulk_create(intervals)
    _index(alias, [version.pk for version in versions])


def _ensure_index(alias: str) -> None:
    with suppress(backends.UnknownServer):
        backends.ensure(alias)


def _index(alias: str, published_ids: list[int]) -> None:
    with suppress(backends.UnknownServer):
        backends.add(alias, published_ids)


def _version(row: dict[str, Any], metas: list[published.PublishedMeta]) -> published.PublishedVersion:
    url, body = row["crawl_page_url"], _bytes(row.get("crawl_file"))
    type_id, title = row.get("crawl_page_type_id"), row.get("title_str") or _UNKNOWN
    extension = row.get("page_ext") or EXTENSIONS.get(type_id or 0, _UNKNOWN)
    made = _moment(row.get("create_dt")) or _moment(row.get("update_dt")) or timezone.now()
    content = repr((url, type_id, extension, title, [(meta.name, meta.content) for meta in metas]))
    return published.PublishedVersion(
        pk=row["doc_crawl_page_id"],
        page_id=row["doc_crawl_page_id"],
        doc_id=row["doc_id"],
        digest=digest_of(content.encode("utf-8", "surrogatepass") + (body or b"")),
        url_key=digest_of(url),
        url=url,
        host=_host_of(url),
        type_id=type_id or 0,  # 0: not known; the view shows NULL
        extension=extension,
        title=title,
        metas=" ".join(meta.content for meta in metas),
        text=text_of(body, extension),
        body=body,
        crawled_at=made,
        created_at=made,
        updated_by=row.get("update_nm") or _UNKNOWN,
    )


def _metas_of(alias: str, page_ids: list[int]) -> list[published.PublishedMeta]:
    connection = connections[alias]
    table = standing.tables(connection).get(f"crawl_page_meta{BEFORE}")
    if table is None:
        return []
    columns = standing.column_names(connection, table)
    alive = f" AND coalesce({columns['deleted_fl']}, 0) = 0" if "deleted_fl" in columns else ""
    places = ", ".join(["%s"] * len(page_ids))
    sql = (
        f"SELECT crawl_page_meta_id, doc_crawl_page_id, name_str, content_str FROM {standing.quoted(connection, table)}"  # noqa: S608
        f" WHERE doc_crawl_page_id IN ({places}){alive} ORDER BY crawl_page_meta_id"
    )
    return [
        published.PublishedMeta(pk=key, published_id=page, name=name or _UNKNOWN, content=content or _UNKNOWN)
        for key, page, name, content in standing.rows(connection, sql, page_ids)
    ]


def _load_documents(alias: str) -> None:
    """Their titles are not in the dictionary; people give them in the library, the next propagation carries them."""
    versions = published.PublishedVersion.objects.using(alias)
    there = set(published.PublishedDocument.objects.using(alias).values_list("doc_id", flat=True))
    missing = set(versions.values_list("doc_id", flat=True).distinct()) - there
    published.PublishedDocument.objects.using(alias).bulk_create(
        published.PublishedDocument(doc_id=doc_id, title=f"Document {doc_id}", gen_from=FIRST_GENERATION)
        for doc_id in sorted(missing)
    )


def _start_ids_above_theirs(alias: str) -> None:
    """Also above rows that stay aside: an id once used is not used for something else."""
    for name, key, model in (
        ("doc_crawl_page", "doc_crawl_page_id", published.PublishedVersion),
        ("crawl_page_meta", "crawl_page_meta_id", published.PublishedMeta),
    ):
        floor = _highest(alias, name + BEFORE, key)
        _start_above(alias, model._meta.db_table, model._meta.pk.column, floor)


def start_webcrawl_above_targets(*, new: bool = False) -> None:
    """Our pages, versions and propagations (their ids are generation numbers) begin above all that targets hold.

    A version is published under its own id, its metas under that id * METAS_PER_PAGE and the following ones.
    A new webcrawl beside targets that have been in use (its database was lost) looks at all they ever showed.
    """
    pages = generations = metas = 0
    for alias in TARGETS.values():
        pages = max(pages, _highest(alias, f"doc_crawl_page{BEFORE}", "doc_crawl_page_id"))
        metas = max(metas, _highest(alias, f"crawl_page_meta{BEFORE}", "crawl_page_meta_id"))
        generations = max(generations, _highest(alias, "live_generation", "generation"))
        if new:
            pages = max(pages, _highest(alias, "published_version", "doc_crawl_page_id"))
            pages = max(pages, _highest(alias, "published_version", "published_id"))
            metas = max(metas, _highest(alias, "published_meta", "published_meta_id"))
            generations = max(generations, _highest(alias, "published_interval", "gen_from"))
    pages = max(pages, _highest(WEBCRAWL, f"doc_crawl_page{BEFORE}", "doc_crawl_page_id"))
    if pages or generations:
        with transaction.atomic(using=WEBCRAWL):
            _start_above(WEBCRAWL, "page_head", "doc_crawl_page_id", pages)
            _start_above(WEBCRAWL, "page_version", "id", max(pages, metas // METAS_PER_PAGE))
            _start_above(WEBCRAWL, "instance", "id", max(pages, metas // METAS_PER_PAGE) >> VERSION_BITS)
            _start_above(WEBCRAWL, "propagation", "id", generations)


def _start_above(alias: str, table: str, column: Any, floor: int) -> None:
    dialect(connections[alias]).start_ids_above(connections[alias], table, column, floor)


def _highest(alias: str, table: str, column: str) -> int:
    connection = connections[alias]
    home = standing.tables(connection).get(table)
    if home is None:
        return 0
    key = standing.quoted(connection, column)
    return standing.value(connection, f"SELECT max({key}) FROM {standing.quoted(connection, home)}") or 0  # noqa: S608


def _bytes(value: Any) -> bytes | None:
    return value.encode() if isinstance(value, str) else None if value is None else bytes(value)


def _moment(value: Any) -> datetime | None:
    """SQLite gives text; a time without a zone is taken as one of this server's."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value.astimezone(UTC) if timezone.is_aware(value) else timezone.make_aware(value)


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or _UNKNOWN)[:255]
    except ValueError:
        return _UNKNOWN
