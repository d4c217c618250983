"""Questions as people ask them: small words may be missing from a page, and where few pages have all words, pages with
most of them are found as well and say what they lack."""

import pytest
from django.core.management import call_command

from clearinghouse.search import engine, small_words
from clearinghouse.search.curation.search_rules import BestBet, SearchRules, recommended, synonyms_of, with_synonyms
from clearinghouse.search.engine import Narrow
from clearinghouse.search.query import parse

from .library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

PAGES = [
    {"title": "Files of values", "text": "Read each csv file with a reader, and do what I say."},
    {"title": "Directories", "text": "how do I find a directory"},
    {"title": "Tables", "text": "a csv file can be loaded"},
    {"title": "Books", "text": "read them all"},
]  # fmt: skip


def asked(text: str) -> engine.Results:
    return engine.search(text, alias="primary")


def test_a_question_finds_what_its_telling_words_find_in_the_same_order(db):
    publish("primary", PAGES)
    question, words = asked("How do I read a csv file?"), asked("read csv file")
    assert [hit.title for hit in question.hits] == [hit.title for hit in words.hits]
    assert (question.total, question.complete) == (words.total, words.complete) == (2, 1)


def test_small_words_are_never_marked(client, db):
    publish("primary", PAGES)
    page = client.get("/search/?q=how+do+I+read+a+csv+file").content.decode()
    assert "<mark>Read</mark> each <mark>csv file</mark> with a reader, and do what I say." in page


@pytest.mark.parametrize(
    ("text", "required"),
    [
        ("how do I read a csv file", ["read", "csv", "file"]),
        ("what's new", ["new"]),
        ("to be or not to be", ["to", "be", "or", "not", "to", "be"]),
        ("+how to read", ["how", "read"]),
        ('"how to" read', ["how to", "read"]),
        ("how* read", ["how", "read"]),
        ("title:how read", ["how", "read"]),
        ("reports of the WHO", ["reports", "who"]),
        ("REPORTS OF THE WHO", ["reports"]),
        ("heart AND stroke", ["heart", "stroke"]),
        ("the site:example.org", ["the"]),
        ("+ C++", ["c"]),
    ],
)
def test_what_a_page_must_have(text, required):
    assert [" ".join(term.words) for term in parse(text).words] == required


def test_small_words_can_be_asked_for(db):
    publish("primary", PAGES)
    assert [hit.title for hit in asked("+how directory").hits] == ["Directories"]
    assert [hit.title for hit in asked('"how do I"').hits] == ["Directories"]
    assert asked("how do I").complete == 1 and asked("+how csv").total == 0
    assert "and" not in parse("+the end").shown and parse("+the end").shown == "+the end"


def test_where_few_pages_have_all_words_those_with_most_come_along_and_say_what_is_missing(client, db, capsys):
    publish("primary", PAGES)
    found = asked("read csv file")
    assert [(hit.title, hit.missing) for hit in found.hits] == [("Files of values", ()), ("Tables", ("read",))]
    assert (found.total, found.complete, found.relaxed) == (2, 1, False)
    page = client.get("/search/?q=read+csv+file").content.decode()
    assert "<strong>2 pages</strong>" in page and "1 page has all of your words. Pages with most of your words" in page
    assert page.count("Missing:") == 1 and "Missing: <s>read</s>" in page
    assert "Missing" not in client.get("/search/?q=csv+file").content.decode(), "of two words most are both"
    assert client.get("/search/feed.atom?q=read+csv+file").content.decode().count("<entry>") == 1
    call_command("search", "read csv file")
    assert "Missing: read" in "".join(capsys.readouterr())


def test_pages_with_all_words_come_first_where_the_order_is_another(db):
    publish("primary", PAGES)
    for sort in ("newest", "title"):
        found = engine.search("read csv file", alias="primary", filters=Narrow(sort=sort))
        assert [hit.title for hit in found.hits] == ["Files of values", "Tables"], sort


def test_what_people_taught_the_search_does_not_depend_on_small_words():
    rules = SearchRules(best_bets=(BestBet(("how", "to", "apply"), ("https://a.example/",)),))
    for text in ("apply", "how do I apply", "how to apply"):
        assert recommended(parse(text), rules) == [("https://a.example/", "")], text
    rules = SearchRules(synonyms=tuple(synonyms_of("head of state", ["president"], both_ways=False)))
    taught = with_synonyms(parse("who is head of state"), rules)
    assert [[" ".join(term.words) for term in group] for group in taught.required] == [
        ["head", "president"], ["state", "president"]
    ]  # fmt: skip


def test_the_list_names_its_origin_and_holds_words_as_queries_have_them():
    assert "Snowball" in small_words._LIST.read_text()
    assert all(parse(f"+{word}").words[0].words == (word,) for word in small_words.known())


def test_a_search_without_words_left_offers_none_to_leave_out(client, db):
    publish("primary", PAGES)
    page = client.get("/search/?q=the+unicorn+of+xylophones").content.decode()
    assert "Leave out <strong>unicorn" in page and "Leave out <strong>the" not in page
