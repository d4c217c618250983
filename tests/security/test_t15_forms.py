"""Threat T15, of what is sent: whatever stands in a form, a query or an address is answered in words, never by a fault
of ours. Which fields a screen reads is found by looking on while it reads them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

from crawlpoints import saved_views
from crawlpoints.queries import excludes_of
from tests.accounts.routes import Route, arguments, everybody, project_one, routes, undone
from tests.accounts.test_routes import browser, reachable

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
LONG = "9" * 30  # of digits: more than a column of numbers holds
WORDS = (LONG, "\0", "%00", "٣", "0" * 5_000)
ROUNDS = 3  # a field may be read only when another one has a value


@contextmanager
def read_names() -> Iterator[set[str]]:
    """The names that are asked for in what was sent."""
    names: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        for method in ("__getitem__", "get", "getlist", "__contains__"):
            for kind in (QueryDict, MultiValueDict):
                if method in vars(kind) or kind is MultiValueDict:
                    patch.setattr(kind, method, _watched(getattr(kind, method), names))
        yield names


def _watched(method: Any, names: set[str]) -> Any:
    def asked(self: Any, name: Any, *more: Any, **options: Any) -> Any:
        if isinstance(self, QueryDict) and isinstance(name, str):
            names.add(name)
        return method(self, name, *more, **options)

    return asked


def test_t15_no_word_in_a_form_or_a_query_is_a_fault_of_ours(db: Any) -> None:
    own, other = project_one()
    people = everybody(own, other)
    given = arguments(people, own)
    client = browser(people, "administrator")
    listed = [one for one in routes() if one.name and reachable(one) and one.name not in ("sign-out", "sign-in")]
    assert len(listed) > 100
    bad = [found for route in listed for found in _faults(client, route, given)]
    assert bad == []


def _faults(client: Any, route: Route, given: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for method in ("get", "post"):
        names: set[str] = set()
        for word in ("1", *WORDS):
            for _ in range(ROUNDS if word == "1" else 1):
                with undone(), read_names() as read:
                    sent = dict.fromkeys(
                        [*sorted(names - {"csrfmiddlewaretoken"}), "something"], word
                    )  # an empty form is none
                    response = getattr(client, method)(route.path(given), sent)
                if response.status_code >= 500 and response.status_code != 503:
                    yield route.name, method, word[:40], str(response.status_code)
                if read <= names:
                    break
                names |= read
            if not names:
                break


@pytest.mark.parametrize("query", ["%0%000", "%00", "%2500", "%0%0%00000", "a=%0%000&%0%000=1"])
def test_t15_no_way_of_writing_the_character_nul_gets_through(rf: Any, query: str) -> None:
    from clearinghouse.web.middleware import WithoutNul

    request = rf.get("/documents/")
    request.META["QUERY_STRING"] = query
    WithoutNul(lambda request: request)(request)
    assert "\0" not in "".join(name + value for name, value in request.GET.items())


def _asks_without_nul(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
    """As PostgreSQL would: a text with this character is refused there."""
    rows = (params or ()) if many else [params or ()]
    assert not [value for row in rows for value in row if isinstance(value, str) and "\0" in value], sql
    return execute(sql, params, many, context)


def test_t15_nor_by_a_file_a_filter_within_an_address_or_a_cookie(
    signed_in: Any, administrator: Any, document: Any, client: Any
) -> None:
    browser = signed_in(administrator)
    saved_views.keep(administrator, "Mine", "q=a%00b")
    excludes = f"/documents/{document.pk}/exclude-urls/import/"
    with ExitStack() as stack:
        for alias in connections:
            stack.enter_context(connections[alias].execute_wrapper(_asks_without_nul))
        assert client.get("/documents/", HTTP_COOKIE='sessionid="\\000aaaaaaaaaaa"').status_code == 302
        assert browser.get("/crawl-points/?among=q%3Da%2500b").status_code == 200
        assert browser.get("/documents/").status_code == 200
        for path, text in (
            (excludes, "http://a.example/x\0y*"), (excludes, "exclude_url\nhttp://b.example/x\0y*"),
            ("/documents/import/", "title,assigned_to\nA title,some\0body"),
        ):  # fmt: skip
            for do in ("look", "import"):
                sent = {"file": SimpleUploadedFile("list.csv", text.encode()), "do": do}
                assert browser.post(path, sent).status_code in (200, 302, 422), path
    assert {one.pattern for one in excludes_of(document)} == {"http://a.example/xy*", "http://b.example/xy*"}


def test_t15_addresses_with_numbers_no_row_has_are_not_found(db: Any) -> None:
    own, other = project_one()
    people = everybody(own, other)
    client = browser(people, "administrator")
    given = arguments(people, own)
    for route in routes():
        if (
            route.name
            and reachable(route)
            and (numbers := [one for one in route.arguments if isinstance(given.get(one), int)])
        ):
            response = client.get(route.path(given | dict.fromkeys(numbers, int(LONG))))
            assert response.status_code < 500, route.name
