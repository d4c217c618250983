"""Which index answers for a target: the database's own, or the one a setting names."""

from collections import Counter
from typing import Any, ClassVar

import pytest

from clearinghouse.published.types import HTML
from clearinghouse.search import backends, engine
from clearinghouse.search.backends.text_index import Answer, Candidate, Facets, TextIndex
from clearinghouse.search.page_facts import FacetKey
from clearinghouse.search.ranking.folding import Folded

from .library import DAY, publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


class Elsewhere(TextIndex):
    """Another engine, which finds the first page whatever is asked."""

    asked: ClassVar[list[Any]] = []

    def answer(self, query, narrow, generation, window):
        self.asked.append((query.shown, generation, window))
        kinds = Counter({FacetKey(1, HTML, "a.org", "en"): 7})
        facets = Facets(kinds, Counter({1: 7}), Counter({"Quality": 7}), Counter(week=7))
        first = [Candidate(1, 0.5, "a.org/", 6, [2], 0, ("ward",))]
        return Answer(query, False, 7, 7, 1, facets, {1: ("Measures", "Quality"), 2: ("Safety", "")}, first)

    def exists(self):
        return True

    def nothing(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("a search asks one question")

    ensure = add = describe = remove = missing = ranked_pages = finds = holding = alike = nothing


def test_the_index_that_a_setting_names_is_asked_one_question(db, settings):
    publish("primary", [{"id": 1, "title": "Handover", "url": "https://a.org/1", "text": "of a ward"}])
    settings.TEXT_INDEXES = {"primary": "tests.search.test_text_index.Elsewhere"}
    results = engine.search("anything", alias="primary", limit=5, offset=2)
    assert Elsewhere.asked == [("anything", (1, DAY), (2, 5))]
    assert (results.total, results.entries, results.sites, results.languages) == (7, 1, {"a.org": 7}, {"en": 7})
    (hit,) = results.hits
    assert (hit.title, hit.score, hit.similar, hit.others, hit.missing) == (
        "Handover",
        0.5,
        6,
        [(2, "Safety")],
        ("ward",),
    )


def test_every_other_target_is_answered_by_its_own_database(db, settings):
    settings.TEXT_INDEXES = {"primary": "tests.search.test_text_index.Elsewhere"}
    assert isinstance(backends.backend("backup"), backends.FactsIndex)


def test_there_may_be_more_pages_than_32_bits_can_count():
    rows = Folded().rows
    rows.append(2**40)
    assert rows[0] == 2**40
