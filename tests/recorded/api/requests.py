"""Owns: one request to the API as it is written into the record, and what is kept of its answer.

A request: {"as", "method", "path", and "body" (JSON), "text" (as it is), or "letters" (so many), "type", "first"}.
"""

import json
from typing import Any

from django.test import Client

from tests.recorded.rules import settled

BASE = "/api/v1"
HEADERS = ("Content-Type", "Allow", "Retry-After", "WWW-Authenticate", "Location", "Cache-Control")
JSON = "application/json"


class Programs:
    """One program for each person, with a key of theirs; `visitor` has none, `wrong key` one that nobody has."""

    def __init__(self, people: dict[str, Any], site: str) -> None:
        from clearinghouse.accounts.keys import api_keys

        self._headers = {name: f"Bearer {api_keys.create(user, 'recorded')[1]}" for name, user in people.items()}
        self._headers["wrong key"] = "Bearer nobody-has-this-key"
        self._site = site

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """What is kept of the answer, settled; requests that have to come first are sent first."""
        told: dict[str, str] = {}
        for method, path, body in request.get("first", ()):
            before = self._send(request["as"], method, path, json.dumps(body) if body is not None else "", JSON)
            told["{undo}"] = _json(before).get("undo", "")
        answer = self._send(
            request["as"], request["method"], request["path"], _body(request, told), request.get("type", JSON)
        )
        return kept(answer)

    def _send(self, person: str, method: str, path: str, body: str, kind: str) -> Any:
        headers = {"Authorization": self._headers[person]} if person in self._headers else {}
        client = Client(headers=headers, raise_request_exception=False, enforce_csrf_checks=True)
        sent = body.replace("{site}", self._site)
        return client.generic(method, BASE + path, data=sent, content_type=kind if sent else "")


def _body(request: dict[str, Any], told: dict[str, str]) -> str:
    if "letters" in request:
        return "x" * int(request["letters"])
    text = request["text"] if "text" in request else json.dumps(request["body"]) if "body" in request else ""
    for name, value in told.items():
        text = text.replace(name, value)
    return str(text)


def kept(answer: Any) -> dict[str, Any]:
    found = {
        "status": answer.status_code,
        "headers": {name: answer[name] for name in HEADERS if name in answer},
        "body": _json(answer),
    }
    return dict(settled(found))


def _json(answer: Any) -> Any:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    try:
        return json.loads(content)
    except ValueError:
        return {"text": content.decode(errors="replace")}
