from typing import Any


def frame(request: Any) -> dict[str, Any]:
    return {}
