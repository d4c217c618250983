"""Commands for the ticked rows of all crawl points: activate, deactivate, set a limit, and taking that back."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from clearinghouse.accounts.policies import Action, documents_for, require
from clearinghouse.database.records import StaleRecord
from clearinghouse.web.templatetags.formats import plural

from .. import bulk_changes, undo
from ..models import CrawlPoint, CrawlPointLink
from ..panel.bulk_commands import QUESTIONS, limit_sentence
from ..panel.panel_commands import SELECT_FIRST, ticked
from ..point_checks import Invalid
from .views import links_asked

LIMITS = ("depth", "max_pages")


@require_POST
def bulk_command(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.EDIT)
    undo.forget(request)
    wanted = request.POST.get("do", "")
    if wanted not in {"activate", "deactivate", *LIMITS}:
        raise Http404("No such command")
    chosen = _chosen(request)
    if not chosen:
        messages.info(request, SELECT_FIRST)
        return _back(request)
    if wanted in LIMITS and "answer" not in request.POST:
        return _ask(request, chosen, wanted)
    try:
        _do(request, chosen, wanted)
    except Invalid as wrong:
        return _ask(request, chosen, wanted, list(dict.fromkeys(Invalid.sentences(wrong.errors))))
    except StaleRecord:
        messages.error(request, undo.STALE)
    return _back(request)


def _chosen(request: HttpRequest) -> list[CrawlPoint]:
    """The ticked rows that the person may change, whatever else was sent; or all that the filter leaves of these."""
    ids = ticked(request.POST)
    if "all" in request.POST:
        found = links_asked(request.user, QueryDict(_query(request)), Action.EDIT)
        ids = list(found.values_list("crawl_point", flat=True)[: bulk_changes.MOST])
    documents = documents_for(request.user, Action.EDIT).order_by().values("pk")
    mine = CrawlPointLink.objects.filter(document__in=documents, crawl_point__in=ids).values("crawl_point")
    return list(CrawlPoint.objects.filter(pk__in=mine).order_by("url", "pk"))


def _do(request: HttpRequest, chosen: list[CrawlPoint], wanted: str) -> None:
    if wanted in LIMITS:
        answer = request.POST.get("answer", "").strip()
        changed = bulk_changes.set_values(chosen, {wanted: answer if answer or wanted == "max_pages" else "none"})
        sentence = limit_sentence(wanted, answer, changed.count)
    else:
        changed = bulk_changes.set_values(chosen, {"active": int(wanted == "activate")})
        sentence = f"{wanted.capitalize()}d {plural(changed.count, 'crawl point')}."
    if changed.count:
        undo.offer_change(request, undo.EVERYWHERE, changed, sentence)
    else:
        messages.info(request, "Nothing to do: they have this setting already.")


def _ask(request: HttpRequest, chosen: list[CrawlPoint], wanted: str, wrong: list[str] | None = None) -> HttpResponse:
    context = {
        "chosen": chosen,
        "wanted": wanted,
        "question": QUESTIONS[wanted],
        "wrong": wrong or [],
        "problems": [("id_answer", message) for message in wrong or []],
        "answer": request.POST.get("answer", ""),
        "action": reverse("points-bulk"),
        "cancel": _list(request),
        "query": request.POST.get("query", ""),
    }
    return render(request, "panel/bulk.html", context, status=422 if wrong else 200)


def _list(request: HttpRequest) -> str:
    """The list as it was filtered; its filter travels with every command."""
    query = _query(request)
    return reverse("points") + (f"?{query}" if query else "")


def _query(request: HttpRequest) -> str:
    return request.POST.get("query", "").replace("\r", "").replace("\n", "")[:4000]


def _back(request: HttpRequest) -> HttpResponse:
    return redirect(_list(request))


@require_POST
def take_back(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.EDIT)
    undo.take_back(request, undo.EVERYWHERE)
    return _back(request)
