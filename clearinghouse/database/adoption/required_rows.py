"""Owns: the rows without which nothing works: page types, the live generation, the public switch, and in a new
library the field type and the statuses. Never changes a row that stands. Called by: post_migrate, `prepare`.
"""

import logging
import re
from typing import Any

from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from clearinghouse.library.models import CRAWL_POINTS, Document, DocumentStatus, FieldType
from clearinghouse.published.models import CrawlPageType, LiveGeneration, PublicSwitch
from clearinghouse.published.types import PAGE_TYPES

from ..aliases import DEFAULT, TARGETS, WEBCRAWL
from ..records import actor
from . import introspection

logger = logging.getLogger(__name__)
STATUSES = ("In progress", "In review", "Published")


def seed(alias: str) -> None:
    """Add what is missing; tables that are not there yet are passed over. Safe to repeat and to do at the same time."""
    there = introspection.tables(connections[alias])
    if CrawlPageType._meta.db_table in there:
        _add_missing(CrawlPageType, alias, _page_types())
    if alias in TARGETS.values() and LiveGeneration._meta.db_table in there:
        _add_missing(LiveGeneration, alias, {1: {}})
    if alias == WEBCRAWL and PublicSwitch._meta.db_table in there:
        _add_missing(PublicSwitch, alias, {1: {}})
    if alias == DEFAULT and FieldType._meta.db_table in there:
        _seed_library()


def _page_types() -> dict[int, dict[str, Any]]:
    signed = {"created_at": timezone.now(), "updated_at": timezone.now(), "updated_by": actor()}
    return {key: signed | {"name": name} for key, name in PAGE_TYPES.items()}


def _seed_library() -> None:
    try:
        with transaction.atomic(using=DEFAULT):
            _add_field_type_and_statuses()
    except IntegrityError:
        # An adopted table asks for a column we do not know; prepare has said so, a person adds the row.
        logger.warning("The field type %r could not be added to field_type", CRAWL_POINTS)


def _add_field_type_and_statuses() -> None:
    if not FieldType.everything.filter(name=CRAWL_POINTS).exists():
        FieldType.objects.create(name=CRAWL_POINTS)
    if not Document.everything.exists() and not DocumentStatus.everything.exists():
        for name in STATUSES:
            DocumentStatus.objects.create(name=name)


def _add_missing(model: Any, alias: str, wanted: dict[int, dict[str, Any]]) -> None:
    standing_keys = set(model.objects.using(alias).values_list("pk", flat=True))
    missing = [model(pk=key, **values) for key, values in wanted.items() if key not in standing_keys]
    if missing:
        model.objects.using(alias).bulk_create(missing, ignore_conflicts=connections[alias].vendor != "microsoft")


def page_types_named_otherwise(alias: str) -> list[str]:
    """Sentences about page types that an adopted database calls something else than the crawler does."""
    there = dict(CrawlPageType.objects.using(alias).values_list("pk", "name"))
    return [
        f"crawl_page_type {key} is called {there[key]!r} here; the crawler stores {name} pages under it"
        for key, name in PAGE_TYPES.items()
        if key in there and not _alike(there[key], name)
    ]


def _alike(one: str, other: str) -> bool:
    return bool(_words(one) & _words(other))


def _words(name: str) -> set[str]:
    return set(re.findall(r"\w+", name.lower().replace(".", " ")))
