"""Owns: every download of rows (CSV, JSON, lines of JSON), with its name and its lines, for the administrator."""

import re
from collections.abc import Iterator
from typing import Any

from tests.recorded.rules import settled_text
from tests.recorded.world import World, world

FILE = "exports.json"
_RUN = ("pages.csv", "urls.csv", "log.jsonl", "run.json")
_SECONDS = re.compile(r'(?<="seconds": )[\d.]+|(?<=,)\d+\.\d+(?=,)')  # of JSON; of a line of CSV


def record(before: dict[str, Any]) -> dict[str, Any]:
    from tests.accounts.test_routes import browser

    with world() as one:
        client = browser(one.people, "administrator")
        paths = set(before.get(FILE, {})) | set(_paths(one))
        told = {path: _download(client, path) for path in sorted(paths)}
    return {FILE: told}


def _paths(one: World) -> Iterator[str]:
    from django.urls import reverse

    from crawler.reports.views import REPORTS
    from tests.recorded.statuses import asked_now

    yield from (reverse("run-export", args=[one.given["run_id"], name]) for name in _RUN)
    yield from (reverse("report-csv", args=[name]) for name in REPORTS)
    for key, sent in asked_now(one):
        if key.startswith("GET ") and ".csv" in sent["path"]:
            yield sent["path"]


def _download(client: Any, path: str) -> dict[str, Any]:
    answer = client.get(path)
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    lines = settled_text(_SECONDS.sub("<duration>", content.decode("utf-8-sig"))).splitlines()
    return {
        "status": answer.status_code,
        "type": answer["Content-Type"],
        "name": answer.get("Content-Disposition", ""),
        "first bytes are a mark of UTF-8": content.startswith(b"\xef\xbb\xbf"),
        "head": lines[0] if lines else "",
        "lines": lines[1:],
    }
