"""Owns: what may be sent: the JSON Schema of each field, and checking a value against it. Pure.

Does not: know an address. Called by: crawler.api, the modules api of all subjects.
"""

import re
from collections.abc import Mapping
from typing import Any

from clearinghouse.web.plurals import plural

from .response_fields import Schema, one_of

MOST_ROWS = 200
_HALVES = re.compile("[\ud800-\udfff]")  # JSON can write them, no database takes them
BIGGEST = 2**62  # a database column holds it, and one more


class WrongRequest(Exception):
    """What was sent is not what the contract says: a sentence for each field."""

    def __init__(self, fields: dict[str, list[str]], status: int = 422) -> None:
        super().__init__("Some values cannot be used")
        self.fields = fields
        self.status = status


def number(meaning: str, least: int = 0, most: int = BIGGEST) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, "description": meaning}


def text(meaning: str, longest: int = 500) -> Schema:
    return {"type": "string", "maxLength": longest, "description": meaning}


def switch(meaning: str) -> Schema:
    return {"type": "boolean", "description": meaning}


def choice(meaning: str, *words: str) -> Schema:
    return one_of(*words) | {"description": meaning}


def several(items: Schema, most: int) -> Schema:
    return {"type": "array", "items": items, "maxItems": most}


def fields(needed: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """A JSON object that is sent; names that are not listed are refused."""
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": list(needed)} if needed else {})


_WORDS: dict[str, tuple[type, str]] = {
    "integer": (int, "a whole number"), "string": (str, "text"), "boolean": (bool, "true or false"),
    "array": (list, "a list"), "object": (dict, "an object"),
}  # fmt: skip


def check(value: Any, schema: Schema, name: str = "") -> dict[str, list[str]]:
    """What is wrong with the value, by the name of the field; empty when nothing is."""
    kind, word = _WORDS[schema["type"]]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return {name: [f"This must be {word}"]}
    if schema["type"] == "object":
        return _check_object(value, schema)
    if schema["type"] == "array":
        return _check_list(value, schema, name)
    sentence = _limit(value, schema)
    return {name: [sentence]} if sentence else {}


def _limit(value: Any, schema: Schema) -> str:
    if "enum" in schema and value not in schema["enum"]:
        return f"This must be one of: {', '.join(schema['enum'])}"
    if schema["type"] == "string":
        if len(value) > schema.get("maxLength", BIGGEST):
            return f"This may have at most {plural(schema['maxLength'], 'character')}"
        if _HALVES.search(value):
            return "This may not contain half of a character (a lone surrogate)"
        return "This may not contain the character NUL" if "\0" in value else ""
    if schema["type"] == "integer" and not schema.get("minimum", 0) <= value <= schema.get("maximum", BIGGEST):
        return f"This must be between {schema.get('minimum', 0)} and {schema.get('maximum', BIGGEST)}"
    return ""


def _check_list(value: list[Any], schema: Schema, name: str) -> dict[str, list[str]]:
    if len(value) > schema["maxItems"]:
        return {name: [f"At most {schema['maxItems']} at once"]}
    for item in value:
        if wrong := check(item, schema["items"], name):
            return wrong
    return {}


def _check_object(value: dict[str, Any], schema: Schema) -> dict[str, list[str]]:
    known = schema["properties"]
    wrong: dict[str, list[str]] = {}
    for name, inner in value.items():
        if name not in known:
            wrong[name] = ["There is no such field"]
        else:
            wrong |= check(inner, known[name], name)
    missing = [name for name in schema.get("required", ()) if name not in value]
    return wrong | {name: ["This is needed"] for name in missing}


def from_query(given: Mapping[str, str], known: Mapping[str, Schema]) -> dict[str, Any]:
    """The values of a query string, as what the contract says they are. Raises Wrong."""
    values: dict[str, Any] = {}
    wrong: dict[str, list[str]] = {}
    for name, word in given.items():
        if name not in known:
            wrong[name] = ["There is no such parameter"]
            continue
        value = _read(word, known[name]["type"])
        found = check(value, known[name], name)
        wrong |= found
        values[name] = value
    if wrong:
        raise WrongRequest(wrong, status=400)
    return values


def _read(word: str, kind: str) -> Any:
    if kind == "integer" and word.isascii() and word.isdigit() and len(word) < 20:
        return int(word)
    if kind == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(word.lower(), word)
    return word
