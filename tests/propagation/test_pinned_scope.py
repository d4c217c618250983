"""The pin of a propagation as it is stored: by strand, one list where all targets show the same."""

import json
from dataclasses import replace

from crawler.engine.strands import WEB
from crawler.propagation import plan
from crawler.propagation.pinned_scope import (
    DocumentScope,
    PinnedExcursion,
    PinnedScope,
    PointRoot,
    pinned_excursions,
)

CRAWLS = (PinnedExcursion(9, "stopped"), PinnedExcursion(7, "finished"))
DOCUMENT = DocumentScope(3, "Measures", "", True, CRAWLS, CRAWLS, (PointRoot("https://a.example/"),), ("*/print/*",))
BEFORE = {
    "doc_id": 3, "title": "Measures", "project": "", "public": True, "excursions": [[9, "stopped"], [7, "finished"]],
    "roots": [{"root": "https://a.example/", "merge_schemes": False}], "excludes": ["*/print/*"], "deleted": False,
}  # fmt: skip


def read_again(document: DocumentScope) -> DocumentScope:
    stored = json.loads(json.dumps(PinnedScope((document,)).to_json()))
    assert pinned_excursions(stored) == {one.number for one in document.excursions}
    return PinnedScope.from_json(stored).documents[0]


def test_a_plan_of_before_is_read_as_one_strand_with_one_list():
    assert PinnedScope.from_json({"documents": [BEFORE]}) == PinnedScope((DOCUMENT,))
    assert pinned_excursions({"documents": [BEFORE]}) == {7, 9}


def test_what_is_stored_is_read_again_as_it_was():
    assert read_again(DOCUMENT) == DOCUMENT
    endorsed, none = replace(DOCUMENT, production=CRAWLS[1:]), replace(DOCUMENT, production=())
    assert [read_again(one) for one in (endorsed, none)] == [endorsed, none]
    files = (PinnedExcursion(10, "finished", 2, "files"), *CRAWLS[:1], PinnedExcursion(8, "finished", 1, "files"))
    both = replace(DOCUMENT, development=files, production=files[1:])
    assert read_again(both) == both


def test_one_list_is_stored_where_all_targets_show_the_same():
    (stored,) = PinnedScope((DOCUMENT,)).to_json()["documents"]
    assert stored["strands"] == {WEB: {"development": [(9, "stopped", 1), (7, "finished", 1)]}}


def test_each_target_has_its_list():
    endorsed = replace(DOCUMENT, production=CRAWLS[1:])
    lists = {target: endorsed.on(target) for target in plan.ORDER}
    assert lists == {"development": CRAWLS, "primary": CRAWLS[1:], "backup": CRAWLS[1:]}
    told = {endorsed.as_text(target) for target in plan.ORDER}
    assert len(told) == 2 and endorsed.as_text("primary") != DOCUMENT.as_text("primary")
