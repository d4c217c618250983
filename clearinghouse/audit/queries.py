"""Owns: reading the audit. Does not: write. Called by: history screens and reports."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import QuerySet

from .models import Entry
from .services import MASK


def authors(kind: str, thing_ids: Collection[int]) -> dict[int, str]:
    """Who added each of these things; those that were there before us are missing."""
    rows = Entry.objects.filter(kind=kind, thing_id__in=thing_ids, action="add").order_by("-id")
    return {thing: actor for thing, actor in rows.values_list("thing_id", "actor") if thing is not None}


def history(kind: str, thing_id: int) -> QuerySet[Entry]:
    """Newest first. Kind is the model's name: document, crawlpoint, excludeurl."""
    return Entry.objects.filter(kind=kind, thing_id=thing_id)


def history_of_document(document_id: int) -> QuerySet[Entry]:
    """Everything that happened to a document, its crawl points and its exclude URLs, newest first."""
    return Entry.objects.filter(document_id=document_id)


def without_login(values: Mapping[str, Any]) -> dict[str, Any]:
    """For people who only read: the user ID of a crawl point is masked like a password."""
    return {name: MASK if name == "login" and value else value for name, value in values.items()}
