"""Help: a few short pages for the people who enter crawl points. Open to everyone."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from .reasons import every_reason

_MAIN = {
    "in-tray": ("In Tray", "Your tasks, the running crawls, and your notices."),
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
    "word-index": ("Word index", "Which pages hold a word, how often and where; the words and links of a page."),
    "search-curation": ("Search curation", "Synonyms, stopwords, and pages to recommend."),
    "search-tools": ("Rankings and missing pages", "Why a result has its place, and why a page is not found."),
    "propagation": ("Propagation", "How results reach the public servers, and how to go back."),
    "notices": ("Notices", "Which notices you get, how, and how to turn them off."),
    "preferences": ("Preferences", "Colours, keys, rows of a page, your password."),
    "settings": ("Settings", "What administrators choose for everybody."),
    "people": ("People and projects", "Who may sign in, as what, and what they see."),
    "machines": ("When something is wrong", "Workers and queue, system status, error log."),
    "api-keys": ("Keys for programs", "How a program works in your name."),
}

# Each tab of a run and each report has a page of its own.
_RUNS = {
    "run-pages": ("Run: Pages", "What a run stored, and what of it is new."),
    "run-urls": ("Run: URLs", "Every address that was found, what became of it, and why."),
    "run-hosts": ("Run: Hosts", "The pages of each site, and what kept the crawler from more of them."),
    "run-errors": ("Run: Errors", "What failed, those of one kind together."),
    "run-changes": ("Run: Changes", "What differs from the crawl before."),
    "run-tree": ("Run: Tree", "The folders of the sites, and how pages were found."),
    "run-log": ("Run: Log", "What happened in a run, newest first."),
    "run-settings": ("Run: Settings used", "The settings as they were when the run was launched."),
    "compare": ("Two runs compared", "What one run has that the other has not."),
    "calendar": ("Calendar", "What is planned in a month."),
}
_REPORTS = {
    "report-coverage": ("Report: Coverage", "Which documents are fresh, stale, never crawled?"),
    "report-activity": ("Report: Crawl activity", "What did the crawler do in this period?"),
    "report-hosts": ("Report: Hosts", "Where do pages, blocks and errors come from?"),
    "report-errors": ("Report: Errors", "What is broken, and for how long?"),
    "report-broken-links": ("Report: Broken links", "Which links lead nowhere, and on which pages are they?"),
    "report-changes": ("Report: Changes", "What changed on the web?"),
    "report-schedules": ("Report: Schedules", "What will run, and when?"),
    "report-exclusions": ("Report: Exclusions", "Which exclude URLs work?"),
    "report-propagation": ("Report: Propagation", "What is live where?"),
    "report-search-use": ("Report: Search use", "What do the public look for?"),
    "report-audit": ("Report: Audit", "Who changed what?"),
}
TOPICS = _MAIN | _RUNS | _REPORTS


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    parts = [("topics", "Topics", _MAIN), ("run-pages", "Pages of a run", _RUNS), ("each-report", "Reports", _REPORTS)]
    groups = [(key, heading, [(name, *words) for name, words in part.items()]) for key, heading, part in parts]
    return render(request, "help/index.html", {"groups": groups})


@require_safe
def topic(request: HttpRequest, topic: str) -> HttpResponse:
    if topic not in TOPICS:
        raise Http404("No such help page")
    beside = next(part for part in (_MAIN, _RUNS, _REPORTS) if topic in part)
    others = [(name, title) for name, (title, _) in beside.items() if name != topic]
    return render(request, f"help/{topic}.html", {"title": TOPICS[topic][0], "others": others, "reasons": every_reason})
