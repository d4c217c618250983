"""Owns: which help page belongs to which screen. Does not: know the pages (crawler.help_views shows them).

Called by: context, for the link Help in the head of every page. A screen without a line leads to the first page.
"""

from collections.abc import Mapping
from typing import Any

_NAMES = {
    "in-tray": ("home",),
    "notices": ("my-notices", "notice-defaults", "webhooks"),
    "preferences": ("me", "preferences", "password", "me-views", "own-sessions"),
    "documents": (
        "documents", "document", "document-edit", "document-new", "documents-import", "document-runs", "document-pages",
        "document-notes",
    ),
    "crawl-points": (
        "crawl-points", "crawl-points-import", "crawl-points-import-job", "exclude-urls", "exclude-urls-import",
        "document-history", "crawl-points-bulk", "points", "points-bulk",
    ),
    "dialog": ("crawl-point-new", "crawl-point-edit", "crawl-point-look"),
    "tester": ("crawl-points-test",),
    "preview": ("previews", "preview"),
    "launch": ("launch", "request-crawl"),
    "runs": ("crawls", "run", "run-tab", "run-cancel", "run-leave-out", "run-compare-choose"),
    "compare": ("run-compare",),
    "page": ("run-page",),
    "findings": ("run-findings",),
    "reports": ("reports", "report"),
    "schedules": ("schedules", "schedule-edit"),
    "search": ("search", "search-result", "search-advanced"),
    "search-curation": ("curation", "curation-rule"),
    "search-tools": ("search-ranking", "search-missing"),
    "propagation": ("propagation", "propagation-new", "propagation-board", "propagation-rollback",
                    "propagation-rollforward"),
    "word-index": ("index-word", "index-page"),
    "settings": ("settings", "networks", "launching", "crawl-defaults"),
    "people": ("people", "person-new", "person-edit", "projects", "project-edit"),
    "machines": ("workers", "status", "error-log"),
    "api-keys": ("api-keys", "api-docs", "people-keys"),
}  # fmt: skip
# Screens that are several: by the argument of their address, or by what stands behind its question mark.
TABS = ("pages", "urls", "hosts", "errors", "changes", "tree", "log", "settings")
REPORTS = (
    "coverage", "activity", "hosts", "errors", "broken-links", "changes", "schedules", "exclusions", "search-use",
    "propagation", "audit",
)  # fmt: skip
PARTS: dict[str, tuple[str, dict[str, str]]] = {
    "run-tab": ("tab", {tab: f"run-{tab}" for tab in TABS}),
    "report": ("name", {name: f"report-{name}" for name in REPORTS}),
    "crawls": ("tab", {"calendar": "calendar"}),
}
TOPICS = {name: topic for topic, names in _NAMES.items() for name in names}  # by the name of the URL


def topic_of(screen: str, values: Mapping[str, Any]) -> str:
    """The page for a screen; `values` are the arguments and the query of its address. Empty where there is none."""
    name, topics = PARTS.get(screen, ("", {}))
    return topics.get(str(values.get(name, ""))) or TOPICS.get(screen, "")
