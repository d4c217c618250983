"""Owns: the forms of a document. Does not: save. Called by: views."""

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet

from clearinghouse.library.models import Document, DocumentStatus, Project

from ..accounts.forms import RowsField
from ..accounts.models import Role
from ..accounts.policies import Action, may
from .document_csv import web_address_problem


class DocumentForm(forms.Form):
    title = forms.CharField(label="Title", max_length=255, error_messages={"required": "Enter the title"})
    project = forms.ModelChoiceField(
        label="Project", queryset=Project.objects.none(), required=False, empty_label="None"
    )
    new_project = forms.CharField(
        label="Or a new project", max_length=100, required=False, help_text="Leave empty to use the one chosen above."
    )
    status = forms.ModelChoiceField(
        label="Status", queryset=DocumentStatus.objects.none(), required=False, empty_label="None"
    )
    public = forms.BooleanField(label="Public", required=False)
    web_address = forms.CharField(
        label="Web address",
        max_length=2048,
        required=False,
        help_text="The web address of the document itself; suggested as the URL of a new crawl point.",
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false"}),
    )
    people = RowsField(
        label="Assigned to",
        queryset=get_user_model().objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Content developers who edit this document.",
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, user: Any, document: Document | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = Project.objects.all()
        self.fields["status"].queryset = DocumentStatus.objects.order_by("name")
        self.fields["people"].queryset = assignable(user, document)
        self.fields["people"].label_from_instance = lambda person: person.get_full_name() or person.get_username()
        if not may(user, Action.ADMINISTER):
            for name in set(self.fields) - {"people", "version"}:
                del self.fields[name]

    def clean_web_address(self) -> str:
        address = self.cleaned_data["web_address"].strip()
        if problem := web_address_problem(address):
            raise forms.ValidationError(problem)
        return address


def assignable(user: Any, document: Document | None = None) -> QuerySet[Any]:
    """Content developers: a manager's own people, everybody's for administrators; always who is assigned now."""
    developers = Q(is_active=True, person__role=Role.DEVELOPER)
    if not may(user, Action.ADMINISTER):
        developers &= Q(person__projects__people=user.pk)
    assigned = Q(assignments__document=document.pk) if document else Q(pk__in=[])
    return get_user_model().objects.filter(developers | assigned).distinct().order_by("username")


class ImportForm(forms.Form):
    file = forms.FileField(label="CSV file", required=False)
    text = forms.CharField(
        label="Or paste its lines",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        file = data.get("file")
        if file:
            data["text"] = _decoded(file.read())
        if not (data.get("text") or "").strip():
            self.add_error("file", "Choose a file or paste the lines")
        elif "\x00" in data["text"]:
            self.add_error("file", "This is not a text file")
        return data


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")  # what Excel writes where it does not write UTF-8
