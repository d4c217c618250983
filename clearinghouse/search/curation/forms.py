"""Owns: what somebody enters for a rule of the search, read and checked. Does not: save. Called by: curation."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.library.models import Project
from clearinghouse.search.curation.services import Given
from clearinghouse.search.words import words_of

from ..models.rules import RuleKind

MOST_LINES = 50
_LONGEST = 200

# Of each kind: what the words are, their hint, what the lines are, their hint.
LABELS = {
    RuleKind.SYNONYM: (
        "Words", "What people search for, for example heart attack.",
        "Also search for", "One synonym per line, for example myocardial infarction.",
    ),
    RuleKind.STOPWORD: ("Words", "Single words that say nothing here, with spaces between them.", "", ""),
    RuleKind.BEST_BET: (
        "Query", "What people search for; the order of the words makes no difference.",
        "Addresses", "The pages to recommend, one per line, the most important first. They must be published.",
    ),
}  # fmt: skip


class RuleForm(forms.Form):
    words = forms.CharField(max_length=_LONGEST, required=False, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    others = forms.CharField(required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 4}))
    both_ways = forms.BooleanField(label="Both ways: each of them finds all", required=False)
    where = forms.ChoiceField(label="Where it counts", error_messages={"required": "Choose where it counts"})
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, kind: str, projects: QuerySet[Project], everywhere: bool, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        self.names = dict(projects.values_list("pk", "name"))
        words, hint, others, other_hint = LABELS[RuleKind(kind)]
        self.fields["words"].label, self.fields["words"].help_text = words, hint
        self.fields["others"].label, self.fields["others"].help_text = others, other_hint
        house = [("", "All projects")] if everywhere else []
        where = self.fields["where"]
        assert isinstance(where, forms.ChoiceField)
        where.choices = house + [(str(pk), name) for pk, name in self.names.items()]
        where.required = not everywhere
        if kind == RuleKind.STOPWORD:
            del self.fields["others"]
        if kind != RuleKind.SYNONYM:
            del self.fields["both_ways"]

    def clean_words(self) -> str:
        text = " ".join(self.cleaned_data["words"].split())
        if not words_of(text):
            raise forms.ValidationError("Enter at least one word")
        return text

    def clean_others(self) -> str:
        lines = [" ".join(line.split()) for line in self.cleaned_data["others"].splitlines() if line.strip()]
        if not lines:
            what = "an address to recommend" if self.kind == RuleKind.BEST_BET else "at least one synonym"
            raise forms.ValidationError(f"Enter {what}")
        if len(lines) > MOST_LINES:
            raise forms.ValidationError(f"Enter at most {MOST_LINES} lines. There are {len(lines)}")
        if self.kind == RuleKind.BEST_BET:
            return "\n".join(dict.fromkeys(map(self._address, lines)))
        for line in lines:
            if not words_of(line):
                raise forms.ValidationError(f"“{line[:40]}” has no letters or digits")
        return "\n".join(dict.fromkeys(lines))

    def _address(self, line: str) -> str:
        read = parse(line)
        if isinstance(read, Refusal):
            raise forms.ValidationError(f"“{line[:80]}” is not a web address. Begin with http:// or https://")
        return read.href

    def given(self) -> Given:
        data = self.cleaned_data
        project = int(data["where"]) if data["where"] else None
        return Given(
            kind=self.kind,
            words=data["words"],
            others=data.get("others", ""),
            both_ways=data.get("both_ways", False),
            project_id=project,
            project=self.names[project] if project is not None else "",
        )
