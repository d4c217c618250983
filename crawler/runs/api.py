"""Owns: the JSON API of runs: lists, figures, log, control, settings used, one run beside another.

Does not: launch, change rows itself. Called by: crawler.api.
"""

from collections.abc import Callable
from typing import Any

from django.http import Http404

from clearinghouse.accounts.policies import Action, NotAllowed, documents_for
from clearinghouse.library.models import Document
from clearinghouse.published.types import PAGE_TYPES
from crawlpoints.queries import patterns_of

from ..api.contract import (
    DOCUMENT_QUERY,
    OF_RUN,
    OF_RUN_DOCUMENT,
    ApiRequest,
    Json,
    page_at_once,
    page_of,
    router,
    row_or_404,
)
from ..api.request_fields import choice, fields, text
from ..api.response_fields import FLAG, INT, INT_OR_NOTHING, MOMENT, TEXT, JsonObject, list_of, shape_of
from ..errors import WrongMoment
from ..launching import control
from ..launching.launch import snapshot_of
from ..ledger import queries as ledger
from ..models import OPEN_STATES, Excursion, Run
from .crawl_changes import changes_of, excursion_before
from .queries import ASKED, TABS, documents_of, events_of, runs_in, visible_runs
from .run_actions import SPEEDS
from .run_advice import advised
from .run_comparison import DIFFERENT, FIRST, SAME, SECOND, Pair, Side, pages_in, pairs_of
from .run_counts import Docs, Totals, excursions_of, tallies, totals, totals_of_runs
from .tabs.tab_changes import why_gone
from .tabs.tab_settings import differing, used_points
from .views.run_access import may_control_document, run_or_404, run_to_control_or_404, visible_docs

# `left`: of the skipped, what an early end left in the queue.
COUNTERS = ("found", "queued", "crawled", "unchanged", "redirected", "skipped", "failed", "left")
CHANGES = ("new", "changed", "gone", "moved", "unchanged")
SPEED_FIELD = choice("How fast each site is read", *SPEEDS)
LABEL = fields(("label",), label=text("A word by which the run is found again; empty takes it off", control.LABEL))
SPEED = fields(("speed",), speed=SPEED_FIELD)
DOCUMENT = fields(("document",), **DOCUMENT_QUERY)
LOG_QUERY = {"kind": text("The kind of line", 24), "text": text("Part of the line", 200)}
RUNS_QUERY = {"state": choice("Which runs", *TABS), "label": text("Only runs with this label", control.LABEL)}
CHANGES_QUERY = {"kind": choice("What became of the pages", *CHANGES)}
COMPARE_QUERY = {
    "kind": choice("Pages only one run has, pages that differ, pages alike", FIRST, SECOND, DIFFERENT, SAME)
}
_SUMS = JsonObject("Sums", **dict.fromkeys((*COUNTERS, "documents", "bytes"), INT))
_BY_NAME = {"type": "object", "additionalProperties": INT}
RUN = JsonObject(
    "Run", id=INT, state=TEXT, asked=TEXT, speed=TEXT, requested_by=TEXT, origin=TEXT, note=TEXT, label=TEXT,
    propagate_after=FLAG, max_seconds=INT, created_at=MOMENT, started_at=MOMENT, finished_at=MOMENT,
    left_out=list_of(INT), counts=_SUMS.schema,
)  # fmt: skip
EXCURSION = JsonObject(
    "Excursion", document_id=INT, title=TEXT, project=TEXT, state=TEXT, left_out_reason=TEXT, left_out_by=TEXT,
    left_out_at=MOMENT, **dict.fromkeys((*COUNTERS, "bytes"), INT),
)  # fmt: skip
COUNTS = JsonObject(
    "Counts", **_SUMS.schema["properties"], skipped_by_reason=_BY_NAME, failed_by_reason=_BY_NAME, statuses=_BY_NAME,
    types=_BY_NAME, recommendation=_BY_NAME, still_looking=INT,
    depths=list_of(shape_of(depth=INT, done=INT, waiting=INT, left=INT)),
)  # fmt: skip
EVENT = JsonObject("Event", id=INT, at=MOMENT, kind=TEXT, text=TEXT, document_id=INT_OR_NOTHING)
CHANGE = JsonObject("Change", kind=TEXT, url=TEXT, why=TEXT)
SETTINGS_USED = JsonObject(
    "SettingsUsed", document_id=INT, title=TEXT, excludes=list_of(TEXT),
    crawl_points=list_of(
        shape_of(url=TEXT, root=TEXT, depth=INT, max_pages=INT, authentication=TEXT, active=FLAG, options=TEXT)
    ),
)  # fmt: skip
SETTINGS_DIFFERENCE = JsonObject("SettingsDifference", what=TEXT, then=TEXT, now=TEXT)
_SIDE = JsonObject("Side", run_id=INT, state=TEXT, pages=INT, errors=INT)
_SIDE_OR_NOTHING = _SIDE.schema | {"type": ["object", "null"]}
COMPARED = JsonObject("Compared", document_id=INT, title=TEXT, first=_SIDE_OR_NOTHING, second=_SIDE_OR_NOTHING)
LEDGER_ROW = JsonObject(
    "LedgerRow", id=INT, document_id=INT, document=TEXT, url=TEXT, outcome=TEXT, reason=TEXT, detail=TEXT, status=INT,
    depth=INT, crawl_point_id=INT_OR_NOTHING, redirect_url=TEXT, size=INT, milliseconds=INT, at=MOMENT,
)  # fmt: skip
OF_OTHER_RUN = OF_RUN + "compare/<int:other_id>/"
_ACTIONS: dict[str, Callable[[Run, str], object]] = {
    "pause": control.pause, "resume": control.resume, "stop": control.stop, "cancel": control.cancel,
}  # fmt: skip
_DOCUMENT_ACTIONS: dict[str, Callable[[Run, int, str], object]] = {
    "pause": control.pause_document, "resume": control.resume_document,
}  # fmt: skip


@router.get("runs/", "api-runs", "Runs, newest first", RUN, many=True, query=RUNS_QUERY)
def runs(asked: ApiRequest) -> Json:
    docs = visible_docs(asked.request)
    state = asked.query.get("state")
    rows = runs_in(state, docs) if state else visible_runs(docs).order_by("-id")
    rows = rows.filter(label=label) if (label := asked.query.get("label")) else rows

    def shape(page: Any) -> list[Json]:
        sums = totals_of_runs(page, docs)
        return [run_json(run, sums[run.pk]) for run in page if run.pk in sums]

    return page_at_once(rows, asked, shape)


@router.get(OF_RUN, "api-run", "One run with its counts", RUN)
def run(asked: ApiRequest, run_id: int) -> Json:
    run, docs = run_or_404(asked.request, run_id)
    return run_json(run, totals(run, docs))


def run_json(row: Run, sums: Totals) -> Json:
    return RUN.of(row, asked=row.control, counts=_SUMS.of(sums))


@router.post(
    OF_RUN + "do/<slug:action>/", "api-run-control",
    "Control a run: pause, resume, stop (keeps) or cancel (discards)", RUN,
)  # fmt: skip
def act(asked: ApiRequest, run_id: int, action: str) -> Json:
    run, docs = run_to_control_or_404(asked.request, run_id)
    _known(action, _ACTIONS)(run, asked.by)
    return _changed(run, docs)


@router.post(OF_RUN + "speed/", "api-run-speed", "Set the speed of a run", RUN, body=SPEED)
def speed(asked: ApiRequest, run_id: int) -> Json:
    run, docs = run_to_control_or_404(asked.request, run_id)
    control.set_speed(run, asked.body["speed"], asked.by)
    return _changed(run, docs)


@router.post(OF_RUN + "label/", "api-run-label", "Label a run, or take its label off", RUN, body=LABEL)
def label(asked: ApiRequest, run_id: int) -> Json:
    run, docs = run_to_control_or_404(asked.request, run_id)
    control.set_label(run, asked.body["label"], asked.by)
    return _changed(run, docs)


def _changed(run: Run, docs: Docs) -> Json:
    run.refresh_from_db()
    return run_json(run, totals(run, docs))


def _known(action: str, actions: dict[str, Any]) -> Any:
    if action not in actions:
        raise Http404(f"No such command; there are {', '.join(actions)}")
    return actions[action]


@router.post(
    OF_RUN + "apply-excludes/", "api-run-excludes", "Let the exclude URLs of a document count for the running crawl",
    RUN, body=DOCUMENT,
)  # fmt: skip
def apply_excludes(asked: ApiRequest, run_id: int) -> Json:
    """The exclude URLs of a document as they are now count for the running crawl."""
    run, docs = run_to_control_or_404(asked.request, run_id)
    document = row_or_404(documents_for(asked.user, Action.CONTROL), asked.body["document"], "No such document")
    control.apply_excludes(run, document.pk, patterns_of(document), asked.by)
    return run_json(run, totals(run, docs))


@router.post(
    OF_RUN + "ask-to-stop/", "api-run-ask-to-stop", "Ask the administrators to stop a run you may not stop", RUN
)
def ask_to_stop(asked: ApiRequest, run_id: int) -> Json:
    """For who may not stop it: a line in the log of the run, which administrators see on its page."""
    run, docs = run_or_404(asked.request, run_id)
    if run.state not in OPEN_STATES:
        raise WrongMoment("This run has ended already")
    # With a document of the person, so that others of the run do not read it.
    doc_id = None if docs is None else excursions_of(run, docs).values_list("doc_id", flat=True).first()
    control.note(run.pk, ASKED, f"{asked.by} asks to stop this run", doc_id)
    return run_json(run, totals(run, docs))


@router.get(OF_RUN + "documents/", "api-run-documents", "The documents of a run", EXCURSION, many=True)
def documents(asked: ApiRequest, run_id: int) -> Json:
    return page_of(documents_of(*run_or_404(asked.request, run_id)), asked, excursion_json)


@router.post(
    OF_RUN_DOCUMENT + "do/<slug:action>/", "api-run-document-control", "Pause or resume one document of a run",
    EXCURSION,
)  # fmt: skip
def act_on_document(asked: ApiRequest, run_id: int, doc_id: int, action: str) -> Json:
    """One document of the run rests or goes on, the others are not touched."""
    run, _ = run_or_404(asked.request, run_id)
    excursion = excursion_or_404(asked, run_id, doc_id)
    act = _known(action, _DOCUMENT_ACTIONS)
    if not may_control_document(asked.request, doc_id):
        raise NotAllowed(Action.CONTROL)
    act(run, doc_id, asked.by)
    excursion.refresh_from_db()
    return excursion_json(excursion)


def excursion_json(row: Excursion) -> Json:
    return EXCURSION.of(row, document_id=row.doc_id)


def excursion_or_404(asked: ApiRequest, run_id: int, doc_id: int) -> Excursion:
    found = excursions_of(*run_or_404(asked.request, run_id)).filter(doc_id=doc_id).first()
    if found is None:
        raise Http404("No such document in this run")
    return found


@router.get(OF_RUN + "events/", "api-run-events", "The log of a run, newest first", EVENT, many=True, query=LOG_QUERY)
def events(asked: ApiRequest, run_id: int) -> Json:
    run, docs = run_or_404(asked.request, run_id)
    rows = events_of(run, docs, asked.query.get("kind", ""), asked.query.get("text", ""))
    return page_of(rows, asked, lambda row: EVENT.of(row, document_id=row.doc_id))


@router.get(
    OF_RUN + "counts/", "api-run-counts", "Addresses of a run by reason, depth, status and type", COUNTS,
    query=DOCUMENT_QUERY,
)  # fmt: skip
def counts(asked: ApiRequest, run_id: int) -> Json:
    """The figures of the run page: how many addresses had which decision, depth, status, type; what is advised for how
    many documents (propagate, review, again), once they were looked through; still_looking: how many were not yet."""
    run, docs = run_or_404(asked.request, run_id)
    doc_id = asked.query.get("document")
    if doc_id is not None:
        docs = {doc_id} if docs is None else docs & {doc_id}
    divided, found = tallies(run, docs), advised(run, docs)
    depths = [
        {"depth": depth, "done": done, "waiting": waiting, "left": divided.left[depth]}
        for depth, (done, waiting) in sorted(divided.depths.items())
    ]
    return COUNTS.of(
        totals(run, docs), skipped_by_reason=divided.skipped, failed_by_reason=divided.failed,
        statuses={f"{first}xx": count for first, count in sorted(divided.statuses.items())},
        types={PAGE_TYPES.get(kind, str(kind)): count for kind, count in sorted(divided.types.items())},
        recommendation=found.counts, still_looking=found.looking, depths=depths,
    )  # fmt: skip


@router.get(
    OF_RUN_DOCUMENT + "changes/", "api-run-changes", "The pages of a document against its crawl before", CHANGE,
    many=True, query=CHANGES_QUERY,
)  # fmt: skip
def changes(asked: ApiRequest, run_id: int, doc_id: int) -> Json:
    """The pages of a document against its crawl before: addresses with what became of them."""
    excursion = excursion_or_404(asked, run_id, doc_id)
    before = excursion_before(excursion)
    found = changes_of(excursion, before)
    wanted = [asked.query["kind"]] if "kind" in asked.query else CHANGES
    keys = [(kind, key) for kind in wanted for key in sorted(getattr(found, kind))]

    def shape(page: Any) -> list[Json]:
        now = ledger.by_key([excursion.pk], [key for _, key in page])
        then = ledger.by_key([before.pk], [key for _, key in page]) if before else {}
        rows = []
        for kind, key in page:
            here = now.get((excursion.pk, key))
            shown = here or (then.get((before.pk, key)) if before else None)
            gone = why_gone(here) if kind in ("gone", "moved") else ""
            rows.append({"kind": kind, "url": shown.url if shown else "", "why": gone})
        return rows

    return page_at_once(keys, asked, shape)


@router.get(
    OF_RUN_DOCUMENT + "settings/", "api-run-settings", "The crawl points and exclude URLs the run took over",
    SETTINGS_USED,
)  # fmt: skip
def settings_used(asked: ApiRequest, run_id: int, doc_id: int) -> Json:
    """Crawl points and exclude URLs as the run took them over; neither user ID nor password is in it."""
    row = excursion_or_404(asked, run_id, doc_id)
    snapshot = row.snapshot or {}
    points = [
        {name: one[name] for name in ("url", "root", "depth", "max_pages", "active", "options")}
        | {"authentication": one["auth"]}
        for one in used_points(snapshot)
    ]
    return SETTINGS_USED.of(
        row, document_id=row.doc_id, excludes=list(snapshot.get("excludes", [])), crawl_points=points
    )


@router.get(
    OF_RUN_DOCUMENT + "settings/differences/", "api-run-settings-differences",
    "Settings used against those of now", SETTINGS_DIFFERENCE, many=True,
)  # fmt: skip
def settings_differences(asked: ApiRequest, run_id: int, doc_id: int) -> Json:
    """What of a document's settings is not as it was at the launch; neither user ID nor password is in it."""
    excursion = excursion_or_404(asked, run_id, doc_id)
    document = row_or_404(Document.objects, doc_id, "This document was deleted")
    rows = differing(excursion.snapshot or {}, snapshot_of(document).to_json())
    return page_of(rows, asked, lambda row: dict(zip(("what", "then", "now"), row, strict=True)))


@router.get(
    OF_OTHER_RUN, "api-run-compare", "Two runs beside each other, document by document", COMPARED, many=True
)  # fmt: skip
def compare(asked: ApiRequest, run_id: int, other_id: int) -> Json:
    """Two runs, document by document; a side is null where that run did not crawl the document."""
    return page_of(_pairs(asked, run_id, other_id), asked, _pair)


@router.get(
    OF_OTHER_RUN + "documents/<int:doc_id>/", "api-run-compare-pages",
    "The pages of a document by how two runs differ", LEDGER_ROW, many=True, query=COMPARE_QUERY,
)  # fmt: skip
def compare_pages(asked: ApiRequest, run_id: int, other_id: int, doc_id: int) -> Json:
    """The pages of one document by how they differ; without a kind those that differ."""
    pair = next((one for one in _pairs(asked, run_id, other_id) if one.doc_id == doc_id), None)
    if pair is None or pair.first is None or pair.second is None:
        raise Http404("No such document in both runs")
    found = pages_in(asked.query.get("kind", DIFFERENT), pair.first, pair.second)
    return page_at_once(found, asked, lambda page: ledger_rows(map(ledger.row_of, page)))


def _pairs(asked: ApiRequest, run_id: int, other_id: int) -> list[Pair]:
    first, docs = run_or_404(asked.request, run_id)
    second, _ = run_or_404(asked.request, other_id)
    return pairs_of(first, second, docs)


def _pair(row: Pair) -> Json:
    first, second = (_side(one) for one in row.sides)
    return {"document_id": row.doc_id, "title": row.title, "first": first, "second": second}


def _side(side: Side) -> Json | None:
    return _SIDE.of(side, state=side.excursion.state) if side.excursion else None


def ledger_rows(rows: Any) -> list[Json]:
    return [LEDGER_ROW.of(row, document_id=row.doc_id) for row in ledger.with_documents(list(rows))]
