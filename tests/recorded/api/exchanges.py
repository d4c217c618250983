"""Owns: requests to every operation and their answers: one that is good, and those that are to be refused."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.recorded.api import contract
from tests.recorded.api.good_requests import GOOD, Good
from tests.recorded.api.refusals import refusals
from tests.recorded.api.requests import Programs
from tests.recorded.world import World, world

_ARGUMENT = re.compile(r"\{(\w+)\}")
_OF_ALL = "api/every-address.json"
_PAGE = b"<title>Open</title><a href=/open/more>More</a> <a href=/elsewhere>Elsewhere</a>"
Requests = dict[str, dict[str, dict[str, Any]]]  # file -> what it is -> request


def record(before: dict[str, Any]) -> dict[str, Any]:
    """The requests of the record of before, or, where there is none, of what the OpenAPI document names."""
    from tests.accounts.routes import undone
    from tests.sites.forms import serve

    with world() as one, serve(open_pages={"/open/": _PAGE}) as site, no_limit_of_requests():
        programs = Programs(one.people, site.address)
        asked = _recorded(before) or _made(one)
        found: dict[str, Any] = {}
        for file, requests in asked.items():
            found[file] = {}
            for name, request in requests.items():
                with undone():
                    found[file][name] = {"request": request, "answer": programs.ask(request)}
        found[_OF_ALL] = _of_all(programs)
    return found


def _recorded(before: dict[str, Any]) -> Requests:
    return {
        file: {name: exchange["request"] for name, exchange in exchanges.items()}
        for file, exchanges in before.items()
        if file != _OF_ALL
    }


def _made(one: World) -> Requests:
    found: Requests = {}
    for key, operation in contract.told(one)["operations"].items():
        method, path = key.split()
        name = _ARGUMENT.sub(r"\1", path).strip("/").replace("/", "-")
        found.setdefault(f"api/{name}.json", {}).update(_of_operation(one, method, path, operation))
    return found


def _of_operation(one: World, method: str, path: str, operation: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    good = GOOD.get(f"{method} {path}", Good())
    given = one.given | {"other_doc_id": one.other_document.pk}
    given |= {name: given[other] for name, other in good.given.items()}
    request: dict[str, Any] = {"as": good.person, "method": method, "path": _filled(path, given)}
    if good.query:
        request["path"] += f"?{good.query}"
    if good.body is not None:
        request["body"] = _filled(good.body, given)
    if good.first:
        request["first"] = _filled([list(one) for one in good.first], given)
    yield f"{method} a good request", request
    values = tuple(str(given[name]) for name in _ARGUMENT.findall(path))
    for name, refused in refusals(request, operation, values):
        yield f"{method} {name}", refused


def _filled(value: Any, given: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(inner, given) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, given) for inner in value]
    if not isinstance(value, str):
        return value
    if (whole := _ARGUMENT.fullmatch(value)) and whole[1] in given:
        return given[whole[1]]
    return _ARGUMENT.sub(lambda found: str(given.get(found[1], found[0])), value)


@contextmanager
def no_limit_of_requests(most: int = 10**9) -> Iterator[None]:
    """The record asks more in a minute than a person may."""
    from crawler.api import api_dispatch

    usual, api_dispatch._RATE = api_dispatch._RATE, api_dispatch.Rate(most)
    try:
        yield
    finally:
        api_dispatch._RATE = usual


def _of_all(programs: Programs) -> dict[str, Any]:
    request = {"as": "administrator", "method": "GET", "path": "/me/"}
    wrong = {"as": "administrator", "method": "PUT", "path": "/me/"}
    nothing = {"as": "administrator", "method": "GET", "path": "/nothing/"}
    long = {"as": "administrator", "method": "POST", "path": "/runs/", "letters": 6_000_000}
    found = {
        "a body longer than the server reads": {"request": long, "answer": programs.ask(long)},
        "another method": {"request": wrong, "answer": programs.ask(wrong)},
        "no such address": {"request": nothing, "answer": programs.ask(nothing)},
    }
    with no_limit_of_requests(0):
        found["more requests than a person may send"] = {"request": request, "answer": programs.ask(request)}
    return found
