"""Owns: the saved views of a person: kept, listed, forgotten. Does not: know what the filters mean.

Called by: the Document Navigator, the reports, the page of all one's views.
"""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict

from clearinghouse.web.listing import query_without

from .models import SavedView
from .point_checks import Invalid

MOST = 50
NAME_LENGTH, QUERY_LENGTH = 60, 1000
DOCUMENTS = "documents"
NOT_KEPT = ("page", "selected", "saved", "csrfmiddlewaretoken")


def views_of(user: Any, screen: str = DOCUMENTS) -> QuerySet[SavedView]:
    return SavedView.objects.filter(person=user.pk, screen=screen)


def keep(user: Any, name: str, query: str, screen: str = DOCUMENTS) -> SavedView:
    """Under a name that is new or one's own already, which is then replaced; Invalid for no name or too many."""
    name = _name(name)
    text = query_without(QueryDict(query), *NOT_KEPT)
    if len(text) > QUERY_LENGTH:
        raise Invalid({"name": ["This filter is too long to be saved"]})
    mine = views_of(user, screen)
    if mine.count() >= MOST and not mine.filter(name=name).exists():
        raise Invalid({"name": [f"At most {MOST} views can be saved; delete one first"]})
    return SavedView.objects.update_or_create(person=user, screen=screen, name=name, defaults={"query": text})[0]


def rename(user: Any, pk: int | None, name: str) -> SavedView | None:
    """Invalid for no name, or for one that another view of the same list has; None where there is no such view."""
    view = SavedView.objects.filter(person=user.pk, pk=pk).first()
    if view is None:
        return None
    view.name = _name(name)
    if views_of(user, view.screen).filter(name=view.name).exclude(pk=pk).exists():
        raise Invalid({"name": [f"You have a view {view.name} already"]})
    view.save(update_fields=["name"])
    return view


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise Invalid({"name": ["Enter a name for this view"]})
    if len(name) > NAME_LENGTH:
        raise Invalid({"name": [f"The name must be {NAME_LENGTH} characters or fewer. It is {len(name)}"]})
    return name


def forget(user: Any, pk: int | None) -> SavedView | None:
    view = SavedView.objects.filter(person=user.pk, pk=pk).first()
    if view:
        view.delete()
    return view
