"""Owns: HTTP of the screen Search curation: lists, add, update, delete, restore. Does not: change rules (services).

Project managers change the rules of their projects and read those of the whole house; administrators change all.
"""

import time
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from clearinghouse.accounts.forms import problems_of
from clearinghouse.accounts.policies import Action, NotAllowed, RoleScope, require, scope_of
from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.database.records import StaleRecord
from clearinghouse.library.models import Project
from clearinghouse.search.curation import services
from clearinghouse.search.models import SearchRule
from clearinghouse.web.listing import page_of

from ..models.rules import RuleKind
from .forms import LABELS, RuleForm

ROWS = 50
UNDO_SECONDS = 600
_UNDO = "curation-undo"


@require_http_methods(["GET", "HEAD", "POST"])
def curation(request: HttpRequest) -> HttpResponse:
    """The rules of one kind, and the form that adds one."""
    require(request.user, Action.CURATE)
    kind = _kind(request.POST.get("kind") or request.GET.get("kind", ""))
    form = _form(request, kind)
    if request.method == "POST":
        request.session.pop(_UNDO, None)
        if form.is_valid():
            rule = services.add(form.given())
            messages.success(request, f"Added {rule.words}. It applies within seconds.")
            return redirect(_list_url(kind))
    return _show(request, kind, form)


def _show(request: HttpRequest, kind: RuleKind, form: RuleForm) -> HttpResponse:
    rules = visible(request.user).filter(kind=kind)
    words, _, others, _ = LABELS[kind]
    context = {
        "kind": kind,
        "kinds": [(one.value, one.label, rules_of(request.user, one)) for one in RuleKind],
        "page": page_of(request, rules.filter(deleted=False).order_by("words", "id")),
        "mine": _mine(request.user),
        "words_label": words,
        "others_label": others,
        "form": form,
        "problems": problems_of(form) if form.is_bound else [],
        "deleted": [
            rule for rule in rules.filter(deleted=True).order_by("-changed_at")[:ROWS] if may(request.user, rule)
        ],
        "undo": _offered(request),
    }
    return render(request, "search/curation.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def rule(request: HttpRequest, rule_id: int) -> HttpResponse:
    """Update one."""
    found = rule_or_404(request.user, rule_id)
    form = _form(request, RuleKind(found.kind), found)
    context: dict[str, Any] = {"rule": found, "kind": RuleKind(found.kind)}
    if form.is_bound:
        request.session.pop(_UNDO, None)
    if form.is_bound and form.is_valid():
        try:
            services.update(found, form.given(), form.cleaned_data["version"] or 0)
        except StaleRecord:
            found.refresh_from_db(using=WEBCRAWL)
            data = request.POST.copy()
            data["version"] = str(found.version)
            context |= {"form": _form(request, RuleKind(found.kind), found, data), "theirs": found, "problems": []}
            return render(request, "search/curation_rule.html", context, status=409)
        messages.success(request, f"Saved {found.words}. It applies within seconds.")
        return redirect(_list_url(found.kind))
    context |= {"form": form, "problems": problems_of(form) if form.is_bound else []}
    return render(request, "search/curation_rule.html", context, status=422 if form.is_bound else 200)


@require_POST
def delete(request: HttpRequest, rule_id: int) -> HttpResponse:
    """One press, no question; Undo stays in the status region."""
    found = rule_or_404(request.user, rule_id)
    services.delete(found)
    undo = {"id": found.pk, "sentence": f"Deleted {found.words}.", "until": time.time() + UNDO_SECONDS}
    request.session[_UNDO] = undo
    return redirect(_list_url(found.kind))


@require_POST
def restore(request: HttpRequest, rule_id: int) -> HttpResponse:
    found = rule_or_404(request.user, rule_id)
    request.session.pop(_UNDO, None)
    if found.deleted:
        services.restore(found)
        messages.success(request, f"Restored {found.words}.")
    return redirect(_list_url(found.kind))


def _kind(text: str) -> RuleKind:
    return RuleKind(text) if text in RuleKind.values else RuleKind.SYNONYM


def _list_url(kind: str) -> str:
    return f"{reverse('curation')}?kind={kind}"


def _form(request: HttpRequest, kind: RuleKind, found: SearchRule | None = None, data: Any = None) -> RuleForm:
    bound = data if data is not None else request.POST if request.method == "POST" else None
    initial: dict[str, Any] = {name: request.GET.get(name, "")[:2048] for name in ("words", "others")}
    if found is not None:
        initial = services.kept(found) | {"where": str(found.project_id or ""), "version": found.version}
    return RuleForm(kind, projects_of(request.user), _everywhere(request.user), bound, initial=initial)


def _offered(request: HttpRequest) -> dict[str, Any] | None:
    undo: dict[str, Any] | None = request.session.get(_UNDO)
    if not undo or undo["until"] <= time.time():
        return None
    return undo | {"url": reverse("curation-restore", args=[undo["id"]])}


# ---- who may ----


def _everywhere(user: Any) -> bool:
    return scope_of(user, Action.CURATE) is RoleScope.ALL


def projects_of(user: Any) -> QuerySet[Project]:
    """The projects whose rules this person changes."""
    projects: QuerySet[Project] = Project.objects.order_by("name")
    return projects if _everywhere(user) else projects.filter(people=user.pk)


def _mine(user: Any) -> set[int | None]:
    mine: set[int | None] = set(projects_of(user).values_list("pk", flat=True))
    return mine | {None} if _everywhere(user) else mine


def visible(user: Any) -> QuerySet[SearchRule]:
    rules = SearchRule.objects.using(WEBCRAWL)
    if _everywhere(user):
        return rules
    mine = list(projects_of(user).values_list("pk", flat=True))
    return rules.filter(Q(project_id=None) | Q(project_id__in=mine))


def rules_of(user: Any, kind: RuleKind) -> int:
    return visible(user).filter(kind=kind, deleted=False).count()


def may(user: Any, found: SearchRule) -> bool:
    return _everywhere(user) or found.project_id in _mine(user)


def rule_or_404(user: Any, rule_id: int) -> SearchRule:
    """The rule, for who may change it; rules of other projects do not exist for a project manager."""
    require(user, Action.CURATE)
    found = visible(user).filter(pk=rule_id).first()
    if found is None:
        raise Http404("No such rule")
    if not may(user, found):
        raise NotAllowed(Action.CURATE)
    return found
