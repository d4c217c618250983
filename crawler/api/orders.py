"""Orders to a part of a run: one document rests or is left out, one kind of error is known or solved."""

from collections.abc import Callable

from django.http import Http404

from clearinghouse.accounts.policies import Action, NotAllowed, require

from ..launching import control
from ..models import ErrorMark, Excursion, Run
from ..propagation import left_out
from ..reports.error_marks import mark_group
from ..runs.views.run_access import may_control_document, run_or_404, visible_docs
from . import shapes
from .contract import ApiAddress, ApiRequest, ApiResponse, Operation, Schema, choice, text, thing
from .paths import OF_RUN
from .results import excursion_or_404
from .shapes import INT, shape_of

NEW = "new"
MARK = thing(("state",), state=choice("What people say of it", *ErrorMark.State.values, NEW))
REASON = thing(("reason",), reason=text("Why it is left out; everybody who sees the run reads it", left_out.REASON))
SCHEMAS: dict[str, Schema] = {"Marked": shape_of(documents=INT)}
_ORDERS: dict[str, Callable[[Run, int, str], object]] = {
    "pause": control.pause_document, "resume": control.resume_document,
}  # fmt: skip


def one_document(asked: ApiRequest, run_id: int, doc_id: int, action: str) -> ApiResponse:
    """One document of the run rests or goes on, the others are not touched."""
    run, _ = run_or_404(asked.request, run_id)
    excursion = excursion_or_404(asked, run_id, doc_id)
    if action not in _ORDERS:
        raise Http404(f"No such command; there are {', '.join(_ORDERS)}")
    if not may_control_document(asked.request, doc_id):
        raise NotAllowed(Action.CONTROL)
    _ORDERS[action](run, doc_id, asked.by)
    excursion.refresh_from_db()
    return ApiResponse(shapes.excursion(excursion))


def leave_out(asked: ApiRequest, run_id: int, doc_id: int) -> ApiResponse:
    """What it found counts nowhere from then on: the next propagation takes the crawl before it."""
    excursion = _to_publish(asked, run_id, doc_id)
    left_out.leave_out([excursion.pk], asked.body["reason"], by=asked.by)
    return _as_it_is(excursion)


def take_in(asked: ApiRequest, run_id: int, doc_id: int) -> ApiResponse:
    """It counts again, as if it had never been left out."""
    excursion = _to_publish(asked, run_id, doc_id)
    left_out.take_in([excursion.pk], by=asked.by)
    return _as_it_is(excursion)


def _to_publish(asked: ApiRequest, run_id: int, doc_id: int) -> Excursion:
    excursion = excursion_or_404(asked, run_id, doc_id)
    require(asked.user, Action.PROPAGATE)
    return excursion


def _as_it_is(excursion: Excursion) -> ApiResponse:
    excursion.refresh_from_db()
    return ApiResponse(shapes.excursion(excursion))


def mark_error(asked: ApiRequest, key: str) -> ApiResponse:
    """In all documents you may change that have it; met again by a later crawl, a solved one is new."""
    state = asked.body["state"]
    count = mark_group(asked.user, visible_docs(asked.request), key, "" if state == NEW else state)
    return ApiResponse({"documents": count})


ADDRESSES = (
    ApiAddress(OF_RUN + "do/<slug:action>/", "api-run-document-control", {
        "POST": Operation(one_document, "Pause or resume one document of a run", "Excursion"),
    }),
    ApiAddress(OF_RUN + "leave-out/", "api-run-leave-out", {
        "POST": Operation(leave_out, "Leave the crawl of one document out of what is published", "Excursion",
                          body=REASON),
    }),
    ApiAddress(OF_RUN + "take-in/", "api-run-take-in", {
        "POST": Operation(take_in, "Take a crawl that was left out in again", "Excursion"),
    }),
    ApiAddress("errors/<slug:key>/mark/", "api-error-mark", {
        "POST": Operation(mark_error, "Call a group of errors (by its name) known, solved or new again", "Marked",
                          body=MARK),
    }),
)  # fmt: skip
