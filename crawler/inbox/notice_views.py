"""One's own notifications: read, mute, and how each kind of event is told; the webhooks of projects."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from clearinghouse.accounts.policies import Action, may, require, role_of
from clearinghouse.accounts.sign_in.visitor_address import safe_next
from clearinghouse.library.models import Project
from clearinghouse.web.listing import number_in

from ..models import Delivery, Webhook, WebhookCall, Wish
from . import notices
from .notices import EVENTS

_CALLS = 5


@require_POST
def read(request: HttpRequest) -> HttpResponse:
    """One notice, or all of them: only one's own."""
    mine = Delivery.objects.filter(person_id=request.user.pk, read_at=None)
    if request.POST.get("delivery"):
        mine = mine.filter(pk=number_in(request.POST, "delivery"))
    mine.update(read_at=timezone.now())
    return HttpResponseRedirect(safe_next(request.POST.get("next", ""), "/"))


@require_POST
def mute(request: HttpRequest) -> HttpResponse:
    event = request.POST.get("event", "")
    if event not in EVENTS:
        raise Http404("No such event")
    notices.wish(request.user.pk, {event: Wish.How.MUTE})
    messages.success(
        request,
        f"No more notices of this kind: {EVENTS[event].label.lower()}. Preferences, Notices turns them on again.",
    )
    return HttpResponseRedirect(safe_next(request.POST.get("next", ""), "/"))


@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    if role_of(request.user) is None:
        raise Http404("No such page")
    person = request.user.pk
    if request.method == "POST":
        chosen = {event: request.POST.get(event, "") for event in EVENTS}
        notices.wish(person, {event: how for event, how in chosen.items() if how in Wish.How.values})
        messages.success(request, "Saved.")
        return redirect("my-notices")
    wishes = notices.wishes_of([person])
    all_of_them, common = may(request.user, Action.ADMINISTER), notices.usual()
    granted = {"request"} if may(request.user, Action.LAUNCH) else set()
    told = {event: one for event, one in EVENTS.items() if all_of_them or event in granted or not one.administrators}
    rows = [(event, one, wishes.get((person, event), common)) for event, one in told.items()]
    return render(request, "inbox/notice_settings.html", {"rows": rows, "ways": Wish.How.choices})


@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest) -> HttpResponse:
    """Where the events of a project are sent; administrators only."""
    require(request.user, Action.ADMINISTER)
    if request.method == "POST":
        return _save(request)
    hooks = {hook.project_id: hook for hook in Webhook.objects.all()}
    calls: dict[int, list[WebhookCall]] = {}
    recent = WebhookCall.objects.select_related("notice").order_by("-id")[: _CALLS * max(len(hooks), 1) * 4]
    for call in recent:
        calls.setdefault(call.webhook_id, []).append(call)
    rows = [_row(project, hooks.get(project.pk), calls) for project in Project.objects.all()]
    return render(request, "inbox/webhooks.html", {"rows": rows})


def _row(project: Project, hook: Webhook | None, calls: dict[int, list[WebhookCall]]) -> dict[str, Any]:
    return {"project": project, "hook": hook, "calls": calls.get(hook.pk, [])[:_CALLS] if hook else []}


def _save(request: HttpRequest) -> HttpResponse:
    project = Project.objects.filter(pk=number_in(request.POST, "project")).first()
    if project is None:
        raise Http404("No such project")
    problem = notices.set_webhook(project, request.POST.get("url", "").strip(), request.user.get_username())
    if problem:
        messages.error(request, problem)
    else:
        messages.success(request, f"Saved for {project.name}.")
    return redirect("webhooks")
