"""The word index for programs."""

import pytest

from crawler.word_index import page_counts
from tests.search.library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def test_a_word_and_a_page_name_each_other(program, administrator):
    publish("primary", [{"text": "ward bed ward", "title": "Start"}, {"text": "bed"}])
    page_counts.follow("primary")
    asks = program(administrator)
    status, word = asks.ask("GET", "index/word/?word=WARD")
    assert status == 200
    assert (word["word"], word["pages"], word["next"]) == ("ward", 1, None)
    assert [(one["page_id"], one["frequency"], one["positions"]) for one in word["postings"]] == [(1, 2, [1, 3])]
    status, page = asks.ask("GET", "index/pages/1/?rows=1")
    assert (page["title"], page["different_words"], page["links"]) == ("Start", 2, None)
    assert page["words"] == [{"word": "ward", "word_id": word["word_id"], "frequency": 2, "positions": [1, 3]}]


def test_what_is_not_one_word_is_refused(program, administrator):
    status, answer = program(administrator).ask("GET", "index/word/?word=two+words")
    assert (status, answer["fields"]) == (422, {"word": ["One word is asked for; this has 2"]})


def test_a_page_of_another_document_does_not_exist(program, editor):
    publish("primary", [{"text": "ward", "doc_id": 999}])
    asks = program(editor)
    assert asks.ask("GET", "index/pages/1/")[0] == 404
    assert asks.ask("GET", "index/word/?word=ward")[1]["postings"] == []
