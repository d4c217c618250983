"""Owns: a fixed scenario of commands on the demo site: exit code, JSON, what stands on standard error.

The demo site listens on a port that is always the same: orders of rows go by digests of addresses.
"""

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from tests.recorded.rules import settled

FILE = "commands.json"
PORT = 28_766
_SITE = f"http://127.0.0.1:{PORT}"
_MEASURE = f"{_SITE}/measures/cardiac/door-to-balloon.html"
_KEY = re.compile(r"\bk\d{8}\b")  # named for the day it was made
# What the doctor says of these is of the machine, and so are its counts.
_OF_THE_MACHINE = ("Disk", "Clock", "Tick", "Python", "Libraries")
_COUNTS = {"trouble": "<number>", "warnings": "<number>", "well": "<of this machine>"}

# Each in the house that the ones before it left behind.
STEPS: tuple[tuple[str, ...], ...] = (
    ("prepare",),
    ("prepare",),
    ("add_document", "Measures of hospital quality", "--project", "Hospital quality"),
    ("add_document", "Members only", "--status", "Draft", "--not-public"),
    ("add_crawl_point", "1", f"{_SITE}/measures/", "--depth", "3", "--max-pages", "100", "--note", "As recorded"),
    ("add_crawl_point", "1", "no address"),
    ("add_crawl_point", "99", f"{_SITE}/"),
    ("add_exclude_url", "1", f"{_SITE}/measures/imaging/*"),
    ("explain", "1", _MEASURE, "--found-on", f"{_SITE}/measures/"),
    ("explain", "1", f"{_SITE}/tools/"),
    ("explain", "99", f"{_SITE}/tools/"),
    ("crawl",),
    ("crawl", "--doc", "1", "--speed", "fast"),
    ("crawl", "--doc", "99"),
    ("runs",),
    ("run", "1"),
    ("run", "99"),
    ("check_ledger",),
    ("check_ledger", "1"),
    ("broken_links", "--doc", "1"),
    ("propagate",),
    ("propagate",),
    ("search", "catheterisation"),
    ("search", "nothingofthekind"),
    ("word", "catheterisation"),
    ("page", _MEASURE, "--limit", "5"),
    ("page", "http://nowhere.example/"),
    ("export_index", "{folder}/index.txt"),
    ("rebuild_index",),
    ("run", "1", "pause"),
    ("rollback",),
    ("prune", "--dry-run"),
    ("tick", "--once"),
    ("rotate_keys",),
    ("add_crawl_point", "2", f"{_SITE}/", "--depth", "5"),
    ("add_exclude_url", "2", f"{_SITE}/members/*"),
    ("crawl", "--doc", "2", "--speed", "fast"),
    ("check_ledger", "3"),
    ("broken_links", "--doc", "2"),
    ("propagate",),
    ("rollback",),
    ("backup", "{folder}/backup"),
    ("doctor",),
)


def record(before: dict[str, Any]) -> dict[str, Any]:
    from tests.flow.house import House

    with tempfile.TemporaryDirectory(prefix="recorded-") as folder:
        house = House(Path(folder, "var"))
        house.folder.mkdir()
        house.demo_port = PORT
        house.env |= {"CLEARINGHOUSE_DEMO_PORT": str(PORT), "CLEARINGHOUSE_ALLOWED_NETWORKS": f"127.0.0.1:{PORT}"}
        house.env["CLEARINGHOUSE_LOG_LEVEL"] = "CRITICAL"  # lines of the log name modules
        house.open_site()
        try:
            told = {f"{number:02} {_named(step)}": _told(house, step) for number, step in enumerate(STEPS, start=1)}
        finally:
            house.close()
    return {FILE: told}


def _named(step: tuple[str, ...]) -> str:
    return " ".join(step).replace(_SITE, "<site>")


def _told(house: Any, step: tuple[str, ...]) -> dict[str, Any]:
    words = [word.replace("{folder}", str(house.folder.parent)) for word in step]
    done = house.run(*words, "--json")
    found = json.loads(done.stdout) if done.stdout.strip() else None
    if step[0] == "doctor":
        found = found | _COUNTS | {"lines": [_line(one) for one in found["lines"]]}
    if step[0] == "backup":
        found = found | {"bytes": dict.fromkeys(found["bytes"], "<number>")}
    told = {"exit": done.returncode, "json": found, "stderr": done.stderr.splitlines()}
    return dict(_of_no_place(settled(told), str(house.folder.parent)))


def _line(one: dict[str, str]) -> dict[str, str]:
    if not one["part"].startswith(_OF_THE_MACHINE):
        return one
    return {name: "<of this machine>" if name != "part" else value for name, value in one.items()}


def _of_no_place(value: Any, folder: str) -> Any:
    """Without the names of folders, of this machine, and of keys."""
    if isinstance(value, dict):
        return {name: _of_no_place(inner, folder) for name, inner in value.items()}
    if isinstance(value, list):
        return [_of_no_place(inner, folder) for inner in value]
    if not isinstance(value, str):
        return value
    return _KEY.sub("<key>", value.replace(folder, "<folder>").replace(os.uname().nodename, "<machine>"))
