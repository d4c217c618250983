"""Owns: the requests of an operation that are to be refused, made from what the OpenAPI document says of it."""

from collections.abc import Iterator
from typing import Any

UNKNOWN = 999_999
_WRONG = {"integer": "many", "string": 7, "boolean": "perhaps", "array": "one", "object": []}
_TOO_LONG = 1_100_000  # letters


def refusals(good: dict[str, Any], operation: dict[str, Any], arguments: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """(What is wrong, the request) for each; `good` is the good request, `arguments` its values in the address."""
    yield "no key", good | {"as": "visitor"}
    yield "a key that nobody has", good | {"as": "wrong key"}
    yield "somebody of another project", good | {"as": "stranger"}
    yield "somebody who only reads", good | {"as": "reader"}
    path = good["path"].partition("?")[0]
    for value in dict.fromkeys(arguments):
        yield f"an unknown {value}", good | {"path": path.replace(f"/{value}/", f"/{UNKNOWN}/")}
    yield from _of_the_query(good, operation, path)
    if operation["body"] is not None:
        yield from _of_the_body(good, operation["body"]["content"]["application/json"]["schema"])


def _of_the_query(good: dict[str, Any], operation: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    known = {
        name.split()[1]: one["schema"] for name, one in operation["parameters"].items() if name.startswith("query")
    }
    yield "an unknown parameter", good | {"path": f"{path}?order_by=password"}
    for name, schema in known.items():
        if schema["type"] != "string" or "enum" in schema:
            yield f"the parameter {name} of another type", good | {"path": f"{path}?{name}=x"}
    if "rows" in known:
        yield "two rows of the list", good | {"path": f"{good['path']}{_more(good)}rows=2"}
        yield "more rows than there may be", good | {"path": f"{good['path']}{_more(good)}rows=201"}
    if "page" in known:
        yield "a page beyond the end", good | {"path": f"{good['path']}{_more(good)}page=1000"}


def _more(good: dict[str, Any]) -> str:
    return "&" if "?" in good["path"] else "?"


def _of_the_body(good: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    without = {name: value for name, value in good.items() if name != "body"}
    sent = good.get("body", {})
    yield "no JSON", without | {"text": "{"}
    yield "JSON that is no object", without | {"text": "[]"}
    yield "no body", without | {"text": ""}
    yield "a form", without | {"text": "a=b", "type": "application/x-www-form-urlencoded"}
    yield "a body that is too long", without | {"letters": _TOO_LONG}
    yield "an unknown field", good | {"body": sent | {"is_superuser": True}}
    for name in schema.get("required", ()):
        yield f"the field {name} missing", good | {"body": {one: sent[one] for one in sent if one != name}}
    for name, inner in schema["properties"].items():
        yield f"the field {name} of another type", good | {"body": sent | {name: _WRONG[inner["type"]]}}
        if "enum" in inner:
            yield f"the field {name} with an unknown word", good | {"body": sent | {name: "unknown"}}
        if inner["type"] == "integer":
            yield f"the field {name} too small", good | {"body": sent | {name: -1}}
        if inner["type"] == "string" and name in schema.get("required", ()):
            yield f"the field {name} empty", good | {"body": sent | {name: ""}}
