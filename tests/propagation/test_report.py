"""The report Propagation: what is live where, with CSV; for those who may look at propagations."""

import csv
import io
from html import unescape

import pytest
from django.db import OperationalError, connections

from clearinghouse.database.aliases import TARGETS
from crawler.propagation.switching import rollback

from .world import World, add_document, adopt, propagate

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
PATH = "/reports/propagation/"


@pytest.fixture
def two_generations():
    world, document = World(), add_document()
    world.run(document, {"": "start", "a.html": "alpha"})
    propagate()
    world.run(document, {"": "start", "a.html": "changed", "b.html": "beta"})
    return propagate()


def rows(browser, query: str = "") -> list[list[str]]:
    answer = browser.get(f"{PATH}export.csv{query}")
    assert answer.status_code == 200
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))[1:]


def test_each_server_of_each_propagation_is_a_row(two_generations, signed_in, manager):
    found = [row[:8] for row in rows(signed_in(manager))]
    assert found == [
        ["Content development", "2", "live", "3", "1", "1", "0", "ready"],
        ["Primary production", "2", "live", "3", "1", "1", "0", "ready"],
        ["Backup production", "2", "live", "3", "1", "1", "0", "ready"],
        ["Content development", "1", "kept", "2", "2", "0", "0", "2 indexed"],
        ["Primary production", "1", "kept", "2", "2", "0", "0", "2 indexed"],
        ["Backup production", "1", "kept", "2", "2", "0", "0", "2 indexed"],
    ]
    page = unescape(signed_in(manager).get(PATH).content.decode())
    assert "Generation 2 with 3 pages is live on 3 servers." in page
    assert "/propagation/2/" in page


def test_it_shows_what_a_rollback_shows(two_generations, signed_in, manager):
    rollback.roll_back("primary", by="tester")
    browser = signed_in(manager)
    assert [row[:2] for row in rows(browser, "?stands=live")] == [
        ["Content development", "2"], ["Backup production", "2"], ["Primary production", "1"],
    ]  # fmt: skip
    page = unescape(browser.get(PATH).content.decode())
    assert "Generation 2 with 3 pages is live on 2 servers; generation 1 with 2 pages is live on 1 server." in page
    assert [row[1] for row in rows(browser, "?server=primary&sort=generation")] == ["1", "2"]


def test_a_server_that_is_down_and_an_adopted_generation_are_rows_too(signed_in, manager):
    document = add_document("Adopted")
    for target in TARGETS:
        adopt(target, document, [1, 2, 3])

    def down(run, sql, *rest):
        raise OperationalError("the server is gone")

    browser = signed_in(manager)
    assert [row[:4] for row in rows(browser)][1] == ["Primary production", "1", "live", "3"]
    with connections["backup"].execute_wrapper(down):
        assert len(rows(browser)) == 2


def test_who_may_not_look_at_propagations_has_no_such_report(two_generations, signed_in, editor):
    browser = signed_in(editor)
    assert browser.get(PATH).status_code == 404
    assert browser.get(f"{PATH}export.csv").status_code == 404
    assert PATH not in browser.get("/reports/").content.decode()
