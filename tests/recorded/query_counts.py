"""Owns: how many queries each page asks of each database, on one data set of two sizes.

A page is asked twice, and the second time counts: what a process keeps is warm by then. Where three times the rows ask
as much, one number stands; else both.
"""

from typing import Any

from django.core.cache import cache

from tests.recorded.growing import grow
from tests.recorded.world import World, world

FILE = "query-counts.json"
PERSONS = ("administrator", "editor")
ROWS = 4  # how many rows more there are of each kind; three times as many in the larger one


def record(before: dict[str, Any]) -> dict[str, Any]:
    with world() as one:
        pages = {told["path"] for told in before.get(FILE, {}).values()} | set(_pages(one))
        grow(one, 0, ROWS)
        small = _counted(one, pages)
        grow(one, ROWS, 3 * ROWS)
        large = _counted(one, pages)
    return {FILE: {path: {"path": path} | _joined(small[path], large[path]) for path in sorted(pages)}}


def _pages(one: World) -> list[str]:
    """Every address that answers the administrator's GET with something."""
    from tests.recorded.statuses import asked_now

    client = _browser(one, "administrator")
    asked = [sent["path"] for key, sent in asked_now(one) if key.startswith("GET ")]
    return [path for path in asked if not path.startswith("/settings/queues/") and _status(client, path) == 200]


def _browser(one: World, person: str) -> Any:
    from tests.accounts.test_routes import browser

    return browser(one.people, person)


def _status(client: Any, path: str) -> int:
    from tests.accounts.routes import undone

    with undone():
        return int(client.get(path).status_code)


def _counted(one: World, pages: set[str]) -> dict[str, dict[str, dict[str, int] | None]]:
    clients = {person: _browser(one, person) for person in PERSONS}
    return {path: {person: _queries(client, path) for person, client in clients.items()} for path in sorted(pages)}


def _queries(client: Any, path: str) -> dict[str, int] | None:
    """By database; None where the person gets no page."""
    from django.db import connections
    from django.test.utils import CaptureQueriesContext

    from tests.accounts.routes import undone

    with undone():
        client.get(path)
        cache.clear()
        seen = {alias: CaptureQueriesContext(connections[alias]) for alias in connections}
        for one in seen.values():
            one.__enter__()
        answer = client.get(path)
        b"".join(answer.streaming_content) if answer.streaming else answer.content
        for one in seen.values():
            one.__exit__(None, None, None)
    counts = {alias: len(one) for alias, one in seen.items() if len(one)}
    return counts if answer.status_code == 200 else None


def _joined(small: Any, large: Any) -> dict[str, Any]:
    return {
        person: small[person] if small[person] == large[person] else {"n": small[person], "3n": large[person]}
        for person in PERSONS
    }
