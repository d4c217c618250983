"""The documents of a saved view of the Document Navigator, for a launch over them: the same filters, the same words."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, Q, QuerySet
from django.http import QueryDict
from django.utils import timezone

from clearinghouse.access.models import Role
from clearinghouse.access.policies import role_of
from clearinghouse.library.models import Assignment, Document
from crawlpoints.queries import counts_by_document, documents_with_text

from ..models import OPEN_STATES, Excursion

OLD = timedelta(days=90)


def documents_in(query: str, user: Any, documents: QuerySet[Document]) -> list[int]:
    """Of these documents, those the filter leaves for this person; nonsense in it is ignored."""
    asked = QueryDict(query)
    view = asked.get("view") or ("mine" if role_of(user) is Role.DEVELOPER else "all")
    who = asked.get("who")
    if view == "mine" and who is None:
        who = "me"
    rows = _by_columns(asked, who or "", user, documents)
    left = set(rows.order_by().values_list("pk", flat=True))
    if text := asked.get("q", "").strip()[:200]:
        titled = rows.filter(sheet__title__icontains=text).order_by().values_list("pk", flat=True)
        left &= documents_with_text(text) | set(titled)
    if view == "empty" or asked.get("nopoints"):
        left -= counts_by_document().keys()
    return sorted(_by_last_crawl(asked, view, left))


def _by_columns(asked: QueryDict, who: str, user: Any, documents: QuerySet[Document]) -> QuerySet[Document]:
    rows = documents
    if project := asked.get("project", ""):
        rows = rows.filter(sheet__project__name=project)
    if status := asked.get("status", ""):
        rows = rows.filter(status__name=status)
    if who == "nobody":
        return rows.exclude(pk__in=Assignment.objects.values("document_id"))
    if who:
        person = Q(person=user) if who == "me" else Q(person__username=who)
        rows = rows.filter(pk__in=Assignment.objects.filter(person).values("document_id"))
    return rows


def _by_last_crawl(asked: QueryDict, view: str, left: set[int]) -> set[int]:
    ended = Excursion.objects.filter(part="").exclude(state__in=OPEN_STATES)
    last = ended.filter(pk__in=ended.values("doc_id").annotate(last=Max("id")).order_by().values("last"))
    age = asked.get("age", "").strip()
    if view == "never":
        left = left - set(ended.values_list("doc_id", flat=True))
    if view == "failed":
        left = left & _ids(last.filter(state="failed"))
    if view == "old":
        left = left & _ids(last.filter(finished_at__lt=_before(OLD)))
    if age.isascii() and age.isdigit() and len(age) < 6:
        left = left & _ids(last.filter(finished_at__lt=_before(timedelta(days=int(age)))))
    return left & _ids(last.filter(Q(failed__gt=0))) if asked.get("errors") else left


def _ids(rows: QuerySet[Excursion]) -> set[int]:
    return set(rows.values_list("doc_id", flat=True))


def _before(time: timedelta) -> datetime:
    return timezone.now() - time
