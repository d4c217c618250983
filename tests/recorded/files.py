"""Owns: the files of the record: one JSON document each, a line for each value, names in the order of the alphabet."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "before"


def read(part: str) -> dict[str, Any]:
    """What was recorded of a part, by the name of its file; empty when nothing was."""
    found = sorted(FOLDER.glob(f"{part}.json")) + sorted((FOLDER / part).glob("*.json"))
    return {str(path.relative_to(FOLDER)): json.loads(path.read_text()) for path in found}


def write(part: str, record: dict[str, Any]) -> None:
    """Files of this part that are not in the record any more go."""
    for name in set(read(part)) - set(record):
        (FOLDER / name).unlink()
    for name, value in record.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
