"""Owns: the list of all addresses, as patterns without the names of their arguments, those of libraries too."""

import re
from typing import Any

_ARGUMENT = re.compile(r"<(?:(\w+):)?\w+>")


def record(before: dict[str, Any]) -> dict[str, Any]:
    from tests.accounts.routes import routes

    return {"routes.json": sorted({shown(route.pattern) for route in routes()})}


def shown(pattern: str) -> str:
    return _ARGUMENT.sub(lambda found: f"<{found[1] or 'str'}>", pattern)
