"""Owns: the JSON API of findings: what is wrong with a crawl, what people decided, carrying out a repair.

Does not: change rows itself. Called by: crawler.api.
"""

from django.http import Http404

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.library.models import Document

from ..api.contract import DOCUMENT_QUERY, OF_RUN, ApiRequest, Json, page_of, router
from ..api.request_fields import choice, fields, number, text
from ..api.response_fields import FLAG, INT, MOMENT, TEXT, JsonObject, list_of, shape_of
from ..models import Finding
from ..runs.views.run_access import run_or_404, visible_docs
from . import decisions
from .queries import findings_of
from .types import Fix

_WEIGHTS = {3: "stops", 2: "warns", 1: "informs"}
STATE = choice("What people decided", *Finding.State.values)
DECISION = fields(("state",), state=STATE, note=text("Why", 500))
REPAIR = fields(("fix",), fix=number("The number of the offered repair", most=100))
FINDING = JsonObject(
    "Finding", id=INT, run_id=INT, document_id=INT, title=TEXT, rule=TEXT, weight=TEXT, sentence=TEXT, state=TEXT,
    note=TEXT, decided_by=TEXT, decided_at=MOMENT,
    fixes=list_of(shape_of(number=INT, label=TEXT, can_be_done=FLAG)),
)  # fmt: skip
OF_FINDING = "findings/<int:finding_id>/"


@router.get(
    OF_RUN + "findings/", "api-run-findings", "The findings of a run, the most important first", FINDING, many=True,
    query=DOCUMENT_QUERY | {"state": STATE},
)  # fmt: skip
def findings(asked: ApiRequest, run_id: int) -> Json:
    """All of them once still_looking in the counts of the run is 0."""
    run, docs = run_or_404(asked.request, run_id)
    rows = findings_of(run.pk, docs, asked.query.get("state", ""))
    if (doc_id := asked.query.get("document")) is not None:
        rows = rows.filter(doc_id=doc_id)
    return page_of(rows, asked, _shape)


@router.get(OF_FINDING, "api-finding", "One finding", FINDING)
def finding(asked: ApiRequest, finding_id: int) -> Json:
    return _shape(_finding(asked, finding_id))


@router.post(
    OF_FINDING + "decide/", "api-finding-decide", "Accept a finding, call it solved, open it again", FINDING,
    body=DECISION,
)  # fmt: skip
def decide(asked: ApiRequest, finding_id: int) -> Json:
    row, _ = _to_change(asked, finding_id)
    decisions.decide(row, asked.body["state"], asked.by, asked.body.get("note", "").strip())
    return _shape(row)


@router.post(
    OF_FINDING + "fix/", "api-finding-fix", "Carry out an offered repair; it applies to the next crawl", FINDING,
    body=REPAIR,
)  # fmt: skip
def fix(asked: ApiRequest, finding_id: int) -> Json:
    """One of the offered repairs, carried out as the dialog would; the finding is solved then."""
    row, document = _to_change(asked, finding_id)
    decisions.repair(row, asked.body["fix"], document, asked.by)
    return _shape(row)


def _finding(asked: ApiRequest, finding_id: int) -> Finding:
    docs = visible_docs(asked.request)
    row = Finding.objects.select_related("excursion").filter(pk=finding_id).first()
    if row is None or (docs is not None and row.doc_id not in docs):
        raise Http404("No such finding")
    return row


def _to_change(asked: ApiRequest, finding_id: int) -> tuple[Finding, Document]:
    row = _finding(asked, finding_id)
    return row, document_or_404(asked.user, row.doc_id, Action.EDIT)


def _shape(row: Finding) -> Json:
    fixes = [Fix.from_json(one) for one in row.fixes]
    return FINDING.of(
        row, document_id=row.doc_id, title=row.excursion.title, weight=_WEIGHTS.get(row.weight, "informs"),
        fixes=[{"number": number, "label": one.label, "can_be_done": one.presses} for number, one in enumerate(fixes)],
    )  # fmt: skip
