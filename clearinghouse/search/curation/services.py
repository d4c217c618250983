"""Owns: changes of the rules, each with its audit entry. The only writer of search_rule.

Does not: ask who may, or read forms. Called by: the screen Search curation.
"""

from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from clearinghouse.audit import services as audit
from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.database.records import StaleRecord, actor
from clearinghouse.search.models import SearchRule

from . import rules_cache


@dataclass(frozen=True, slots=True)
class Given:
    """A rule as somebody wants it."""

    kind: str
    words: str
    others: str = ""  # one per line
    both_ways: bool = False
    project_id: int | None = None
    project: str = ""


def add(given: Given) -> SearchRule:
    rule = SearchRule(**asdict(given), changed_by=actor(), changed_at=timezone.now())
    with transaction.atomic(using=WEBCRAWL), transaction.atomic():
        rule.save(using=WEBCRAWL, force_insert=True)
        audit.record("add", rule, f"Added to {_kind(rule)}: {rule.words}", after=asdict(given))
    rules_cache.forget()
    return rule


def update(rule: SearchRule, given: Given, version: int) -> None:
    """`version` is the one the person saw; StaleRecord when somebody was faster."""
    before = kept(rule)
    _change(rule, version, asdict(given))
    audit.record("change", rule, f"Changed in {_kind(rule)}: {given.words}", before=before, after=asdict(given))


def delete(rule: SearchRule) -> None:
    _change(rule, None, {"deleted": True})
    audit.record("delete", rule, f"Deleted from {_kind(rule)}: {rule.words}", before=kept(rule))


def restore(rule: SearchRule) -> None:
    _change(rule, None, {"deleted": False})
    audit.record("restore", rule, f"Restored in {_kind(rule)}: {rule.words}")


def _change(rule: SearchRule, version: int | None, values: dict[str, Any]) -> None:
    with transaction.atomic(using=WEBCRAWL):
        rows = SearchRule.objects.using(WEBCRAWL).select_for_update().filter(pk=rule.pk)
        stored = rows.values_list("version", flat=True).get()
        if version is not None and version != stored:
            raise StaleRecord(f"search rule {rule.pk} was changed by somebody else")
        rows.update(**values, version=stored + 1, changed_by=actor(), changed_at=timezone.now())
    rule.refresh_from_db(using=WEBCRAWL)
    rules_cache.forget()


def follow_project(project_id: int, name: str) -> int:
    """A project was renamed: its rules name it as its documents will from the next propagation on; how many."""
    rules = SearchRule.objects.using(WEBCRAWL).filter(project_id=project_id)
    count = rules.update(project=name[:100])
    rules_cache.forget()
    return count


def kept(rule: SearchRule) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in ("kind", "words", "others", "both_ways", "project_id", "project")}


def _kind(rule: SearchRule) -> str:
    return str(rule.get_kind_display()).lower()
