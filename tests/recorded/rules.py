"""Owns: the rules by which what changes from one record to the next is taken out of it. Does not: know any part."""

import re
from typing import Any

# In texts, in this order: what is found, what stands there instead.
_TEXTS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), "<moment>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "<date>"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<clock>"),
    (re.compile(r"SQLite \d+(\.\d+)+"), "SQLite <version>"),
    (re.compile(r"go on in \d+ seconds?"), "go on in <duration>"),
    (re.compile(r"http://127\.0\.0\.1:\d+"), "<site>"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "<site>"),
)
# By the name of the field: how long something took, what is signed or random, of which version and which machine.
_FIELDS = {
    "milliseconds": "<duration>",
    "seconds": "<duration>",
    "undo": "<signed>",
    "Retry-After": "<duration>",
}


def settled(value: Any, name: str = "", rules: "dict[str, str] | None" = None) -> Any:
    """The value with names in <> for what is never the same twice. What is empty stays as it is."""
    fields = _FIELDS | (rules or {})
    if isinstance(value, dict):
        return {key: settled(inner, key, rules) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [settled(inner, name, rules) for inner in value]
    if name in fields and isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        return fields[name]
    return settled_text(value) if isinstance(value, str) else value


def settled_text(text: str) -> str:
    for found, instead in _TEXTS:
        text = found.sub(instead, text)
    return text
