"""Every address x every kind of person x GET and POST against the reviewed table in matrix.py (threats T13, T14)."""

import re
from typing import Any

import pytest
from django.test import Client

from tests.accounts.matrix import OPEN, PEOPLE, QUERIES, REST, ROOMS, ROWS, SHUT
from tests.accounts.routes import Route, arguments, everybody, project_one, routes, undone, writes

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
HOW = (
    "\nThis route has no row in tests/accounts/matrix.py. Add one line to ROWS there:\n"
    '    "{name}": (VIEW, NO),      # what GET gets, what POST gets; the patterns stand above ROWS\n'
    "Address: {pattern}"
)
ARGUMENT = "\n{pattern}: add a line for {missing} to arguments() in tests/accounts/routes.py (a row of `document`)"
_LETTERS = {404: "N", 405: "X", 403: "R", 401: "D"}


def row(route: Route) -> tuple[str, str, dict[str, Any]]:
    for room, (get, post) in ROOMS.items():
        if route.name.startswith(room) and route.name not in ROWS:
            return get, post, {}
    if route.name not in ROWS:
        pytest.fail(HOW.format(name=route.name or "a-name", pattern=route.pattern))
    get, post, *data = ROWS[route.name]
    return get, post, data[0] if data else {}


def outcome(response: Any) -> str:
    if response.status_code == 302 and response.url.startswith("/sign-in/"):
        return "D"
    return _LETTERS.get(response.status_code, "!" if response.status_code >= 500 else "Y")


@pytest.fixture(scope="module")
def known() -> list[Route]:
    """Routes of ours and of the libraries' rooms, each once."""
    return list({route.name: route for route in routes()}.values())


@pytest.fixture
def world() -> tuple[dict[str, Any], dict[str, Any]]:
    own, other = project_one()
    people = everybody(own, other)
    return people, arguments(people, own)


def browser(people: dict[str, Any], person: str, **options: Any) -> Client:
    client = Client(raise_request_exception=False, **options)
    if person != "visitor":
        client.force_login(people[person])
    return client


def again(client: Client, **options: Any) -> Client:
    """The same browser before it did anything: signing in anew for each address took half of the time."""
    other = Client(raise_request_exception=False, **options)
    other.cookies.load({name: cookie.value for name, cookie in client.cookies.items()})
    return other


def send(client: Client, route: Route, method: str, address: str, sent: dict[str, Any]) -> Any:
    if not sent:
        return client.generic(method, address)
    as_json = {"content_type": "application/json"} if route.name.startswith("api-") else {}
    return client.post(address, sent, **as_json)


def reachable(route: Route) -> bool:
    """Admin pages with arguments of their own (object ids, app labels) are judged by their door, not one by one.

    A route without a row fails in the first test below, and only there.
    """
    of_a_room = route.name.startswith(tuple(ROOMS))
    return route.name in ROWS or (of_a_room and not route.arguments)


def test_every_route_has_a_row_and_every_row_a_route(known: list[Route]) -> None:
    nameless = [route.pattern for route in routes() if not route.name and "admin/" not in route.pattern]
    assert nameless == [], "give these routes a name and a row in tests/accounts/matrix.py"
    for route in known:
        if route.name:
            row(route)
    gone = set(ROWS) - {route.name for route in known}
    assert gone == set(), "these rows of tests/accounts/matrix.py have no route any more"
    wrong = [name for name, (get, post, *_) in ROWS.items() if len(get) != len(PEOPLE) or len(post) != len(PEOPLE)]
    assert wrong == []


def test_every_argument_of_an_address_is_filled_with_a_real_row(known: list[Route], world: Any) -> None:
    _, given = world
    for route in known:
        if missing := [name for name in route.arguments if reachable(route) and name not in given]:
            pytest.fail(ARGUMENT.format(pattern=route.pattern, missing=missing))


@pytest.mark.parametrize("person", PEOPLE)
def test_everybody_gets_at_every_address_what_the_table_says(known: list[Route], world: Any, person: str) -> None:
    """And no GET changes a row; nor does a POST that is refused."""
    people, given = world
    place, arrived = PEOPLE.index(person), browser(people, person)
    wrong = []
    for route in filter(reachable, known):
        get, post, data = row(route)
        path = route.path(given)
        for method, expected, sent in (("GET", get, {}), ("POST", post, data)):
            address = path + QUERIES.get(route.name, "") if method == "GET" else path
            with undone():
                client = again(arrived)
                with writes() as written:
                    found = outcome(send(client, route, method, address, sent))
            if found != expected[place] and not (expected[place] == "X" and found in "XNR"):
                wrong.append(f"{method} {address} ({route.name}): {person} expected {expected[place]}, got {found}")
            if written and (method == "GET" or found in "NRXD"):
                wrong.append(f"{method} {address} ({route.name}): {person} wrote {written[0]}")
    assert wrong == [], "\n".join(["", *wrong])


def test_the_other_methods_exist_only_where_the_table_says(known: list[Route], world: Any) -> None:
    people, given = world
    wrong, arrived = [], browser(people, "superuser")
    for route in filter(reachable, known):
        for method in ("PUT", "PATCH", "DELETE", "TRACE"):
            with undone():
                client = again(arrived)
                with writes() as written:
                    response = client.generic(method, route.path(given))
            if method in REST.get(route.name, ()):
                continue
            # A page of the admin answers any method as it answers GET.
            answered = response.status_code < 300 and not route.name.startswith(tuple(ROOMS))
            if written or answered:
                wrong.append(f"{method} {route.name}: {response.status_code} {written[:1]}")
    assert wrong == [], "\n".join(["", *wrong])


def test_whatever_changes_something_demands_the_token_of_its_form(known: list[Route], world: Any) -> None:
    people, given = world
    asked, arrived = 0, browser(people, "superuser")
    for route in filter(reachable, known):
        _, post, _data = row(route)
        if post == SHUT:
            continue
        client = again(arrived, enforce_csrf_checks=True)
        for method in ("POST", *REST.get(route.name, ())):
            with undone(), writes() as written:
                response = client.generic(method, route.path(given))
            assert response.status_code in (403, 404), (method, route.name, response.status_code)
            assert not written, (method, route.name)
            asked += 1
    assert asked > 40


def test_a_visitor_is_sent_to_the_door_by_every_method_but_at_the_open_addresses(
    known: list[Route], world: Any
) -> None:
    _, given = world
    shut = [route for route in known if reachable(route) and row(route)[0] not in (OPEN, SHUT)]
    for route in shut:
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
            response = Client(raise_request_exception=False).generic(method, route.path(given))
            assert outcome(response) == "D", (method, route.name, response.status_code)
            assert response["Cache-Control"] == "no-store", (method, route.name)
    assert len(shut) > 40


def test_no_view_is_exempt_from_the_csrf_token() -> None:
    assert [route.pattern for route in routes() if getattr(route.view, "csrf_exempt", False)] == []


def test_a_forged_host_is_refused_at_every_address(known: list[Route], world: Any) -> None:
    """Threat T17."""
    people, given = world
    client = browser(people, "administrator")
    for route in filter(reachable, known):
        response = client.get(route.path(given), headers={"Host": "evil.example"})
        assert response.status_code == 400, route.name
        assert "evil.example" not in response.content.decode(), route.name


def test_every_page_is_strict_and_what_a_person_sees_is_stored_by_no_cache(known: list[Route], world: Any) -> None:
    """Threats T31 and T33."""
    people, given = world
    client = browser(people, "superuser")
    for route in filter(reachable, known):
        response = client.get(route.path(given))
        policy = response["Content-Security-Policy"]
        assert "frame-ancestors" in policy or "sandbox" in policy, route.name
        assert response["Cache-Control"] == "no-store", route.name
        assert "Cookie" in response["Vary"], route.name
        assert response["X-Content-Type-Options"] == "nosniff", route.name
        assert response["X-Frame-Options"] in ("DENY", "SAMEORIGIN"), route.name
        assert response["Referrer-Policy"] in ("same-origin", "no-referrer"), route.name


def test_no_link_to_another_site_hands_over_the_window(known: list[Route], world: Any) -> None:
    """Threat T33."""
    people, given = world
    client = browser(people, "administrator")
    for route in filter(reachable, known):
        response = client.get(route.path(given))
        if "html" not in response.get("Content-Type", "") or response.streaming:
            continue
        for link in re.findall(r"<a [^>]*(?<!-)\btarget=[^>]*>", response.content.decode()):
            assert "noopener" in link, (route.name, link)
