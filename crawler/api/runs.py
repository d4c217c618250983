"""Operations on runs: launch, look, control; and reading propagations."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404

from clearinghouse.accounts.policies import Action, RoleScope, documents_for, require, scope_of
from crawlpoints.models import CrawlPointLink, SavedView
from crawlpoints.point_checks import Invalid
from crawlpoints.queries import patterns_of
from crawlpoints.saved_views import views_of

from ..launching import control, crawl_requests
from ..launching import launch as launching
from ..launching.document_filter import documents_in
from ..launching.launch import LaunchRequest
from ..launching.launch_subset import ONLY_FAILED, ONLY_NEW, SubsetChoice
from ..ledger import queries as ledger
from ..ledger.page_details import version_of
from ..models import Propagation, PropagationStep, Run
from ..runs.queries import TABS, documents_of, events_of, runs_in, visible_runs
from ..runs.run_actions import SPEEDS
from ..runs.run_counts import totals, totals_of_runs
from ..runs.views.run_access import run_or_404, run_to_control_or_404, visible_docs
from ..values import OUTCOMES, QUEUED, REASONS
from . import shapes
from .contract import ApiRequest, ApiResponse, Schema, choice, number, several, switch, text, thing
from .door import page_of

_MONTH = 30 * 24 * 3600
ONLY = (ONLY_FAILED, ONLY_NEW)
SCOPE = ("documents", "project", "view", "crawl_point", "all")
LAUNCH = thing(
    all=switch("Every document you may launch: nothing is launched unless its scope is named"),
    documents=several(number("Key of a document", least=1), 10_000),
    project=text("All documents of this project", 100),
    view=number("Key of one of your saved views: the documents it shows now", least=1),
    errors=text("With only=failed: the key of one group of errors, see the errors of the last run", 16),
    crawl_point=number("Key of the one crawl point to crawl", least=1),
    only=choice("Less than everything", *ONLY),
    max_pages=number("At most so many pages of each crawl point; 0 is its own maximum", most=10_000_000),
    speed=choice("How fast each site is read", *SPEEDS),
    max_seconds=number("Stop this run after so many seconds; 0 is no limit", most=_MONTH),
    note=text("Why this run is launched"),
    label=text("A word by which the run is found again", control.LABEL),
    propagate_after=switch("Propagate the results when the run has finished"),
)
LABEL = thing(("label",), label=text("A word by which the run is found again; empty takes it off", control.LABEL))
SPEED = thing(("speed",), speed=choice("How fast each site is read", *SPEEDS))
DOCUMENT = thing(("document",), document=number("Key of a document", least=1))
LEDGER_QUERY: dict[str, Schema] = {
    "outcome": choice("What became of it", *OUTCOMES, QUEUED),
    "reason": choice("Why", *REASONS),
    "document": number("Key of a document", least=1),
    "text": text("Part of the address", 200),
    "depth": number("Clicks from the crawl point", most=999),
    "status": number("First digit of the status the site answered with: 2 for 200 to 299", least=1, most=9),
    "site": text("How the address begins, letter for letter: a site or a folder", 2048),
    "point": number("Key of the crawl point that is nearest", least=1),
    "rule": text("What decided, letter for letter: an exclude URL, a root string", 500),
    "fresh": choice("Stored pages that no crawl before had, or that differ", ledger.NEW, ledger.CHANGED),
    "taken": switch("Only what was once taken from the queue"),
    "sort": choice("Order", *ledger.SORTS, *(f"-{name}" for name in ledger.SORTS)),
}
LOG_QUERY = {"kind": text("The kind of line", 24), "text": text("Part of the line", 200)}
RUNS_QUERY = {
    "state": choice("Which runs", *TABS),
    "label": text("Only runs with this label", control.LABEL),
}
_ACTS: dict[str, Callable[[Run, str], object]] = {
    "pause": control.pause, "resume": control.resume, "stop": control.stop, "cancel": control.cancel,
}  # fmt: skip


def listed(asked: ApiRequest) -> ApiResponse:
    docs = visible_docs(asked.request)
    state = asked.query.get("state")
    rows = runs_in(state, docs) if state else visible_runs(docs).order_by("-id")
    rows = rows.filter(label=label) if (label := asked.query.get("label")) else rows

    def shape(page: Any) -> list[dict[str, Any]]:
        sums = totals_of_runs(page, docs)
        return [shapes.run(run, sums[run.pk]) for run in page if run.pk in sums]

    return page_of(rows, asked, shape)


def one(asked: ApiRequest, run_id: int) -> ApiResponse:
    run, docs = run_or_404(asked.request, run_id)
    return ApiResponse(shapes.run(run, totals(run, docs)))


def launch(asked: ApiRequest) -> ApiResponse:
    require(asked.user, Action.LAUNCH)
    body = asked.body
    if body.get("propagate_after"):
        require(asked.user, Action.PROPAGATE)
    names = ("speed", "note", "label", "propagate_after", "max_seconds", "max_pages")
    options = {name: body[name] for name in names if name in body}
    part = SubsetChoice(body.get("only", ""), body.get("crawl_point"), _group(body))
    run = launching.launch(LaunchRequest(wanted(asked), by=asked.by, origin="api", choice=part, **options))
    crawl_requests.answer_by_launch(run, part)
    return ApiResponse(shapes.run(run, totals(run)), 201)


def _group(body: Mapping[str, Any]) -> str:
    key = str(body.get("errors", ""))
    if key and (body.get("only") != ONLY_FAILED or not re.fullmatch("[0-9a-f]{16}", key)):
        raise Invalid({"errors": ["The key of a group of errors, together with only=failed"]})
    return key


def wanted(asked: ApiRequest) -> list[int] | None:
    """The documents to crawl: of the named ones those this person may launch; None for every document."""
    named_or_invalid(asked.body)
    rows = documents_for(asked.user, Action.LAUNCH)
    chosen, project = asked.body.get("documents"), asked.body.get("project")
    if point := asked.body.get("crawl_point"):
        rows = rows.filter(pk__in=CrawlPointLink.objects.filter(crawl_point=point).values("document"))
        if not rows.exists():
            raise Http404("No such crawl point, or not yours to launch")
        return sorted(rows.values_list("pk", flat=True))
    if view := asked.body.get("view"):
        return documents_in(view_or_404(asked, view).query, asked.user, rows)
    if chosen is None and project is None and scope_of(asked.user, Action.LAUNCH) is RoleScope.ALL:
        return None
    if project is not None:
        rows = rows.filter(sheet__project__name=project)
    known = set(rows.values_list("pk", flat=True))
    if missing := set(chosen or ()) - known:
        raise Http404(f"No such document, or not yours to launch: {', '.join(map(str, sorted(missing)[:20]))}")
    return sorted(known if chosen is None else set(chosen))


def named_or_invalid(body: Mapping[str, Any]) -> None:
    """What is to be crawled is said in so many words: an empty body, or one that was lost, never means everything."""
    named = [name for name in SCOPE if body.get(name) or (name == "documents" and name in body)]
    if not named:
        sentence = "Name what is to be crawled: documents, a project, a view, a crawl_point, or all (true)"
        raise Invalid({"documents": [sentence]})
    if "all" in named and len(named) > 1:
        raise Invalid({"all": [f"Leave this away, or {', '.join(name for name in named if name != 'all')}"]})


def view_or_404(asked: ApiRequest, view_id: int) -> SavedView:
    view = views_of(asked.user).filter(pk=view_id).first()
    if view is None:
        raise Http404("You have no saved view with this key")
    return view


def act(asked: ApiRequest, run_id: int, action: str) -> ApiResponse:
    run, docs = run_to_control_or_404(asked.request, run_id)
    if action not in _ACTS:
        raise Http404(f"No such command; there are {', '.join(_ACTS)}")
    _ACTS[action](run, asked.by)
    run.refresh_from_db()
    return ApiResponse(shapes.run(run, totals(run, docs)))


def speed(asked: ApiRequest, run_id: int) -> ApiResponse:
    run, docs = run_to_control_or_404(asked.request, run_id)
    control.set_speed(run, asked.body["speed"], asked.by)
    run.refresh_from_db()
    return ApiResponse(shapes.run(run, totals(run, docs)))


def label(asked: ApiRequest, run_id: int) -> ApiResponse:
    run, docs = run_to_control_or_404(asked.request, run_id)
    control.set_label(run, asked.body["label"], asked.by)
    run.refresh_from_db()
    return ApiResponse(shapes.run(run, totals(run, docs)))


def apply_excludes(asked: ApiRequest, run_id: int) -> ApiResponse:
    """The exclude URLs of a document as they are now count for the running crawl."""
    run, docs = run_to_control_or_404(asked.request, run_id)
    document = documents_for(asked.user, Action.CONTROL).filter(pk=asked.body["document"]).first()
    if document is None:
        raise Http404("No such document")
    control.apply_excludes(run, document.pk, patterns_of(document), asked.by)
    return ApiResponse(shapes.run(run, totals(run, docs)))


def documents(asked: ApiRequest, run_id: int) -> ApiResponse:
    run, docs = run_or_404(asked.request, run_id)
    return page_of(documents_of(run, docs), asked, lambda page: [shapes.excursion(row) for row in page])


def urls(asked: ApiRequest, run_id: int) -> ApiResponse:
    """The decision ledger: every address found, with what became of it and why."""
    outcome = asked.query.get("outcome")
    return _ledger(asked, run_id, (outcome,) if outcome else ())


def pages(asked: ApiRequest, run_id: int) -> ApiResponse:
    return _ledger(asked, run_id, ledger.PAGE_OUTCOMES)


def _ledger(asked: ApiRequest, run_id: int, outcomes: tuple[str, ...]) -> ApiResponse:
    run, docs = run_or_404(asked.request, run_id)
    query, reason = asked.query, asked.query.get("reason")
    wanted = ledger.Filter(
        outcomes=outcomes,
        reasons=(reason,) if reason else (),
        doc_id=query.get("document"),
        text=query.get("text", ""),
        depth=query.get("depth"),
        status=query.get("status"),
        site=query.get("site", ""),
        point=query.get("point"),
        rule=query.get("rule", ""),
        fresh=query.get("fresh", ""),
        taken=query.get("taken", False),
        sort=query.get("sort", ""),
    )
    rows = ledger.rows_of(run, docs, wanted)
    return page_of(rows, asked, shapes.ledger_rows)


def page(asked: ApiRequest, run_id: int, entry_id: int) -> ApiResponse:
    run, docs = run_or_404(asked.request, run_id)
    row = ledger.one(run, docs, entry_id)
    version = version_of(row) if row else None
    if row is None or version is None:
        raise Http404("No such page in this run")
    return ApiResponse(shapes.page(row, version))


def events(asked: ApiRequest, run_id: int) -> ApiResponse:
    run, docs = run_or_404(asked.request, run_id)
    rows = events_of(run, docs, asked.query.get("kind", ""), asked.query.get("text", ""))
    return page_of(rows, asked, lambda page: [shapes.event(row) for row in page])


def propagations(asked: ApiRequest) -> ApiResponse:
    require(asked.user, Action.VIEW_PROPAGATION)
    return page_of(Propagation.objects.order_by("-id"), asked, _with_steps)


def propagation(asked: ApiRequest, generation: int) -> ApiResponse:
    require(asked.user, Action.VIEW_PROPAGATION)
    row = Propagation.objects.filter(pk=generation).first()
    if row is None:
        raise Http404("No such propagation")
    return ApiResponse(_with_steps([row])[0])


def _with_steps(rows: Any) -> list[dict[str, Any]]:
    steps: dict[int, list[PropagationStep]] = {row.pk: [] for row in rows}
    for step in PropagationStep.objects.filter(propagation__in=rows).defer("counts"):
        steps[step.propagation_id].append(step)
    return [shapes.propagation(row, steps[row.pk]) for row in rows]
