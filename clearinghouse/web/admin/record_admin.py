"""Owns: what every table with metacolumns shares in Django's admin: nominal delete, restore, conflicts, audit.

Does not: know a table; a subclass names its services. Called by: the admin.py of library and crawlpoints.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import ValidationError
from django.db.models import Count, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from clearinghouse.audit import services as audit
from clearinghouse.database.records import Record, StaleRecord

from .admin_site import HouseAdmin

METACOLUMNS = ("deleted", "dirty", "created_at", "updated_at", "updated_by", "version")
SEEN = "seen_version"


class RecordForm(forms.ModelForm):
    """Carries the version the person saw, so that a save from an older copy is noticed."""

    seen_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial[SEEN] = self.instance.version if self.instance.pk else None


class DeletedFilter(admin.SimpleListFilter):
    title = "deleted"
    parameter_name = "deleted"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("only", "Only deleted"), ("all", "All")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "only":
            return queryset.filter(deleted=1)
        return queryset if self.value() == "all" else queryset.exclude(deleted=1)

    def get_facet_counts(self, pk_attname: str, filtered_qs: QuerySet[Any]) -> dict[str, Any]:
        """By the column: Django would count what is in a subquery, which SQL Server refuses in an aggregate."""
        return {"0__c": Count(pk_attname, filter=Q(deleted=1)), "1__c": Count(pk_attname)}

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:
        first, *others = super().choices(changelist)
        yield first | {"display": "Not deleted"}
        yield from others


class RecordAdmin(HouseAdmin):
    form = RecordForm
    list_filter: tuple[Any, ...] = (DeletedFilter,)
    readonly_fields: tuple[str, ...] = METACOLUMNS
    actions = ("restore_selected",)

    # ---- what a subclass may route to its services ----

    def add_record(self, form: Any) -> Record:
        form.instance.save()
        audit.record("add", form.instance, f"Added {_name(form.instance)}", after=facts(form.instance))
        return form.instance

    def change_record(self, record: Any, form: Any) -> None:
        before = facts(self.model.everything.get(pk=record.pk))
        record.version = form.cleaned_data[SEEN]
        record.save()
        audit.record("change", record, f"Changed {_name(record)}", before=before, after=facts(record))

    def delete_record(self, record: Any) -> None:
        record.delete()
        audit.record("delete", record, f"Deleted {_name(record)}")

    def restore_record(self, record: Any) -> None:
        """May raise ValueError with a sentence when it cannot come back."""
        record.restore()
        audit.record("restore", record, f"Restored {_name(record)}")

    # ---- Django's hooks ----

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.model.everything.order_by(*(self.get_ordering(request) or ("-pk",)))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A deleted row is looked at, or restored first."""
        return super().has_change_permission(request, obj) and not getattr(obj, "deleted", 0)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and not getattr(obj, "deleted", 0)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change:
            self.change_record(obj, form)
        else:
            obj.__dict__.update(self.add_record(form).__dict__)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.delete_record(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for record in queryset.exclude(deleted=1):
            self.delete_record(record)

    def get_deleted_objects(self, objs: Iterable[Any], request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        """A nominal delete takes nothing else with it."""
        live = [str(record) for record in objs if not record.deleted]
        return live, {self.opts.verbose_name_plural: len(live)}, set(), []

    @admin.action(description="Restore selected %(verbose_name_plural)s", permissions=["view"])
    def restore_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        restored = 0
        for record in queryset.filter(deleted=1):
            try:
                self.restore_record(record)
                restored += 1
            except ValueError as problem:
                messages.error(request, str(problem))
        messages.success(request, f"Restored {restored}.")

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except StaleRecord:
            return self._conflict(request, unquote(object_id or ""))

    def _conflict(self, request: HttpRequest, key: str) -> HttpResponse:
        """Both versions beside each other; sending mine again, now knowing the stored one, decides."""
        stored = self.model.everything.get(pk=key)
        form_class = self.get_form(request, stored, change=True)
        theirs = form_class(instance=stored)
        mine = form_class(request.POST, instance=self.model.everything.get(pk=key))
        mine.is_valid()
        context = self.admin_site.each_context(request) | {
            "title": f"{stored.updated_by or 'Somebody'} changed this meanwhile",
            "opts": self.opts,
            "stored": stored,
            "rows": list(_differing(theirs, mine)),
            "again": list(_sent_again(request, mine, stored)),
            "secrets": [field.label for field in mine.fields.values() if _is_secret(field)],
        }
        return TemplateResponse(request, "web/admin_conflict.html", context, status=409)


def facts(record: Model) -> dict[str, Any]:
    """What the audit keeps of any row: its own columns by name, references by key."""
    return {
        field.name: field.value_from_object(record) for field in record._meta.fields if field.name not in METACOLUMNS
    }


def _name(record: Model) -> str:
    return f"{record._meta.verbose_name} {record}"


def _is_secret(field: forms.Field) -> bool:
    return isinstance(field.widget, forms.PasswordInput)


def _differing(theirs: Any, mine: Any) -> Iterator[tuple[str, str, str]]:
    for name, field in mine.fields.items():
        if name == SEEN or _is_secret(field):
            continue
        stored = _words(field, theirs.get_initial_for_field(field, name))
        given = _words(field, mine.cleaned_data.get(name))
        if stored != given:
            yield str(field.label or name), stored, given


def _words(field: forms.Field, value: Any) -> str:
    if not isinstance(value, Model):
        try:
            value = field.to_python(value)
        except ValidationError:
            return str(value)
    return "–" if value in (None, "", False) else str(value)


def _sent_again(request: HttpRequest, mine: Any, stored: Any) -> Iterator[tuple[str, str]]:
    secret = {name for name, field in mine.fields.items() if _is_secret(field)}
    for name, values in request.POST.lists():
        if name not in secret | {SEEN, "csrfmiddlewaretoken"}:
            yield from ((name, value) for value in values)
    yield SEEN, str(stored.version or "")
