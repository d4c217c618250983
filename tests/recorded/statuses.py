"""Owns: the status of every address for each of six people, by GET and by POST, and where it sends them.

The addresses of the record of before are asked again, and those that came since.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from tests.recorded.routes import shown
from tests.recorded.rules import settled_text
from tests.recorded.world import PEOPLE, World, world

FILE = "statuses.json"
Asked = dict[str, Any]  # {"path", and of a POST "body", "type"}


def record(before: dict[str, Any]) -> dict[str, Any]:
    with world() as one:
        asked = dict(asked_now(one)) | {key: told["asked"] for key, told in before.get(FILE, {}).items()}
        clients = {person: _signed_in(one, person) for person in PEOPLE}
        found = {key: {"asked": sent} | _answers(clients, key, sent) for key, sent in sorted(asked.items())}
    return {FILE: found}


def asked_now(one: World) -> Iterator[tuple[str, Asked]]:
    """Every route of the matrix, by method and address; names of routes and of their arguments do not matter."""
    from tests.accounts.matrix import QUERIES
    from tests.accounts.routes import routes
    from tests.accounts.test_routes import reachable, row

    for route in {route.name: route for route in routes()}.values():
        if not reachable(route):
            continue
        path, kind = route.path(one.given), shown(route.pattern)
        yield f"GET {kind}", {"path": path + QUERIES.get(route.name, "")}
        _, _, data = row(route)
        yield f"POST {kind}", {"path": path} | ({"body": data} if data else {})


def _signed_in(one: World, person: str) -> Any:
    from tests.accounts.test_routes import browser

    return browser(one.people, person)


def _answers(clients: dict[str, Any], key: str, sent: Asked) -> dict[str, Any]:
    return {person: _answer(client, key.split()[0], sent) for person, client in clients.items()}


def _answer(arrived: Any, method: str, sent: Asked) -> str:
    """The status, and where it leads."""
    from tests.accounts.routes import undone
    from tests.accounts.test_routes import again

    with undone():
        client = again(arrived)
        if "body" in sent:
            as_json = {"content_type": "application/json"} if sent["path"].startswith("/api/") else {}
            answer = client.post(sent["path"], sent["body"], **as_json)
        else:
            answer = client.generic(method, sent["path"])
    if "Location" not in answer:
        return str(answer.status_code)
    leads = urlsplit(answer["Location"])
    to = leads.path + (f"?{leads.query}" if leads.query else "") + (f"#{leads.fragment}" if leads.fragment else "")
    return settled_text(f"{answer.status_code} to {to}")
