"""Who changed what of a document, its crawl points and its exclude URLs, with the values before and after."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, document_or_404, may, sees_logins
from clearinghouse.audit.models import Entry
from clearinghouse.audit.queries import history_of_document, without_login

from ..dialog.forms import LABELS
from ..imports.short_import import shown_value
from ..models import CrawlPoint

ROWS = 50
KINDS = {
    "": "Everything", "crawlpoint": "Crawl points", "excludeurl": "Exclude URLs", "documentnote": "Notes",
    "document": "The document",
}  # fmt: skip
_NAMES = LABELS | {"password": "Password", "has_saved_pw": "Password saved", "typed": "Typed as URL"}


@require_safe
def history(request: HttpRequest, doc_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id)
    kind = request.GET.get("kind", "") if request.GET.get("kind") in KINDS else ""
    point = request.GET.get("point", "")
    entries = history_of_document(document.pk)
    if kind:
        entries = entries.filter(kind=kind)
    only = None
    if point.isascii() and point.isdigit() and len(point) < 10:
        entries = entries.filter(kind="crawlpoint", thing_id=int(point))
        only = CrawlPoint.everything.filter(pk=int(point), links__document=document).first()
    page = Paginator(entries, ROWS).get_page(request.GET.get("page"))
    logins = sees_logins(request.user)
    context = {
        "document": document,
        "runs_seen": may(request.user, Action.VIEW_RUNS, document),
        "page": page,
        "only": only,
        "rows": [{"entry": entry, "changes": changes_of(entry, logins)} for entry in page.object_list],
        "kinds": [{"code": code, "label": label, "current": code == kind} for code, label in KINDS.items()],
    }
    return render(request, "documents/history.html", context)


def changes_of(entry: Entry, logins: bool = True) -> list[tuple[str, str, str]]:
    """Label, before, after of what differs; a thing that was added has nothing before."""
    before, after = dict(entry.before or {}), dict(entry.after or {})
    if not logins:
        before, after = without_login(before), without_login(after)
    if not before:
        typed = after.get("typed")
        return [(_NAMES["typed"], _value("typed", None), _value("typed", typed))] if typed else []
    names = [name for name in {**before, **after} if name in after and before.get(name) != after.get(name)]
    return [(_NAMES.get(name, name), _value(name, before.get(name)), _value(name, after.get(name))) for name in names]


def _value(name: str, value: Any) -> str:
    if name == "auth_type" and not (str(value or 0).isascii() and str(value or 0).isdigit()):
        return str(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shown_value(name, value)
