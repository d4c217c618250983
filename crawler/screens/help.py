"""Help: a few short pages for the people who enter crawl points. Open to everyone."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

TOPICS = {
    "in-tray": ("In Tray", "What needs you, what goes on, and what you were told."),
    "documents": ("Documents", "What a document is, how to find yours, and what its state words mean."),
    "crawl-points": ("Crawl points", "Where a crawl starts, how far it goes, and what it leaves out."),
    "dialog": ("The crawl point dialog", "What to enter, and what happens to it before and after saving."),
    "tester": ("Test a URL", "Would this address be crawled, and why not?"),
    "preview": ("Preview", "A few pages crawled with your settings; nothing is stored."),
    "launch": ("Launch crawl", "Which documents, how fast, how far, when."),
    "runs": ("Runs", "What happens during a crawl, and how to find out why an address was not crawled."),
    "page": ("A page", "Its text, source, links, path and versions."),
    "findings": ("Findings", "What the sentences after a crawl mean, and what can be done about each."),
    "reports": ("Reports", "How to read, filter and keep them."),
    "schedules": ("Planned crawls and quiet hours", "When crawls begin by themselves, and when none runs."),
    "search": ("Search", "How to find crawled pages, and what can be typed into the search box."),
    "propagation": ("Propagation", "How results reach the public servers, and how to go back."),
    "notices": ("Notices", "What you are told, how, and how to turn it off."),
    "preferences": ("Preferences", "Colours, keys, rows of a page, your password."),
    "settings": ("Settings", "What administrators choose for everybody."),
    "people": ("People and projects", "Who may sign in, as what, and what they see."),
    "machines": ("When something is wrong", "Workers and queue, system status, error log."),
    "api-keys": ("Keys for programs", "How a program works in your name."),
}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    topics = [(name, title, summary) for name, (title, summary) in TOPICS.items()]
    return render(request, "help/index.html", {"topics": topics})


@require_safe
def topic(request: HttpRequest, topic: str) -> HttpResponse:
    if topic not in TOPICS:
        raise Http404("No such help page")
    others = [(name, title) for name, (title, _) in TOPICS.items() if name != topic]
    return render(request, f"help/{topic}.html", {"title": TOPICS[topic][0], "others": others})
