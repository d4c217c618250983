"""The pages a document shows now, whatever run stored each: a list to filter, and its folders."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum, Value
from django.db.models.functions import Left, StrIndex, Substr
from django.http import QueryDict

from clearinghouse.columns import Exact
from clearinghouse.published.types import PAGE_TYPES
from clearinghouse.web import listing

from ..models import LedgerEntry, PageHead, PageVersion
from .site_folders import in_groups

SORTS = {"url": "url", "title": "title", "type": "type_id", "size": "size", "stored": "found_at"}
_COLUMNS = ("id", "run_id", "doc_id", "url_key", "url", "title", "type_id", "size", "found_at")


def _asked_type(query: QueryDict) -> int | None:
    asked = listing.number_in(query, "type")
    return asked if asked in PAGE_TYPES else None


@dataclass(frozen=True, slots=True)
class StoredPageFilter(listing.ListFilter):
    text: str = listing.text("q", 2048)
    type_id: int | None = listing.read_by(_asked_type, None)
    folder: str = listing.exact("folder", 2048)  # the beginning of the address
    here: bool = listing.flag("here")  # and not in a folder below
    sort: str = listing.sort(SORTS, "url")


@dataclass(frozen=True, slots=True)
class StoredFolder:
    start: str
    pages: int
    bytes: int


def pages_of(doc_id: int, asked: StoredPageFilter) -> QuerySet[PageVersion]:
    rows = _shown(doc_id)
    if asked.text:
        rows = rows.filter(Q(url__icontains=asked.text) | Q(title__icontains=asked.text))
    if asked.type_id is not None:
        rows = rows.filter(type_id=asked.type_id)
    if asked.folder:
        # Not LIKE: it does not tell upper case from lower case on every database.
        rows = rows.annotate(beginning=Left(Exact("url"), len(asked.folder))).filter(beginning=asked.folder)
        if asked.here:
            rows = rows.annotate(deeper=StrIndex(Substr("url", len(asked.folder) + 1), Value("/"))).filter(deeper=0)
    return rows.only(*_COLUMNS).order_by(*listing.order_by(asked.sort, SORTS, "url"), "id")


def _shown(doc_id: int) -> QuerySet[PageVersion]:
    return PageVersion.objects.filter(pk__in=PageHead.objects.filter(doc_id=doc_id).values("version_id"))


def count_of(doc_id: int) -> int:
    return PageHead.objects.filter(doc_id=doc_id).count()


def types_of(doc_id: int) -> dict[int, int]:
    """How many pages of each type."""
    return dict(_shown(doc_id).values_list("type_id").annotate(n=Count("id")).order_by("type_id"))


def folders_of(doc_id: int, folder: str) -> list[StoredFolder]:
    """The folders right below this one (nothing: the sites); one of them is the folder itself: its own pages."""
    rows: QuerySet[Any] = in_groups(_shown(doc_id), folder)
    counted = rows.values("start").annotate(n=Count("id"), total=Sum("size")).order_by("start")
    return [StoredFolder(row["start"], row["n"], row["total"] or 0) for row in counted]


def entries_of(doc_id: int, pages: Iterable[PageVersion]) -> dict[int, tuple[int, int]]:
    """Version: the run and the ledger row that met it last, where its page can be looked at; one query."""
    ids = [page.pk for page in pages]
    keys = [page.url_key for page in pages]
    rows = LedgerEntry.objects.filter(doc_id=doc_id, url_key__in=keys, version_id__in=ids)
    newest = rows.values("version_id").annotate(last=Max("id")).order_by().values("last")
    found = LedgerEntry.objects.filter(pk__in=newest).values_list("version_id", "excursion__run_id", "pk")
    return {version: (run, entry) for version, run, entry in found if version is not None}
