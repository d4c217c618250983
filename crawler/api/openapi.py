"""Owns: the OpenAPI 3.1 document and the page that shows it, both made from the addresses. Called by: urls."""

import re
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse import __version__

from .addresses import ADDRESSES
from .api_dispatch import REQUESTS_A_MINUTE
from .contract import Operation
from .response_fields import TEXT, Schema, list_of

BASE = "/api/v1/"
_ARGUMENT = re.compile(r"<(\w+):(\w+)>")
_REFUSALS = {
    "400": "A parameter or the JSON cannot be read",
    "401": "No key, or one that is not known or was revoked",
    "403": "You may not do this; the sentence says who can grant it",
    "404": "It does not exist for you",
    "409": "Somebody changed it meanwhile, or the run does not allow it now",
    "422": "Some values cannot be used; the sentences stand at their fields",
    "429": "Too many requests; the header Retry-After says when to go on",
}
_REFUSAL: Schema = {
    "type": "object",
    "properties": {"code": TEXT, "error": TEXT, "fields": {"type": "object", "additionalProperties": list_of(TEXT)}},
    "required": ["code", "error"],
}


@require_safe
def document(request: HttpRequest) -> HttpResponse:
    return JsonResponse(openapi())


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    rows = [
        {"path": BASE + _ARGUMENT.sub(r"{\2}", address.path), "operations": _shown(address.methods)}
        for address in ADDRESSES
    ]
    return render(request, "api/api.html", {"rows": rows, "refusals": _REFUSALS, "rate": REQUESTS_A_MINUTE})


def _shown(methods: Any) -> list[dict[str, Any]]:
    return [{"method": method, "operation": one, "fields": _fields(one)} for method, one in methods.items()]


def _fields(operation: Operation) -> list[dict[str, Any]]:
    """Parameters and the fields of the body, for the page."""
    body = operation.body or {"properties": {}}
    needed = body.get("required", ())
    rows = [{"name": name, "where": "query", "schema": one, "needed": False} for name, one in operation.query.items()]
    return rows + [
        {"name": name, "where": "JSON", "schema": one, "needed": name in needed}
        for name, one in body["properties"].items()
    ]


def openapi() -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {"title": "Clearinghouse Web Crawl", "version": __version__, "description": _about()},
        "servers": [{"url": BASE.rstrip("/")}],
        "security": [{"key": []}],
        "paths": {
            "/" + _ARGUMENT.sub(r"{\2}", address.path): _parameters(address.path)
            | {method.lower(): _operation(address.name, method, one) for method, one in address.methods.items()}
            for address in ADDRESSES
        },
        "components": {
            "schemas": {one.gives.name: one.gives.schema for one in _operations()} | {"Refusal": _REFUSAL},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _about() -> str:
    return (
        "What the screens can do, for programs: the same rules decide who may do what. "
        f"At most {REQUESTS_A_MINUTE} requests a minute for each person."
    )


def _operations() -> list[Operation]:
    return [one for address in ADDRESSES for one in address.methods.values()]


def _parameters(path: str) -> dict[str, Any]:
    kinds = {"int": {"type": "integer", "minimum": 0}, "slug": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}}
    found = [
        {"name": name, "in": "path", "required": True, "schema": kinds[kind]} for kind, name in _ARGUMENT.findall(path)
    ]
    return {"parameters": found} if found else {}


def _operation(name: str, method: str, one: Operation) -> dict[str, Any]:
    answers: dict[str, Any] = {
        str(one.status): {"description": one.summary, "content": {"application/json": {"schema": _given(one)}}}
    }
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    if one.later:
        answers["202"] = answers[str(one.status)] | {"description": "It is worked on; `status` says how far it is"}
    answers |= {status: {"description": words, "content": refusal} for status, words in _REFUSALS.items()}
    found: dict[str, Any] = {
        "operationId": f"{name}-{method.lower()}", "summary": one.summary, "responses": answers,
    }  # fmt: skip
    if one.query:
        found["parameters"] = [{"name": name, "in": "query", "schema": schema} for name, schema in one.query.items()]
    if one.body is not None:
        needed = bool(one.body.get("required"))
        found["requestBody"] = {"required": needed, "content": {"application/json": {"schema": one.body}}}
        if one.streams:
            found["requestBody"]["content"]["text/csv"] = {"schema": {"type": "string"}}
    return found


def _given(one: Operation) -> Schema:
    if not one.many:
        return one.gives.reference
    numbers = {name: {"type": "integer"} for name in ("count", "page", "pages", "rows")}
    properties = numbers | {"items": list_of(one.gives.reference)}
    return {"type": "object", "properties": properties, "required": list(properties)}
