"""Owns: the library's tables in Django's admin. Does not: save; it calls the same services as the screens."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError

from ..web.admin.record_admin import METACOLUMNS, SEEN, RecordAdmin, RecordForm
from . import services
from .document_csv import web_address_problem
from .models import Document, DocumentStatus, Field, FieldType, Project


class DocumentAdminForm(RecordForm):
    """The seed's row and its cover sheet as one."""

    title = forms.CharField(max_length=255)
    project = forms.ModelChoiceField(Project.objects.all(), required=False)
    public = forms.BooleanField(required=False, initial=True)
    web_address = forms.CharField(max_length=2048, required=False)

    class Meta:
        model = Document
        fields = ("status",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sheet = getattr(self.instance, "sheet", None) if self.instance.pk else None
        if sheet:
            self.initial |= {"title": sheet.title, "project": sheet.project_id, "public": bool(sheet.public)}
            self.initial["web_address"] = sheet.web_address

    def clean_web_address(self) -> str:
        address = self.cleaned_data["web_address"]
        if problem := web_address_problem(address):
            raise ValidationError(problem)
        return address


@admin.register(Document)
class DocumentAdmin(RecordAdmin):
    form = DocumentAdminForm
    fields = ("title", "project", "status", "public", "web_address", SEEN, *METACOLUMNS)
    list_display = ("title", "id", "project", "status", "updated_by", "updated_at")
    list_filter = (*RecordAdmin.list_filter, "status", "sheet__project")
    list_select_related = ("sheet__project", "status")
    search_fields = ("sheet__title", "=pk")

    @admin.display(ordering="sheet__title")
    def title(self, document: Document) -> str:
        return document.title

    @admin.display(ordering="sheet__project__name")
    def project(self, document: Document) -> str:
        return services.facts(document)["project"]

    def add_record(self, form: Any) -> Document:
        given = form.cleaned_data
        return services.add_document(
            given["title"],
            project=given["project"].name if given["project"] else "",
            public=given["public"],
            status=given["status"].name if given["status"] else "",
            web_address=given["web_address"],
        )

    def change_record(self, record: Any, form: Any) -> None:
        fresh = Document.everything.get(pk=record.pk)
        fresh.version = form.cleaned_data[SEEN]
        services.update_document(fresh, form.cleaned_data)

    def delete_record(self, record: Any) -> None:
        services.delete_document(record)

    def restore_record(self, record: Any) -> None:
        services.restore_document(record)


@admin.register(DocumentStatus, FieldType, Project)
class NamedAdmin(RecordAdmin):
    list_display = ("name", "id", "updated_by", "updated_at")
    search_fields = ("name",)


@admin.register(Field)
class FieldAdmin(RecordAdmin):
    list_display = ("id", "document", "type", "updated_by", "updated_at")
    list_filter = (*RecordAdmin.list_filter, "type")
    list_select_related = ("document__sheet", "type")
    raw_id_fields = ("document",)
    search_fields = ("document__sheet__title",)
