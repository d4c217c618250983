"""PostgreSQL on a disk of its own that is full to the last byte: forms say so, reads go on, and so does a crawl.

Long, so it is a case of `make faults` and no part of the suite: python -m pytest tests/faults/long_full_disk.py.
"""

import json
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import pytest

from tests.faults import full_pages, full_postgres, namespace
from tests.faults.test_full_disk import (  # noqa: F401 - asked again, here
    test_reading_goes_on_and_a_key_is_good_although_its_use_cannot_be_noted,
)
from tests.postgres import programs
from tests.requirements import need


@pytest.fixture(scope="module")
def found() -> Iterator[dict[str, Any]]:
    need("postgres", programs() is not None, "initdb, pg_ctl and postgres are not installed")
    need("namespaces", namespace.possible(namespace.AS_ROOT), "no disk can be mounted here: it takes root")
    said = namespace.run("tests.faults.full_postgres", seconds=500, enter=namespace.AS_ROOT)
    yield json.loads(said.splitlines()[-1])


def test_what_needs_room_is_refused_with_what_was_entered_and_what_needs_none_is_saved(found: dict[str, Any]) -> None:
    for name in ("note", "point"):
        assert found[name]["status"] == 507, found[name]["text"]
        assert "<h1>The disk is full</h1>" in found[name]["text"]
    assert full_pages.NOTE in unescape(found["note"]["text"])
    assert 'value="http://127.0.0.1/new/"' in found["point"]["text"] and "s3cret" not in found["point"]["text"]
    for name, done in (("sign_in", 302), ("api_launch", 201)):  # a row or two: there may be room in the server's files
        assert found[name]["status"] in (done, 507), found[name]["text"]


def test_those_who_look_after_it_are_told(found: dict[str, Any]) -> None:
    assert "A disk is full. Nothing can be saved" in found["ready"]["text"]
    assert found["doctor"].count("the disk of its server is full: it can be read, nothing can be saved") == 4
    code, said = found["rotate_keys"]
    assert code == 0 or said.startswith("The disk is full"), said
    assert found["ready_again"]["text"] == "ready\n"


def test_a_server_that_ends_for_want_of_room_ends_nobody_else(found: dict[str, Any]) -> None:
    """When its log cannot grow, PostgreSQL ends: nothing can be read then either."""
    assert found["ended"] and found["down"]["healthy"] == 200
    assert (found["down"]["ready"]["status"], "does not answer" in found["down"]["ready"]["text"]) == (503, True)
    assert set(found["down"]["read"].values()) == {500}
    assert found["alive"] == found["alive_down"] == [None] * 4, found["log"]


def test_with_room_everything_goes_on(found: dict[str, Any], record_property: Callable[[str, object], None]) -> None:
    assert found["after"] == [302, 302] and found["kept"]
    begun = found["api_launch"]["status"] == 201  # there was room for its rows: the document is in that run already
    assert (found["rotated"], found["launched"]) == (0, 409 if begun else 201)
    run = found["run"]
    assert (run["state"], run["crawled"], run["queued"]) == ("finished", full_postgres.PAGES, 0)
    record_property("pages that can be read while it is full", f"{len(found['read'])} of {len(full_pages.READ)}")
    record_property("pages lost of a crawl meanwhile", full_postgres.PAGES - run["crawled"])
    record_property("most requests for a page", found["most"])
    record_property("seconds until pages are shown again", round(found["shown"], 1))
