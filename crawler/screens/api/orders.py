"""Orders to a part of a run: one document rests, one kind of error is known or solved."""

from collections.abc import Callable

from django.http import Http404

from clearinghouse.access.policies import Action, Refused

from ... import control
from ...models import ErrorMark, Run
from ..reports.marking import mark_group
from ..scope import may_control_document, run_or_404, visible_docs
from . import shapes
from .contract import Address, Answer, Asked, Operation, Schema, choice, thing
from .paths import OF_RUN
from .results import excursion_or_404
from .shapes import INT, shape_of

NEW = "new"
MARK = thing(("state",), state=choice("What people say of it", *ErrorMark.State.values, NEW))
SCHEMAS: dict[str, Schema] = {"Marked": shape_of(documents=INT)}
_ORDERS: dict[str, Callable[[Run, int, str], object]] = {
    "pause": control.pause_document, "resume": control.resume_document,
}  # fmt: skip


def one_document(asked: Asked, run_id: int, doc_id: int, action: str) -> Answer:
    """One document of the run rests or goes on, the others are not touched."""
    run, _ = run_or_404(asked.request, run_id)
    excursion = excursion_or_404(asked, run_id, doc_id)
    if action not in _ORDERS:
        raise Http404(f"No such command; there are {', '.join(_ORDERS)}")
    if not may_control_document(asked.request, doc_id):
        raise Refused(Action.CONTROL)
    _ORDERS[action](run, doc_id, asked.by)
    excursion.refresh_from_db()
    return Answer(shapes.excursion(excursion))


def mark_error(asked: Asked, key: str) -> Answer:
    """In all documents you may change that have it; met again by a later crawl, a solved one is new."""
    state = asked.body["state"]
    count = mark_group(asked.user, visible_docs(asked.request), key, "" if state == NEW else state)
    return Answer({"documents": count})


ADDRESSES = (
    Address(OF_RUN + "do/<slug:action>/", "api-run-document-control", {
        "POST": Operation(one_document, "Pause or resume one document of a run", "Excursion"),
    }),
    Address("errors/<slug:key>/mark/", "api-error-mark", {
        "POST": Operation(mark_error, "Call a group of errors (by its name) known, solved or new again", "Marked",
                          body=MARK),
    }),
)  # fmt: skip
