"""Owns: the audit in Django's admin, to look at and nothing else."""

from django.contrib import admin

from ..web.admin.admin_site import ReadOnlyAdmin
from .models import Entry


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor", "sentence", "kind", "thing_id", "document_id")
    list_filter = ("action", "kind")
    search_fields = ("actor", "sentence")
    date_hierarchy = "at"
