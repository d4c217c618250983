"""Two runs compared: their documents side by side, then the pages of one document that differ."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from crawler.ledger.page_details import titles_of
from crawler.ledger.queries import row_of

from ..run_comparison import DIFFERENT, FIRST, SAME, SECOND, Pair, pages_in, pairs_of
from ..run_counts import totals
from .run_access import number_in, page_size, run_or_404


@require_safe
def choose(request: HttpRequest, run_id: int) -> HttpResponse:
    """The form of the run page: with=206."""
    run_or_404(request, run_id)
    other = number_in(request, "with")
    if other is None:
        raise Http404("No run to compare with")
    return redirect("run-compare", run_id, other)


@require_safe
def compare(request: HttpRequest, run_id: int, other_id: int) -> HttpResponse:
    first, docs = run_or_404(request, run_id)
    second, _ = run_or_404(request, other_id)
    pairs = pairs_of(first, second, docs)
    doc_id = number_in(request, "doc")
    pair = next((one for one in pairs if one.both and (one.doc_id == doc_id or len(pairs) == 1)), None)
    context: dict[str, Any] = {
        "first": first,
        "second": second,
        "sums": (totals(first, docs), totals(second, docs)),
        "pair": pair,
        "several": len(pairs) > 1,
    }
    if pair is None:
        page = Paginator(pairs, page_size(request)).get_page(request.GET.get("page"))
        context |= {"page": page, "pairs": page.object_list}
    else:
        context |= _pages(request, pair)
    return render(request, "runs/compare.html", context)


def _pages(request: HttpRequest, pair: Pair) -> dict[str, Any]:
    assert pair.first is not None and pair.second is not None
    names = {
        FIRST: f"Only in run {pair.first.run_id}",
        SECOND: f"Only in run {pair.second.run_id}",
        DIFFERENT: "Different",
        SAME: "Alike",
    }
    counts = {kind: pages_in(kind, pair.first, pair.second).count() for kind in names}
    kind = request.GET.get("kind", "")
    kind = kind if kind in names else next((name for name in names if counts[name]), FIRST)
    page = Paginator(pages_in(kind, pair.first, pair.second), page_size(request)).get_page(request.GET.get("page"))
    rows = [row_of(entry) for entry in page.object_list]
    titles_of(rows)
    return {
        "page": page,
        "rows": rows,
        "kind": kind,
        "kinds": [(name, label, counts[name]) for name, label in names.items()],
        "run_of_rows": pair.second.run_id if kind == SECOND else pair.first.run_id,
    }
