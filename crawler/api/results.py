"""Operations on what a run found: findings and what people decide, sites, errors, changes, the run beside another."""

from typing import Any

from django.http import Http404

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.library.models import Document

from ..findings.decisions import decide as write_decision
from ..findings.decisions import repair
from ..findings.queries import findings_of
from ..ledger import queries as ledger
from ..ledger.error_groups import failures_of
from ..ledger.site_folders import by_site
from ..models import Excursion, Finding
from ..runs.crawl_changes import changes_of, excursion_before
from ..runs.run_comparison import DIFFERENT, FIRST, SAME, SECOND, Pair, pages_in, pairs_of
from ..runs.run_counts import Docs, excursions_of
from ..runs.tabs.tab_changes import why_gone
from ..runs.views.run_access import run_or_404, visible_docs
from . import result_shapes, shapes
from .contract import ApiRequest, ApiResponse, Schema, choice, number, text, thing
from .door import page_of

CHANGES = ("new", "changed", "gone", "moved", "unchanged")
STATE: Schema = choice("What people decided", *Finding.State.values)
DECISION = thing(("state",), state=STATE, note=text("Why", 500))
REPAIR = thing(("fix",), fix=number("The number of the offered repair", most=100))
DOCUMENT_QUERY = {"document": number("Key of a document", least=1)}
FINDINGS_QUERY = DOCUMENT_QUERY | {"state": STATE}
CHANGES_QUERY = {"kind": choice("What became of the pages", *CHANGES)}
COMPARE_QUERY = {
    "kind": choice("Pages only one run has, pages that differ, pages alike", FIRST, SECOND, DIFFERENT, SAME)
}


def findings(asked: ApiRequest, run_id: int) -> ApiResponse:
    """All of them once still_looking in the counts of the run is 0."""
    run, docs = run_or_404(asked.request, run_id)
    rows = findings_of(run.pk, docs, asked.query.get("state", ""))
    if (doc_id := asked.query.get("document")) is not None:
        rows = rows.filter(doc_id=doc_id)
    return page_of(rows, asked, lambda page: [result_shapes.finding(row) for row in page])


def finding(asked: ApiRequest, finding_id: int) -> ApiResponse:
    return ApiResponse(result_shapes.finding(_finding(asked, finding_id)))


def decide(asked: ApiRequest, finding_id: int) -> ApiResponse:
    row, _ = _to_change(asked, finding_id)
    write_decision(row, asked.body["state"], asked.by, asked.body.get("note", "").strip())
    return ApiResponse(result_shapes.finding(row))


def fix(asked: ApiRequest, finding_id: int) -> ApiResponse:
    """One of the offered repairs, carried out as the dialog would; the finding is solved then."""
    row, document = _to_change(asked, finding_id)
    repair(row, asked.body["fix"], document, asked.by)
    return ApiResponse(result_shapes.finding(row))


def _finding(asked: ApiRequest, finding_id: int) -> Finding:
    docs = visible_docs(asked.request)
    row = Finding.objects.select_related("excursion").filter(pk=finding_id).first()
    if row is None or (docs is not None and row.doc_id not in docs):
        raise Http404("No such finding")
    return row


def _to_change(asked: ApiRequest, finding_id: int) -> tuple[Finding, Document]:
    row = _finding(asked, finding_id)
    return row, document_or_404(asked.user, row.doc_id, Action.EDIT)


def hosts(asked: ApiRequest, run_id: int) -> ApiResponse:
    run, docs = run_or_404(asked.request, run_id)
    rows = by_site(run, docs, asked.query.get("document"))
    return page_of(rows, asked, lambda page: [result_shapes.host(row) for row in page])


def errors(asked: ApiRequest, run_id: int) -> ApiResponse:
    """Failed addresses in groups of one kind; those of the crawl before that are met no more are `solved`."""
    run, docs = run_or_404(asked.request, run_id)
    found = failures_of(run, docs, ledger.Filter(doc_id=asked.query.get("document")))
    rows = [*found.groups, *found.solved]
    return page_of(rows, asked, lambda page: [result_shapes.error_group(row) for row in page])


def changes(asked: ApiRequest, run_id: int, doc_id: int) -> ApiResponse:
    """The pages of a document against its crawl before: addresses with what became of them."""
    excursion = excursion_or_404(asked, run_id, doc_id)
    before = excursion_before(excursion)
    found = changes_of(excursion, before)
    wanted = [asked.query["kind"]] if "kind" in asked.query else CHANGES
    keys = [(kind, key) for kind in wanted for key in sorted(getattr(found, kind))]

    def shape(page: Any) -> list[dict[str, Any]]:
        now = ledger.by_key([excursion.pk], [key for _, key in page])
        then = ledger.by_key([before.pk], [key for _, key in page]) if before else {}
        rows = []
        for kind, key in page:
            here = now.get((excursion.pk, key))
            shown = here or (then.get((before.pk, key)) if before else None)
            gone = why_gone(here) if kind in ("gone", "moved") else ""
            rows.append({"kind": kind, "url": shown.url if shown else "", "why": gone})
        return rows

    return page_of(keys, asked, shape)


def settings_used(asked: ApiRequest, run_id: int, doc_id: int) -> ApiResponse:
    """Crawl points and exclude URLs as the run took them over; neither user ID nor password is in it."""
    return ApiResponse(result_shapes.settings_used(excursion_or_404(asked, run_id, doc_id)))


def excursion_or_404(asked: ApiRequest, run_id: int, doc_id: int) -> Excursion:
    run, docs = run_or_404(asked.request, run_id)
    found = excursions_of(run, docs).filter(doc_id=doc_id).first()
    if found is None:
        raise Http404("No such document in this run")
    return found


def compare(asked: ApiRequest, run_id: int, other_id: int) -> ApiResponse:
    """Two runs, document by document; a side is null where that run did not crawl the document."""
    rows, _ = _pairs(asked, run_id, other_id)
    return page_of(rows, asked, lambda page: [result_shapes.pair(row) for row in page])


def compared_pages(asked: ApiRequest, run_id: int, other_id: int, doc_id: int) -> ApiResponse:
    """The pages of one document by how they differ; without a kind those that differ."""
    rows, _ = _pairs(asked, run_id, other_id)
    pair = next((one for one in rows if one.doc_id == doc_id), None)
    if pair is None or pair.first is None or pair.second is None:
        raise Http404("No such document in both runs")
    found = pages_in(asked.query.get("kind", DIFFERENT), pair.first, pair.second)
    return page_of(found, asked, lambda page: shapes.ledger_rows(map(ledger.row_of, page)))


def _pairs(asked: ApiRequest, run_id: int, other_id: int) -> tuple[list[Pair], Docs]:
    first, docs = run_or_404(asked.request, run_id)
    second, _ = run_or_404(asked.request, other_id)
    return pairs_of(first, second, docs), docs
