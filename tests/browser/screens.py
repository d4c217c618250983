"""Owns: every page there is, from the URL configuration, with rows of the demo in the addresses.

Does not: decide who may open a page; that is tests/access. Called by: the tests that look at all pages.

A new route appears here by itself. One whose argument is not among ARGUMENTS below needs a line there; one that
answers with something else than a page needs a line in NO_PAGE.
"""

import re
from collections.abc import Iterator
from typing import Any

from tests.accounts.matrix import NO, ROWS, SHUT
from tests.accounts.routes import Route, routes
from tests.flow.house import House

# Django's own rooms are not ours to draw; programs read the API.
LEFT_OUT = re.compile(r"^(?:admin|django_rq):|^api-(?!docs$|keys$)")
ROOMS = ("/settings/admin/", "/static/")
# What answers GET with a file, a fragment of a page, or by sending on.
NO_PAGE = re.compile(
    r"-export$|-live$|-csv$|^run-page-copy$|^search-cached$|^search-opensearch$|^search-feed$|^search-suggest$"
    r"|^search-opened$|^changes-feed$|^crawl-points-running$|^healthz$|^readyz$|^metrics$"
    r"|^request-crawl$"  # for developers; opened in their test
    r"|^documents-choose$|^run-compare-choose$|^crawl-point-look$"
)
QUERIES = {
    "search": "?q=quality",
    "index-word": "?w=quality",
    "search-ranking": "?q=quality",
    "search-missing": "?url=http://127.0.0.1:9/about.html",
    "crawl-points-test": "?url=http://127.0.0.1:9/about.html",
}
TABS = ("pages", "urls", "hosts", "errors", "changes", "tree", "log", "settings")
REPORTS = (
    "coverage", "activity", "hosts", "errors", "broken-links", "changes", "schedules", "exclusions", "search-use",
    "propagation", "audit",
)  # fmt: skip
TOPICS = ("crawl-points", "findings")  # all are built alike
# Rows of the demo after a crawl and a propagation (0: the test looks for one); several open a page each.
ARGUMENTS: dict[str, Any] = {
    "doc_id": 2,
    "point_id": 1,
    "run_id": 2,
    "other_id": 1,
    "entry_id": 0,
    "generation": 1,
    "published_id": 0,
    "page_id": 0,
    "user_id": 2,
    "project_id": 1,
    "preview_id": 0,
    "tab": TABS,
    "topic": TOPICS,
    "name": REPORTS,
    "note_id": 1,
    "schedule_id": 0,
    "rule_id": 0,
    "import_id": 0,
}

IMPORT = """
from clearinghouse.library.models import Document
from crawlpoints.imports import import_steps
row = import_steps.ask(Document.objects.get(pk={doc_id}), ["url,depth_limit\\n", *{lines!r}], "administrator")
while row.state != import_steps.State.READ:
    import_steps.carry_out(row.pk)
    row.refresh_from_db()
print(row.pk)
"""


def read_import(house: House, doc_id: int, *lines: str) -> int:
    """A long import of these lines that waits for a decision; whoever shares the house cancels it."""
    done = house.run("shell", "-v", "0", "-c", IMPORT.format(doc_id=doc_id, lines=[f"{line}\n" for line in lines]))
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def pages() -> list[tuple[Route, dict[str, Any]]]:
    """Every route of ours that shows a page, with each set of values its address may have."""
    found = {}
    for route in routes():
        if _is_page(route):
            for values in _values(route):
                found[route.path(values)] = (route, values)
    return list(found.values())


def addresses(known: dict[str, Any]) -> list[str]:
    """known: rows found on the spot."""
    return [
        route.path(values | {name: known[name] for name in route.arguments if name in known})
        + QUERIES.get(route.name, "")
        for route, values in pages()
    ]


def _is_page(route: Route) -> bool:
    if LEFT_OUT.search(route.name) or NO_PAGE.search(route.name) or route.pattern.startswith(ROOMS):
        return False
    get = ROWS.get(route.name, (None,))[0]
    return get not in (NO, SHUT)


def _values(route: Route) -> Iterator[dict[str, Any]]:
    missing = [name for name in route.arguments if name not in ARGUMENTS]
    assert not missing, f"{route.pattern}: tests/browser/screens.py needs a value for {missing}, or NO_PAGE this route"
    many = [name for name in route.arguments if isinstance(ARGUMENTS[name], tuple)]
    single = {name: ARGUMENTS[name] for name in route.arguments if name not in many}
    if not many:
        yield single
    for name in many[:1]:
        for value in ARGUMENTS[name]:
            yield single | {name: value}
