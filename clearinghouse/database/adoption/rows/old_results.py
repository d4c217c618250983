"""Owns: the results of an adopted database: the two tables put aside, their rows as generation 1 of a target.

Does not: change a row of them; rows that were nominally deleted stay aside unseen. Called by: adoption.prepare.

Each page is loaded under its own id beside the old tables, in short transactions that nobody sees and a killed process
continues. Only when all are there, one transaction makes doc_crawl_page doc_crawl_page_before and crawl_page_meta
crawl_page_meta_before, puts the views in their place and switches to generation 1: until then everything is as it was.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.db import connections, transaction
from django.utils import timezone

from clearinghouse.database.aliases import TARGETS, WEBCRAWL
from clearinghouse.database.digests import digest_of
from clearinghouse.published import models as published
from clearinghouse.published.types import EXTENSIONS
from clearinghouse.search import backends

from .. import database_views, introspection
from ..dialects import dialect
from . import old_rows
from .odd_rows import RESULTS
from .old_rows import BYTES, TEXT
from .old_text import text_of

BEFORE = "_before"
FIRST_GENERATION = 1
_BATCH = 50  # their files lie in memory meanwhile
VERSION_BITS = 28  # an instance draws its versions' ids from the block that begins at its own id << 28
METAS_PER_PAGE = 256  # as in crawler.propagation.loading.published_rows, and in the view crawl_page_meta of webcrawl
_LOWEST = -(2**63)
_UNKNOWN = ""
_EXTENSION, _NAME, _META_NAME = 50, 150, 512  # as wide as our columns are; the old row keeps the rest


class TwoSetsOfResults(Exception):
    """doc_crawl_page and doc_crawl_page_before are both tables: a person must say which one counts."""


def refuse_two_sets(alias: str) -> None:
    there = introspection.tables(connections[alias])
    if twice := [name for name in database_views.NAMES if name in there and name + BEFORE in there]:
        raise TwoSetsOfResults(f"{alias}: {twice[0]} and {twice[0]}{BEFORE} are both tables; keep one of them")


def put_aside(alias: str) -> list[str]:
    """Rename the results tables if they are tables; the new names."""
    connection = connections[alias]
    there = introspection.tables(connection)
    found = [name for name in database_views.NAMES if name in there]
    database_views.take_down(alias, found)
    for name in found:
        old, new = introspection.quoted(connection, there[name]), introspection.quoted(connection, name + BEFORE)
        with connection.schema_editor(atomic=True) as editor:
            editor.execute(editor.sql_rename_table % {"old_table": old, "new_table": new})
    return [name + BEFORE for name in found]


def to_be_shown(alias: str) -> bool:
    """Whether there are old results that no generation of this target shows yet."""
    table = _table_of(alias, "doc_crawl_page")
    return table is not None and not _is_shown(alias) and introspection.count(connections[alias], table) > 0


def load_beside(alias: str) -> None:
    """Load what stands, in short transactions that nobody sees and a killed process continues."""
    _ensure_index(alias)
    for batch in _batches(alias, str(_table_of(alias, "doc_crawl_page"))):
        with transaction.atomic(using=alias):
            _load(alias, batch)


def show_loaded(alias: str) -> int:
    """Inside the transaction that puts the old tables aside: what was added meanwhile, and the switch to generation 1.

    How many pages that generation shows.
    """
    load_beside(alias)
    _load_documents(alias)
    _start_ids_above_theirs(alias)
    published.LiveGeneration.objects.using(alias).filter(pk=1).update(
        generation=FIRST_GENERATION, switched_at=timezone.now()
    )
    return published.PublishedVersion.objects.using(alias).count()


def _is_shown(alias: str) -> bool:
    return published.LiveGeneration.objects.using(alias).get(pk=1).generation >= FIRST_GENERATION


def _table_of(alias: str, name: str) -> str | None:
    """The old table as it stands: where it always stood, or put aside."""
    there = introspection.tables(connections[alias])
    return there.get(name) or there.get(name + BEFORE)


def _batches(alias: str, table: str) -> Iterator[list[dict[str, Any]]]:
    """Rows that count and are not loaded yet, in the order of their ids."""
    connection = connections[alias]
    columns = introspection.column_names(connection, table)
    last = published.PublishedVersion.objects.using(alias).order_by("-pk").values_list("pk", flat=True).first()
    last = _LOWEST if last is None else last
    alive = f" AND coalesce({columns['deleted_fl']}, 0) = 0" if "deleted_fl" in columns else ""
    kinds = {
        name: kind for name, kind in (RESULTS["doc_crawl_page"] | {"crawl_file": BYTES}).items() if name in columns
    }
    listed = ", ".join(old_rows.selected(connection, columns[name], kind) for name, kind in kinds.items())
    key, home = introspection.quoted(connection, columns["doc_crawl_page_id"]), introspection.quoted(connection, table)
    first = "TOP (%s)" if connection.vendor == "microsoft" else ""
    limit = "" if first else " LIMIT %s"
    sql = f"SELECT {first} {listed} FROM {home} WHERE {key} > %s{alive} ORDER BY {key}{limit}"  # noqa: S608
    while True:
        found = introspection.rows(connection, sql, (_BATCH, last) if first else (last, _BATCH))
        if not found:
            return
        named = [_readable(dict(zip(kinds, row, strict=True)), kinds) for row in found]
        last = named[-1]["doc_crawl_page_id"]
        # The dictionary declares no key in this table: of rows with the same id one is shown.
        yield list({row["doc_crawl_page_id"]: row for row in named}.values())


def _readable(row: dict[str, Any], kinds: dict[str, str]) -> dict[str, Any]:
    """What was found odd and borne with: a date that is none is not known, a text is guessed."""
    return {name: _borne(kinds[name], stored, old_rows.read(kinds[name], stored)) for name, stored in row.items()}


def _borne(kind: str, stored: Any, value: Any) -> Any:
    if not isinstance(value, old_rows.UnreadableValue):
        return value
    return old_rows.guessed(stored) if kind == TEXT else None


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
        backends.backend(alias).ensure()


def _index(alias: str, published_ids: list[int]) -> None:
    with suppress(backends.UnknownServer):
        backends.backend(alias).add(published_ids)


def _version(row: dict[str, Any], metas: list[published.PublishedMeta]) -> published.PublishedVersion:
    url, body = row["crawl_page_url"], row.get("crawl_file")
    type_id, title = row.get("crawl_page_type_id"), row.get("title_str") or _UNKNOWN
    extension = row.get("page_ext") or EXTENSIONS.get(type_id or 0, _UNKNOWN)
    made = row.get("create_dt") or row.get("update_dt") or timezone.now()
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
        extension=extension[:_EXTENSION],
        title=title,
        metas=" ".join(meta.content for meta in metas),
        text=text_of(body, extension),
        body=body,
        crawled_at=made,
        created_at=made,
        updated_by=(row.get("update_nm") or _UNKNOWN)[:_NAME],
    )


def _metas_of(alias: str, page_ids: list[int]) -> list[published.PublishedMeta]:
    connection = connections[alias]
    table = _table_of(alias, "crawl_page_meta")
    if table is None:
        return []
    kinds = RESULTS["crawl_page_meta"]
    columns = {name: name for name in kinds} | introspection.column_names(connection, table)
    alive = f" AND coalesce({columns['deleted_fl']}, 0) = 0" if "deleted_fl" in columns else ""
    places = ", ".join(["%s"] * len(page_ids))
    listed = ", ".join(old_rows.selected(connection, columns[name], kind) for name, kind in kinds.items())
    sql = (
        f"SELECT {listed} FROM {introspection.quoted(connection, table)}"  # noqa: S608
        f" WHERE doc_crawl_page_id IN ({places}){alive} ORDER BY crawl_page_meta_id"
    )
    found = [
        _readable(dict(zip(kinds, row, strict=True)), kinds) for row in introspection.rows(connection, sql, page_ids)
    ]
    return [
        published.PublishedMeta(
            pk=row["crawl_page_meta_id"],
            published_id=row["doc_crawl_page_id"],
            name=(row["name_str"] or _UNKNOWN)[:_META_NAME],
            content=row["content_str"] or _UNKNOWN,
        )
        for row in found
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
        floor = max(_highest(alias, name, key), _highest(alias, name + BEFORE, key))
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
    home = introspection.tables(connection).get(table)
    if home is None:
        return 0
    key = introspection.quoted(connection, column)
    return introspection.value(connection, f"SELECT max({key}) FROM {introspection.quoted(connection, home)}") or 0  # noqa: S608


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or _UNKNOWN)[:255]
    except ValueError:
        return _UNKNOWN
