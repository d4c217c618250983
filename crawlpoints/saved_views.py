"""Owns: the saved views of a person: kept, listed, forgotten. Does not: know what the filters mean.

Called by: the Document Navigator, the reports.
"""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict

from .checks import Invalid
from .models import SavedView

MOST = 50
NAME_LENGTH, QUERY_LENGTH = 60, 1000
DOCUMENTS = "documents"
NOT_KEPT = ("page", "selected", "saved", "csrfmiddlewaretoken")


def views_of(user: Any, screen: str = DOCUMENTS) -> QuerySet[SavedView]:
    return SavedView.objects.filter(person=user.pk, screen=screen)


def keep(user: Any, name: str, query: str, screen: str = DOCUMENTS) -> SavedView:
    """Under a name that is new or one's own already, which is then replaced; Invalid for no name or too many."""
    name = " ".join(name.split())
    if not name:
        raise Invalid({"name": ["Enter a name for this view"]})
    if len(name) > NAME_LENGTH:
        raise Invalid({"name": [f"The name must be {NAME_LENGTH} characters or fewer. It is {len(name)}"]})
    parts = QueryDict(query, mutable=True)
    for one in NOT_KEPT:
        parts.pop(one, None)
    text = parts.urlencode()
    if len(text) > QUERY_LENGTH:
        raise Invalid({"name": ["This filter is too long to be saved"]})
    mine = views_of(user, screen)
    if mine.count() >= MOST and not mine.filter(name=name).exists():
        raise Invalid({"name": [f"At most {MOST} views can be saved; delete one first"]})
    return SavedView.objects.update_or_create(person=user, screen=screen, name=name, defaults={"query": text})[0]


def forget(user: Any, pk: int) -> SavedView | None:
    view = SavedView.objects.filter(person=user.pk, pk=pk).first()
    if view:
        view.delete()
    return view
