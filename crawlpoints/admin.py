"""Owns: crawl points, their links and exclude URLs in Django's admin, with the checks and services of the panel.

Does not: save or check by itself. Called by: Django's admin.
"""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from clearinghouse.library.models import Document
from clearinghouse.library.services import crawl_point_field
from clearinghouse.web.admin.record_admin import METACOLUMNS, SEEN, RecordAdmin, RecordForm

from . import point_checks, services
from .models import OPTIONS, CrawlPoint, CrawlPointLink, ExcludeUrl
from .queries import document_of, neighbours_of, patterns_of

_OPTIONS = list(OPTIONS)
_LOGIN = _OPTIONS.index("login") + 1  # the password follows


def _take_over(form: forms.ModelForm, problem: point_checks.Invalid) -> None:
    """The messages of the panel at the fields of this form."""
    for name, sentences in problem.errors.items():
        name = "new_password" if name == "password" else name
        for sentence in sentences:
            form.add_error(name if name in form.fields else None, sentence)


class CrawlPointForm(RecordForm):
    document = forms.ModelChoiceField(Document.objects.all(), required=False)
    new_password = forms.CharField(
        required=False,
        strip=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text="Stored encrypted. It is never shown again. Empty keeps the saved one.",
    )
    forget_password = forms.BooleanField(required=False)

    class Meta:
        model = CrawlPoint
        fields = services.COLUMNS
        widgets = {"url": forms.TextInput(attrs={"size": 80}), "root": forms.TextInput(attrs={"size": 80})}
        labels = {name: option.label for name, option in OPTIONS.items()}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in point_checks.SWITCHES:
            if name in self.fields:
                self.fields[name] = forms.BooleanField(required=False, label=self.fields[name].label)
            self.initial[name] = bool(getattr(self.instance, name))  # a box takes the number 0 for ticked
        for name in self.fields.keys() & {"url", "root", "max_pages", "depth", "auth_type"}:
            self.fields[name].required = False  # the panel's checks say it in the panel's words
        self.owner = document_of(self.instance) if self.instance.pk else None
        self.initial["document"] = self.owner.pk if self.owner else None
        self.fields["document"].disabled = bool(self.instance.pk)  # moving is the link's business

    @sensitive_variables()
    def clean(self) -> dict[str, Any]:
        clean = super().clean()
        owner = self.owner or clean.get("document")
        if owner is None:
            sentence = (
                "Link it to a document first, under crawl point links" if self.instance.pk else "Choose a document"
            )
            self.add_error(None if self.instance.pk else "document", sentence)
            return clean
        self.owner = owner
        around = point_checks.Around(
            neighbours_of(owner, but=self.instance.pk),
            patterns_of(owner),
            has_password=bool(self.instance.password) or bool(clean.get("forget_password")),
        )
        try:
            point_checks.check_point(self.entries(), around)
        except point_checks.Invalid as problem:
            _take_over(self, problem)
        return clean

    @sensitive_variables()
    def entries(self) -> dict[str, Any]:
        """What was entered, as the services take it."""
        given = {name: self.cleaned_data[name] for name in services.COLUMNS if name in self.cleaned_data}
        given["password"] = self.cleaned_data.get("new_password") or ""
        given["forget_password"] = self.cleaned_data.get("forget_password", False)
        return given


@admin.register(CrawlPoint)
class CrawlPointAdmin(RecordAdmin):
    form = CrawlPointForm
    fields = (
        "document", *_OPTIONS[:_LOGIN], "new_password", "forget_password", "saved_password", *_OPTIONS[_LOGIN:], SEEN,
        *METACOLUMNS,
    )  # fmt: skip
    readonly_fields = ("saved_password", *METACOLUMNS)
    list_display = ("url", "root", "depth", "max_pages", "auth_type", "active", "updated_by", "updated_at")
    list_filter = (*RecordAdmin.list_filter, "active", "auth_type")
    search_fields = ("url", "root")

    @admin.display(description="Saved password")
    def saved_password(self, point: CrawlPoint) -> str:
        return "A password is saved" if point.password else "None"

    def add_record(self, form: Any) -> CrawlPoint:
        return services.add_crawl_point(form.owner, form.entries())[0]

    def change_record(self, record: Any, form: Any) -> None:
        fresh = CrawlPoint.everything.get(pk=record.pk)
        services.update_crawl_point(fresh, form.entries(), form.cleaned_data[SEEN])

    def delete_record(self, record: Any) -> None:
        services.delete_crawl_point(record)

    def restore_record(self, record: Any) -> None:
        _restore(record)

    @method_decorator(sensitive_post_parameters("new_password"))
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return _or_say_why(request, super().changeform_view, *args, **kwargs)


class LinkForm(RecordForm):
    class Meta:
        model = CrawlPointLink
        fields = ("document", "field", "crawl_point")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "field" in self.fields:
            self.fields["field"].required = False  # the document's own field of type "crawl points"

    def clean(self) -> dict[str, Any]:
        clean = super().clean()
        document, field, point = (clean.get(name) for name in ("document", "field", "crawl_point"))
        if document is None or point is None:
            raise forms.ValidationError("A link needs a document and a crawl point")
        if field is None:
            clean["field"] = crawl_point_field(document)
        elif field.document_id != document.pk:
            self.add_error("field", "This field belongs to another document")
        if CrawlPointLink.objects.filter(crawl_point=point).exclude(pk=self.instance.pk).exists():
            self.add_error("crawl_point", "This crawl point belongs to a document already")
        key = services.point_key(document.pk, point.url, point.root)
        if CrawlPoint.objects.filter(key=key).exclude(pk=point.pk).exists():
            self.add_error("crawl_point", services.DUPLICATE)
        return clean


@admin.register(CrawlPointLink)
class CrawlPointLinkAdmin(RecordAdmin):
    form = LinkForm
    list_display = ("id", "document", "crawl_point", "field", "updated_by", "updated_at")
    list_select_related = ("document__sheet", "crawl_point", "field__type", "field__document__sheet")
    raw_id_fields = ("document", "field", "crawl_point")
    search_fields = ("crawl_point__url", "document__sheet__title")

    def add_record(self, form: Any) -> CrawlPointLink:
        link = super().add_record(form)
        self._rekey(link)
        return link

    def change_record(self, record: Any, form: Any) -> None:
        super().change_record(record, form)
        self._rekey(record)

    def _rekey(self, link: CrawlPointLink) -> None:
        """A crawl point is one of a kind within its document, so its key follows it to another."""
        point = link.crawl_point
        point.key = services.point_key(link.document_id, point.url, point.root)
        point.save(update_fields=["key"])

    def delete_record(self, record: Any) -> None:
        """A crawl point without its document could be neither seen nor crawled: both go, both come back."""
        point = record.crawl_point
        if point is None or point.deleted:
            super().delete_record(record)
        else:
            services.delete_crawl_point(point)

    def restore_record(self, record: Any) -> None:
        point = record.crawl_point
        if point is None or not point.deleted:
            super().restore_record(record)
        else:
            _restore(point)


class ExcludeUrlForm(RecordForm):
    class Meta:
        model = ExcludeUrl
        fields = ("document", "pattern")

    def clean(self) -> dict[str, Any]:
        clean = super().clean()
        document = clean.get("document")
        if document is not None:
            try:
                point_checks.check_exclude(clean.get("pattern") or "", neighbours_of(document), patterns_of(document))
            except point_checks.Invalid as problem:
                _take_over(self, problem)
        return clean


@admin.register(ExcludeUrl)
class ExcludeUrlAdmin(RecordAdmin):
    """As in the panel, an exclude URL is added or deleted, never rewritten."""

    form = ExcludeUrlForm
    list_display = ("pattern", "document", "updated_by", "updated_at")
    list_select_related = ("document__sheet",)
    raw_id_fields = ("document",)
    search_fields = ("pattern", "document__sheet__title")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_change_permission(request)

    def add_record(self, form: Any) -> ExcludeUrl:
        return services.add_exclude_url(form.cleaned_data["document"], form.cleaned_data["pattern"])

    def delete_record(self, record: Any) -> None:
        services.delete_exclude_url(record)

    def restore_record(self, record: Any) -> None:
        try:
            services.restore_exclude_url(record)
        except point_checks.Invalid as problem:
            raise ValueError(str(problem)) from None

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return _or_say_why(request, super().changeform_view, *args, **kwargs)


def _restore(point: CrawlPoint) -> None:
    try:
        services.restore_crawl_point(point)
    except point_checks.Invalid as problem:
        raise ValueError(str(problem)) from None


def _or_say_why(request: HttpRequest, view: Any, *args: Any, **kwargs: Any) -> HttpResponse:
    """Two people adding the same at once: the checks passed, the unique key had the last word."""
    try:
        return view(request, *args, **kwargs)
    except point_checks.Invalid as problem:
        messages.error(request, str(problem))
        return HttpResponseRedirect(request.get_full_path())
