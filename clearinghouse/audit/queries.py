"""Owns: reading the audit. Does not: write. Called by: history screens and reports."""

from django.db.models import QuerySet

from .models import Entry


def history(kind: str, thing_id: int) -> QuerySet[Entry]:
    """Newest first. Kind is the model's name: document, crawlpoint, excludeurl."""
    return Entry.objects.filter(kind=kind, thing_id=thing_id)


def history_of_document(document_id: int) -> QuerySet[Entry]:
    """Everything that happened to a document, its crawl points and its exclude URLs, newest first."""
    return Entry.objects.filter(document_id=document_id)
