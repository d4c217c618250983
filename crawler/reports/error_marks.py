"""Known, solved or new again: one kind of error in the documents of a person that have it. For the page and the API."""

from typing import Any

from django.http import Http404

from clearinghouse.accounts.policies import Action, doc_ids_for, require

from ..findings.decisions import mark_errors
from ..models import ErrorGroup, ErrorMark
from ..runs.report_queries import seen
from ..runs.run_counts import Docs
from .kinds.errors_report import digest_in


def mark_group(user: Any, docs: Docs, key: str, state: str) -> int:
    """How many documents were marked; Http404 when none of those the person sees has this error."""
    digest = digest_in(key)
    visible: set[int] = set()
    if digest is not None:
        visible = set(seen(ErrorGroup.objects.filter(key=digest), docs).values_list("doc_id", flat=True))
    if digest is None or not visible:
        raise Http404("No such group of errors")
    require(user, Action.EDIT)
    if state and state not in ErrorMark.State.values:
        raise Http404("No such state")
    editable = doc_ids_for(user, Action.EDIT)
    mine = visible if editable is None else visible & editable
    return mark_errors({digest}, mine, state, user.get_username())
