"""Request a crawl of a document; answer a request by launching or declining; claim a task of the In Tray."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.accounts.sign_in.visitor_address import safe_next
from crawler.errors import AllBusy, NothingToCrawl, WrongMoment
from crawler.inbox.views import tasks_of
from crawler.models import CrawlRequest

from .. import crawl_requests


class RequestForm(forms.Form):
    when = forms.CharField(
        label="When", required=False, max_length=100,
        help_text="For example: after 1 December, or every Sunday night. Empty: as soon as possible.",
    )  # fmt: skip
    note = forms.CharField(
        label="Note", required=False, max_length=380, help_text="Why it should be crawled. The administrators see it."
    )


@require_http_methods(["GET", "HEAD", "POST"])
def request_crawl(request: HttpRequest, doc_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id, Action.REQUEST)
    form = RequestForm(request.POST or None)
    waiting = crawl_requests.waiting_for(doc_id)
    if request.method == "POST" and form.is_valid():
        try:
            crawl_requests.ask(
                document, request.user.get_username(), form.cleaned_data["note"], form.cleaned_data["when"]
            )
        except (NothingToCrawl, WrongMoment) as refusal:
            messages.info(request, f"{refusal}.")
        else:
            messages.success(
                request, f"A crawl of {document.title} is requested. You will get a notice when it is answered."
            )
        return redirect("crawl-points", doc_id)
    problems = [(f"id_{name}", text) for name, errors in form.errors.items() for text in errors]
    context = {"document": document, "form": form, "waiting": waiting, "problems": problems}
    context["possible"] = crawl_requests.may_be_asked(document)
    return render(request, "launching/request.html", context, status=422 if problems else 200)


@require_POST
def answer(request: HttpRequest, request_id: int) -> HttpResponse:
    """Who may launch this document answers: launch or decline."""
    asked = CrawlRequest.objects.filter(pk=request_id).first()
    if asked is None:
        raise Http404("No such request")
    document_or_404(request.user, asked.doc_id, Action.LAUNCH)
    name, text = request.user.get_username(), request.POST.get("answer", "").strip()
    if request.POST.get("do") not in ("launch", "decline"):
        raise Http404("No such answer")
    try:
        if request.POST["do"] == "launch":
            run = crawl_requests.launch(asked, name, text)
            messages.success(request, f"Run {run.pk} was launched, as {asked.asked_by} asked.")
            return redirect("run", run.pk)
        crawl_requests.decline(asked, name, text)
        messages.success(request, f"Declined; {asked.asked_by} gets a notice.")
    except (AllBusy, NothingToCrawl, WrongMoment) as refusal:
        messages.error(request, f"{str(refusal).rstrip('.')}. The request is as it was.")
    return redirect("home")


@require_POST
def claim(request: HttpRequest) -> HttpResponse:
    """Only tasks the person sees; claiming takes a task over, releasing gives one's own back."""
    name = request.POST.get("task", "")
    if name not in {task.name for task in tasks_of(request)}:
        raise Http404("No such task")
    who: Any = request.user.get_username()
    if request.POST.get("release"):
        crawl_requests.release(name, who)
    else:
        crawl_requests.claim(name, who)
    return HttpResponseRedirect(safe_next(request.POST.get("next", ""), "/"))
