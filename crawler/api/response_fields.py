"""Owns: what is answered: the JSON Schema of each field, and rows as JSON. Pure.

Does not: know an address. Called by: crawler.api, the modules api of all subjects.
"""

from datetime import datetime
from typing import Any

Schema = dict[str, Any]

INT: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
MOMENT: Schema = {"type": ["string", "null"], "format": "date-time"}
INT_OR_NOTHING: Schema = {"type": ["integer", "null"]}
_EMPTY = {"integer": 0, "string": ""}


class JsonObject:
    """A JSON object that is answered: its name in the OpenAPI document, the schema of each field."""

    def __init__(self, name: str, /, **fields: Schema) -> None:
        self.name = name
        self.schema = shape_of(**fields)
        self.reference: Schema = {"$ref": f"#/components/schemas/{name}"}

    def __str__(self) -> str:
        return self.name

    def of(self, row: Any, /, **values: Any) -> dict[str, Any]:
        """A row as JSON: each field is the value given here, or else the attribute of its name."""
        return {
            name: _json(values[name] if name in values else getattr(row, name), schema)
            for name, schema in self.schema["properties"].items()
        }


def _json(value: Any, schema: Schema) -> Any:
    """Columns of the database of before hold NULL for 0 and for no text, and 1 for true."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if schema is FLAG:
        return bool(value)
    kind = schema.get("type")
    return _EMPTY.get(kind) if value is None and isinstance(kind, str) else value


def shape_of(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}
