"""The door to the other tabs of a run; each is a module beside this one."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ..views.run_access import run_or_404
from ..views.run_page import tab_frame
from .tab_changes import changes
from .tab_errors import errors
from .tab_hosts import hosts
from .tab_log import announced, log
from .tab_settings import settings
from .tab_tree import tree
from .tab_urls import pages, urls


@require_safe
def tab(request: HttpRequest, run_id: int, tab: str) -> HttpResponse:
    if tab not in _TABS:
        raise Http404("No such tab")
    if tab == "log" and "since" in request.GET and "HX-Request" in request.headers:
        return announced(request, *run_or_404(request, run_id))
    run, docs, context = tab_frame(request, run_id, tab)
    template, fill = _TABS[tab]
    return render(request, template, context | fill(request, run, docs, context))


_TABS = {
    "pages": ("runs/run_pages.html", pages),
    "urls": ("runs/run_urls.html", urls),
    "hosts": ("runs/run_hosts.html", hosts),
    "errors": ("runs/run_errors.html", errors),
    "changes": ("runs/run_changes.html", changes),
    "tree": ("runs/run_tree.html", tree),
    "log": ("runs/run_log.html", log),
    "settings": ("runs/run_settings.html", settings),
}
