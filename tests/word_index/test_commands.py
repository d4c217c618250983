"""The commands word, page, export_index and rebuild_index, on a small site that was really crawled."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from clearinghouse.operations.command_base import Stop
from clearinghouse.published.models import LexiconWord
from clearinghouse.search import backends, engine
from crawler.word_index import index_export
from tests.propagation.world import START, World, add_document, adopt, propagate
from tests.word_index.conftest import Published

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
EXPECTED = Path(__file__).with_name("expected.txt")


def answer(*words: object) -> dict[str, Any]:
    out = StringIO()
    call_command(*map(str, words), "--json", stdout=out)
    return json.loads(out.getvalue())


def said(*words: object) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def test_word_gives_its_id_and_the_pages_that_hold_it_with_positions(published: Published):
    found = answer("word", "WARD")
    assert found["word"] == "ward"
    assert (found["pages"], found["next"], found["target"]) == (1, None, "primary")
    assert found["postings"] == [
        {
            "page_id": published.ids["/m/"],
            "doc_id": published.doc_id,
            "url": f"{published.address}/m/",
            "title": "Start",
            "frequency": 2,
            "positions": [1, 2],
        }
    ]
    assert answer("word", found["word_id"], "--id") == found
    assert "2 × at 1, 2" in said("word", "ward")


def test_a_long_list_of_pages_goes_on_where_the_last_answer_ended(published: Published):
    first = answer("word", "bed", "--limit", "1")
    second = answer("word", "bed", "--limit", "1", "--after", first["next"])
    ids = [row["page_id"] for row in first["postings"] + second["postings"]]
    assert ids == [published.ids["/m/"], published.ids["/m/a.html"]]
    assert (first["pages"], second["next"]) == (2, None)


def test_a_stopword_has_the_id_zero_and_a_word_nobody_wrote_has_none(published: Published):
    assert {name: answer("word", "the")[name] for name in ("word_id", "pages", "postings")} == {
        "word_id": 0,
        "pages": 0,
        "postings": [],
    }
    assert answer("word", "nowhere")["word_id"] is None
    assert "stopword" in said("word", "the")


@pytest.mark.parametrize("words", [["two words"], ["!"], ["99999", "--id"], ["x1", "--id"]])
def test_what_is_not_one_word_is_wrong_use(published: Published, words):
    with pytest.raises(Stop) as stopped:
        answer("word", *words)
    assert stopped.value.returncode == 2


def test_page_gives_words_links_in_both_directions_meta_tags_and_versions(published: Published):
    found = answer("page", f"{published.address}/m/")
    ids = {word: LexiconWord.objects.using("primary").get(word=word).pk for word in ("ward", "alpha", "bed", "beta")}
    assert found["words"] == [
        {"word": "ward", "word_id": ids["ward"], "frequency": 2, "positions": [1, 2]},
        {"word": "alpha", "word_id": ids["alpha"], "frequency": 1, "positions": [6]},
        {"word": "bed", "word_id": ids["bed"], "frequency": 1, "positions": [5]},
        {"word": "beta", "word_id": ids["beta"], "frequency": 1, "positions": [7]},
    ]
    assert [(one["url"], one["anchor"], one["page_id"]) for one in found["children"]] == [
        (f"{published.address}/m/a.html", "alpha", published.ids["/m/a.html"]),
        (f"{published.address}/m/b.html", "beta", published.ids["/m/b.html"]),
    ]
    assert found["backlinks"] == 1
    assert [(one["page_id"], one["anchors"]) for one in found["parents"]] == [(published.ids["/m/a.html"], ["start"])]
    assert found["metas"] == [{"name": "description", "content": "About it"}]
    assert [one["shown"] for one in found["versions"]] == [True]
    assert found["last_modified"] is None
    assert answer("page", published.ids["/m/"]) == found


def test_page_knows_when_its_site_changed_it_and_counts_no_link_to_itself(published: Published):
    found = answer("page", published.ids["/m/a.html"])
    assert found["last_modified"] == "2022-06-16T08:47:39+00:00"
    assert (found["links"], found["backlinks"]) == (2, 1)
    told = said("page", published.ids["/m/b.html"])
    assert "2 pages link here:" in told
    assert "cafe" in told


def test_a_page_the_generation_does_not_have_is_an_error_in_one_line(published: Published):
    for asked in ("999999", f"{published.address}/m/nowhere.html", "not an address"):
        with pytest.raises(Stop, match=f"has no page {asked}"):
            answer("page", asked)


def test_an_address_of_two_documents_names_both():
    world = World()
    first, second = add_document("First"), add_document("Second")
    for document in (first, second):
        world.run(document, {"": "start"})
    propagate()
    found = answer("page", "https://quality.example.org/")
    assert (found["doc_id"], found["also_in"]) == (first.pk, [second.pk])
    assert answer("page", "https://quality.example.org/", "--doc", second.pk)["doc_id"] == second.pk


def test_an_adopted_page_has_words_but_no_stored_links(db):
    adopt("primary", add_document(), [7])
    found = answer("page", 7)
    assert [one["word"] for one in found["words"]] == ["adopted", "text"]
    assert (found["links"], found["parents"]) == (None, [])
    assert found["crawled_at"] == START.isoformat()


def test_the_export_is_the_file_written_by_hand(published: Published, tmp_path):
    path = tmp_path / "index.txt"
    done = answer("export_index", path)
    names = {"start": "/m/", "a": "/m/a.html", "b": "/m/b.html"}
    ids = {name: published.ids[path] for name, path in names.items()}
    assert path.read_text() == EXPECTED.read_text().format(site=published.address, **ids)
    assert {name: done[name] for name in ("pages", "words", "links", "postings")} == {
        "pages": 3, "words": 7, "links": 4, "postings": 9,
    }  # fmt: skip
    assert [one.name for one in tmp_path.iterdir()] == ["index.txt"]


def test_an_export_that_does_not_fit_into_memory_is_sorted_in_parts(published: Published, tmp_path, monkeypatch):
    answer("export_index", tmp_path / "whole.txt")
    monkeypatch.setattr(index_export, "IN_MEMORY", 2)
    answer("export_index", tmp_path / "parts.txt")
    assert (tmp_path / "parts.txt").read_text() == (tmp_path / "whole.txt").read_text()


def test_an_export_that_cannot_be_written_leaves_nothing(published: Published, tmp_path):
    with pytest.raises(Stop, match="cannot be written"):
        answer("export_index", tmp_path / "missing" / "index.txt")


def test_rebuild_index_repairs_the_index_and_the_counts_and_keeps_the_ids(published: Published):
    before = list(LexiconWord.objects.using("primary").order_by("pk").values_list("pk", "word", "pages"))
    pages = [hit.published_id for hit in engine.search("ward OR bed", alias="primary").hits]
    backends.remove("primary", pages)
    LexiconWord.objects.using("primary").update(pages=99)
    assert engine.search("ward OR bed", alias="primary").total == 0
    done = answer("rebuild_index", "--target", "primary")["targets"]
    assert [(one["name"], one["indexed"], one["counted"]) for one in done] == [("primary", 3, 3)]
    assert engine.search("ward OR bed", alias="primary").total == len(pages) == 2
    assert list(LexiconWord.objects.using("primary").order_by("pk").values_list("pk", "word", "pages")) == before


def test_rebuild_index_without_a_target_takes_all_of_them(published: Published):
    assert [one["name"] for one in answer("rebuild_index")["targets"]] == ["development", "primary", "backup"]
