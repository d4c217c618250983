"""Conformance vectors written by others, read from the folder that CLEARINGHOUSE_VECTORS names."""

import json
import os
from pathlib import Path
from typing import Any

from tests.requirements import need


def folder(name: str) -> Path:
    """One folder of vectors; the test is skipped, and said so, without it."""
    place = os.environ.get("CLEARINGHOUSE_VECTORS", "")
    path = Path(place) / name
    need("vectors", bool(place) and path.is_dir(), f"CLEARINGHOUSE_VECTORS names no folder with {name}")
    return path


def table(name: str, file: str) -> Any:
    return json.loads((folder(name) / file).read_text())


def cases(name: str, file: str) -> list[dict[str, Any]]:
    """The rows of a table; the comments between them left out."""
    return [row for row in table(name, file) if isinstance(row, dict)]
