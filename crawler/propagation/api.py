"""Owns: the JSON API of propagations: looking at them, and leaving the crawl of one document out of what is published.

Does not: propagate, change rows itself. Called by: crawler.api.
"""

from collections.abc import Sequence

from clearinghouse.accounts.policies import Action, require

from ..api.contract import OF_RUN_DOCUMENT, ApiRequest, Json, page_at_once, router, row_or_404
from ..api.request_fields import fields, text
from ..api.response_fields import INT, MOMENT, TEXT, JsonObject, list_of
from ..models import Excursion, Propagation, PropagationStep
from ..runs.api import EXCURSION, excursion_json, excursion_or_404
from . import left_out

REASON = fields(("reason",), reason=text("Why it is left out; everybody who sees the run reads it", left_out.REASON))
_STEP = JsonObject(
    "Step", number=INT, name=TEXT, target=TEXT, state=TEXT, error=TEXT, started_at=MOMENT, finished_at=MOMENT
)
PROPAGATION = JsonObject(
    "Propagation", generation=INT, state=TEXT, requested_by=TEXT, error=TEXT, targets=list_of(TEXT), created_at=MOMENT,
    started_at=MOMENT, finished_at=MOMENT, steps=list_of(_STEP.schema),
)  # fmt: skip


@router.get("propagations/", "api-propagations", "Propagations, newest first", PROPAGATION, many=True)
def propagations(asked: ApiRequest) -> Json:
    require(asked.user, Action.VIEW_PROPAGATION)
    return page_at_once(Propagation.objects.order_by("-id"), asked, _with_steps)


@router.get("propagations/<int:generation>/", "api-propagation", "One propagation with its steps", PROPAGATION)
def propagation(asked: ApiRequest, generation: int) -> Json:
    require(asked.user, Action.VIEW_PROPAGATION)
    return _with_steps([row_or_404(Propagation.objects, generation, "No such propagation")])[0]


def _with_steps(rows: Sequence[Propagation]) -> list[Json]:
    steps: dict[int, list[Json]] = {row.pk: [] for row in rows}
    for step in PropagationStep.objects.filter(propagation__in=rows).defer("counts"):
        steps[step.propagation_id].append(_STEP.of(step))
    return [PROPAGATION.of(row, generation=row.pk, steps=steps[row.pk]) for row in rows]


@router.post(
    OF_RUN_DOCUMENT + "leave-out/", "api-run-leave-out", "Leave the crawl of one document out of what is published",
    EXCURSION, body=REASON,
)  # fmt: skip
def leave_out(asked: ApiRequest, run_id: int, doc_id: int) -> Json:
    """What it found counts nowhere from then on: the next propagation takes the crawl before it."""
    excursion = _to_publish(asked, run_id, doc_id)
    left_out.leave_out([excursion.pk], asked.body["reason"], by=asked.by)
    return _as_it_is(excursion)


@router.post(OF_RUN_DOCUMENT + "take-in/", "api-run-take-in", "Take a crawl that was left out in again", EXCURSION)
def take_in(asked: ApiRequest, run_id: int, doc_id: int) -> Json:
    """It counts again, as if it had never been left out."""
    excursion = _to_publish(asked, run_id, doc_id)
    left_out.take_in([excursion.pk], by=asked.by)
    return _as_it_is(excursion)


def _to_publish(asked: ApiRequest, run_id: int, doc_id: int) -> Excursion:
    excursion = excursion_or_404(asked, run_id, doc_id)
    require(asked.user, Action.PROPAGATE)
    return excursion


def _as_it_is(excursion: Excursion) -> Json:
    excursion.refresh_from_db()
    return excursion_json(excursion)
