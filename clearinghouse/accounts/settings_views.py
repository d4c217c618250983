"""Owns: the first page of the settings, and the networks (shown, not edited). Does not: know other screens but by name.

Called by: urls.
"""

from ipaddress import ip_network
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse import env

from ..web.base_context import address_named
from .policies import Action, may, require


class Screen(NamedTuple):
    name: str  # of its URL; a screen that is not installed is left out
    label: str
    summary: str
    action: Action = Action.ADMINISTER


GROUPS: dict[str, tuple[Screen, ...]] = {
    "People": (
        Screen("people", "People", "Who may sign in, as what, in which projects.", Action.MANAGE_PEOPLE),
        Screen("people-keys", "API keys", "Keys with which programs work in the names of people."),
        Screen("projects", "Projects", "Groups of documents and the people who look after them."),
        Screen("launching", "Who may launch", "Whether content developers and project managers launch, too."),
    ),
    "Crawling": (
        Screen("crawl-defaults", "Crawl defaults", "Depth, maximum pages and speed that new entries begin with."),
        Screen("schedules", "Schedules and quiet hours", "Crawls that begin by themselves, and when none may run."),
        Screen("networks", "Allowed networks", "What the crawler may reach besides the public web."),
        Screen("notice-defaults", "Notices", "How people get notices who have not chosen themselves."),
        Screen("webhooks", "Webhooks", "Addresses of other programs that receive events."),
    ),
    "Machines": (
        Screen("propagation", "Targets", "The three servers that results are propagated to."),
        Screen("workers", "Workers and queue", "Which processes run, what they do, what waits."),
        Screen("error-log", "Error log", "Faults of ours, newest first, with their traceback."),
        Screen("status", "System status", "Databases, tables, Redis, workers, the tick, disk, clock, versions."),
        Screen("admin:index", "Tables", "Single rows, for what has no page of its own."),
    ),
    "Public search": (
        Screen("curation", "Search curation", "Synonyms, stopwords, and pages to recommend.", Action.CURATE),
        Screen(
            "search-missing",
            "Why is this page not in search?",
            "Which step keeps an address out of search.",
            Action.CURATE,
        ),
    ),
}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Everything for administrators; project managers find their people."""
    require(request.user, Action.MANAGE_PEOPLE)
    groups = []
    for title, screens in GROUPS.items():
        shown = [(address_named(one.name), one) for one in screens if may(request.user, one.action)]
        if found := [(address, one) for address, one in shown if address]:
            groups.append((title, found))
    return render(request, "accounts/settings_index.html", {"groups": groups})


class Network(NamedTuple):
    text: str
    problem: str


@require_safe
def networks(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    context = {
        "networks": [Network(word, _problem(word)) for word in env.words("ALLOWED_NETWORKS")],
        "ports": env.words("ALLOWED_PORTS"),
    }
    return render(request, "accounts/networks.html", context)


def _problem(word: str) -> str:
    """A word that is no network is a name with a port, or a mistake."""
    try:
        ip_network(word, strict=False)
    except ValueError:
        host, _, port = word.rpartition(":")
        return "" if host and port.isdigit() else "This is neither a network nor an address with a port"
    return ""
