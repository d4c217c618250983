"""Owns: what pages for programs answer outside the JSON API: measurements, health, feeds, suggestions.

Numbers are left out of the measurements: names and labels are what others rely on.
"""

import re
from typing import Any

from tests.recorded.rules import settled_text
from tests.recorded.world import World, world

FILE = "for-programs.json"
_NUMBER = re.compile(r" -?\d[\d.e+-]*$", re.MULTILINE)
_HTML = "text/html"


def record(before: dict[str, Any]) -> dict[str, Any]:
    from tests.accounts.test_routes import browser

    with world() as one:
        client = browser(one.people, "administrator")
        paths = set(before.get(FILE, {})) | {"/search/suggest?q=wor", "/search/feed.atom?q=words"} | _paths(one)
        told = {path: _answer(client.get(path)) for path in sorted(paths)}
    return {FILE: {path: answer for path, answer in told.items() if path in before.get(FILE, {}) or answer["lines"]}}


def _paths(one: World) -> set[str]:
    from tests.recorded.statuses import asked_now

    asked = {sent["path"] for key, sent in asked_now(one) if key.startswith("GET ")}
    return {path for path in asked if not path.startswith(("/api/", "/settings/")) and ".csv" not in path}


def _answer(answer: Any) -> dict[str, Any]:
    """No line of what is for people."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    kind = answer.get("Content-Type", "")
    text = "" if kind.startswith(_HTML) else settled_text(_NUMBER.sub(" <number>", content.decode()))
    return {"status": answer.status_code, "type": kind, "lines": text.splitlines()}
