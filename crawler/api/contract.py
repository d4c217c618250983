"""Owns: what an operation is: its address, what it takes, what it may answer; the OpenAPI document is made from it.

Does not: check (request_fields) or answer (dispatch). Called by: crawler.api, the modules api of all subjects.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partialmethod
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest

from .request_fields import MOST_ROWS, number, switch
from .response_fields import JsonObject, Schema

PER_PAGE = 50
OF_DOCUMENT = "documents/<int:doc_id>/"
OF_RUN = "runs/<int:run_id>/"
OF_RUN_DOCUMENT = OF_RUN + "documents/<int:doc_id>/"
PAGING: dict[str, Schema] = {
    "page": number("Which page of the list, from 1", least=1, most=1_000_000),
    "rows": number("Rows of a page", least=1, most=MOST_ROWS),
}
DELETED: dict[str, Schema] = {"deleted": switch("The deleted ones instead")}
DOCUMENT_QUERY: dict[str, Schema] = {"document": number("Key of a document", least=1)}
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request, checked against its contract."""

    request: HttpRequest
    query: Mapping[str, Any]
    body: Mapping[str, Any]

    @property
    def user(self) -> Any:
        return self.request.user

    @property
    def by(self) -> str:
        return str(self.request.user.get_username())


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """For an answer with another status than the operation usually has."""

    body: Json
    status: int


Do = Callable[..., Json | ApiResponse]


@dataclass(frozen=True, slots=True)
class Operation:
    do: Do
    summary: str
    gives: JsonObject  # for lists their items
    many: bool = False
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Schema | None = None
    status: int = 200
    later: bool = False  # may answer 202 in place: it is worked on, and the answer says where to look
    streams: str = ""  # the field that text/csv as the body stands for: it is read as it comes, however long


@dataclass(frozen=True, slots=True)
class ApiAddress:
    path: str  # as Django writes it: documents/<int:doc_id>/
    name: str
    methods: dict[str, Operation]


class ApiRouter:
    """All operations by address: each is named above the function that does it."""

    def __init__(self) -> None:
        self.addresses: dict[str, ApiAddress] = {}

    def _add(
        self, method: str, path: str, name: str, summary: str, gives: JsonObject, **more: Any
    ) -> Callable[[Do], Do]:
        if more.get("many"):
            more["query"] = PAGING | more.get("query", {})

        def added(do: Do) -> Do:
            address = self.addresses.setdefault(path, ApiAddress(path, name, {}))
            address.methods[method] = Operation(do, summary, gives, **more)
            return do

        return added

    get = partialmethod(_add, "GET")
    post = partialmethod(_add, "POST")
    put = partialmethod(_add, "PUT")
    patch = partialmethod(_add, "PATCH")
    delete = partialmethod(_add, "DELETE")


router = ApiRouter()


def page_of(rows: Any, asked: ApiRequest, shape: Callable[[Any], Json]) -> Json:
    """One page of a list: {"count", "page", "pages", "rows", "items"}; behind the last page nothing."""
    return page_at_once(rows, asked, lambda page: [shape(row) for row in page])


def page_at_once(rows: Any, asked: ApiRequest, shape: Callable[[Sequence[Any]], list[Json]]) -> Json:
    """The same for rows that need something read for all of a page."""
    paginator = Paginator(rows, asked.query.get("rows", PER_PAGE))
    number = asked.query.get("page", 1)
    items = shape(list(paginator.page(number).object_list)) if number <= paginator.num_pages else []
    head = {"count": paginator.count, "page": number, "pages": paginator.num_pages, "rows": paginator.per_page}
    return head | {"items": items}


def row_or_404(rows: Any, key: Any, missing: str) -> Any:
    """The one of these rows that has this key; `missing` is the sentence of the refusal."""
    row = rows.filter(pk=key).first()
    if row is None:
        raise Http404(missing)
    return row
