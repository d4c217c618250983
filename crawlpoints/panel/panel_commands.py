"""The commands under the table of crawl points; each answers with the panel and one sentence."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.library.models import Document
from clearinghouse.web.listing import whole_number
from clearinghouse.web.plurals import plural

from .. import bulk_changes, services, undo
from ..documents import crawl_facts
from ..models import CrawlPoint
from ..point_checks import Invalid
from ..point_warnings import cautions_for
from ..queries import deleted_points_of, neighbours_of, points_of
from ..templatetags.panel_urls import back_to_panel, order_of_panel
from .views import ids_in_order

SELECT_FIRST = "Select a crawl point first."


def chosen_of(request: HttpRequest, document: Document) -> list[CrawlPoint]:
    """The ticked rows, whatever else was sent."""
    return list(points_of(document).filter(pk__in=ticked(request.POST)))


def ticked(sent: QueryDict) -> list[int]:
    """The numbers of the ticked rows; the box in the head of a table sends those of its page as one."""
    texts = [*sent.getlist("point"), *",".join(sent.getlist("page")).split(",")]
    return [number for text in texts if (number := whole_number(text)) is not None][: bulk_changes.MOST]


@require_POST
def choose(request: HttpRequest, doc_id: int) -> HttpResponse:
    """Update: opens the dialog of the one ticked row."""
    document = document_or_404(request.user, doc_id, Action.EDIT)
    chosen = chosen_of(request, document)
    if len(chosen) == 1:
        return redirect("crawl-point-edit", document.pk, chosen[0].pk)
    many = f"Select one crawl point to update. {len(chosen)} are selected."
    messages.info(request, many if chosen else SELECT_FIRST)
    return back_to_panel(request, document)


@require_POST
def launch(request: HttpRequest, doc_id: int) -> HttpResponse:
    """To the launch form, with this document or with its one ticked crawl point; what is launched is decided there."""
    document = document_or_404(request.user, doc_id, Action.LAUNCH)
    chosen = chosen_of(request, document)
    if len(chosen) > 1:
        messages.info(request, f"Select one crawl point to launch it alone. {len(chosen)} are selected.")
        return back_to_panel(request, document)
    query = f"crawl_point={chosen[0].pk}" if chosen else f"doc={document.pk}"
    return redirect(f"{reverse('launch')}?{query}")


@require_POST
def delete(request: HttpRequest, doc_id: int) -> HttpResponse:
    """One press, no question; Undo stays in the status region."""
    document = document_or_404(request.user, doc_id, Action.EDIT)
    chosen = chosen_of(request, document)
    undo.forget(request)
    if not chosen:
        messages.info(request, SELECT_FIRST)
        return back_to_panel(request, document)
    following = _next_of(request, document, chosen)
    for point in chosen:
        services.delete_crawl_point(point)
    one = len(chosen) == 1
    sentence = f"Deleted crawl point {chosen[0].url}." if one else f"Deleted {plural(len(chosen), 'crawl point')}."
    if crawl_facts.running_of(document.pk):
        sentence += " The running crawl fetches no more of its pages." if one else " The running crawl stops there."
    undo.offer(request, "point", document.pk, [point.pk for point in chosen], sentence)
    return back_to_panel(request, document, at=following)


def _next_of(request: HttpRequest, document: Document, gone: list[CrawlPoint]) -> int | None:
    """The row below the deleted ones, where the focus goes."""
    ids = ids_in_order(document, order_of_panel(request, document.pk))
    lost = {point.pk for point in gone}
    place = max(ids.index(pk) for pk in lost)
    left = [pk for pk in ids[place:] if pk not in lost] or [pk for pk in ids if pk not in lost][-1:]
    return left[0] if left else None


@require_POST
def restore(request: HttpRequest, doc_id: int) -> HttpResponse:
    """Undo, and Restore among the deleted rows."""
    document = document_or_404(request.user, doc_id, Action.EDIT)
    undo.forget(request)
    wanted = {text for text in request.POST.getlist("point") if text.isdigit()}
    points = [point for point in deleted_points_of(document) if str(point.pk) in wanted]
    restored = []
    for point in points:
        try:
            restored.append(services.restore_crawl_point(point))
        except Invalid as duplicate:
            messages.error(request, f"{duplicate}.")
    if restored:
        one = f"Restored crawl point {restored[0].url}."
        messages.success(request, one if len(restored) == 1 else f"Restored {plural(len(restored), 'crawl point')}.")
    show = "deleted" if request.POST.get("show") == "deleted" and deleted_points_of(document).exists() else ""
    return back_to_panel(request, document, show=show, at=restored[0].pk if restored else None)


@require_POST
def fix(request: HttpRequest, doc_id: int, point_id: int) -> HttpResponse:
    """The one-press repair beside a caution, by its code: the values come from us, not from the form."""
    document = document_or_404(request.user, doc_id, Action.EDIT)
    undo.forget(request)
    point = points_of(document).filter(pk=point_id).first()
    if point is None:
        raise Http404("No such crawl point")
    others = neighbours_of(document, but=point.pk)
    code = request.POST.get("code", "")
    caution = next((one for one in cautions_for(point, others) if one.code == code and one.values), None)
    if caution is not None:
        try:
            _, after = services.update_crawl_point(point, caution.values)
            messages.success(request, f"Done: {caution.fix}.")
            for one in after:
                if one.code == "password_cleared":
                    messages.warning(request, f"{one.text}.")
        except Invalid as wrong:
            messages.error(request, f"{wrong}.")
    return back_to_panel(request, document, saved=point.pk, at=point.pk)
