"""Owns: what the OpenAPI document promises, with every reference filled in, so that names of schemas do not matter."""

from typing import Any

from django.test import Client

from tests.recorded.world import World, world

_METHODS = ("get", "post", "put", "patch", "delete")


def record(before: dict[str, Any]) -> dict[str, Any]:
    with world() as one:
        return {"openapi.json": told(one)}


def told(one: World) -> dict[str, Any]:
    """What a program can rely on: how it shows its key, and each operation."""
    client = Client()
    client.force_login(one.people["administrator"])
    document = client.get("/api/v1/openapi.json").json()
    operations = {
        f"{method.upper()} {path}": _operation(document, path, method)
        for path, methods in document["paths"].items()
        for method in _METHODS
        if method in methods
    }
    info = {name: value for name, value in document["info"].items() if name != "version"}
    schemes = document["components"]["securitySchemes"]
    return {
        "info": info,
        "servers": document.get("servers"),
        "security": list(schemes.values()),
        "operations": operations,
    }


def _operation(document: dict[str, Any], path: str, method: str) -> dict[str, Any]:
    around = document["paths"][path]
    one = _filled(document, around[method])
    parameters = _filled(document, around.get("parameters", [])) + one.get("parameters", [])
    return {
        "id": one["operationId"],
        "summary": one["summary"],
        "parameters": {f"{found['in']} {found['name']}": _parameter(found) for found in parameters},
        "body": one.get("requestBody"),
        "answers": one["responses"],
    }


def _parameter(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in ("in", "name")}


def _filled(document: dict[str, Any], value: Any, inside: tuple[str, ...] = ()) -> Any:
    """The value with the schema itself in the place of each reference; one that holds itself is named once."""
    if isinstance(value, list):
        return [_filled(document, inner, inside) for inner in value]
    if not isinstance(value, dict):
        return value
    if reference := value.get("$ref"):
        name = reference.rsplit("/", 1)[1]
        if name in inside:
            return {"again": name}
        return _filled(document, document["components"]["schemas"][name], (*inside, name))
    told = {name: _filled(document, inner, inside) for name, inner in value.items()}
    if isinstance(told.get("required"), list):
        told["required"] = sorted(told["required"])
    return told
