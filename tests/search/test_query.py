"""The query language: what each text means, and that every text means something."""

import json
import os
from datetime import date
from pathlib import Path

import pytest

from clearinghouse.published.types import HTML, PDF, XHTML
from clearinghouse.search.query import MAX_TERMS, Query, parse
from tests.proves import proves
from tests.requirements import need


def groups(query: Query) -> list[str]:
    """Each group as text: words, "phrases", beginnings*, alternatives joined by |."""
    return ["|".join(_text(term) for term in group) for group in query.groups]


def _text(term) -> str:
    text = " ".join(term.words)
    text = f'"{text}"' if len(term.words) > 1 else text
    return ("title:" if term.title else "") + text + ("*" if term.prefix else "")


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("hospital", ["hospital"]),
        ("Hospital QUALITY", ["hospital", "quality"]),
        ("médecin café", ["medecin", "cafe"]),
        ('"patient safety" rate', ['"patient safety"', "rate"]),
        ("“patient safety”", ['"patient safety"']),
        ("risk-adjusted", ['"risk adjusted"']),
        ("measure*", ["measure*"]),
        ('"patient saf"*', ['"patient saf"*']),
        ("stroke OR heart", ["stroke|heart"]),
        ("a stroke OR heart b", ["a", "stroke|heart", "b"]),
        ("stroke | heart", ["stroke|heart"]),
        ("OR heart", ["heart"]),
        ("heart OR", ["heart"]),
        ("this or that", ["this", "or", "that"]),
        ("title:handover ward", ["title:handover", "ward"]),
        ('title:"safer handover"', ['title:"safer handover"']),
        ("C++ 3.14", ["c", '"3 14"']),
        ("a_b", ['"a b"']),
        ("unknown:field", ['"unknown field"']),
        ("NEAR(a b)", ['"near a"', "b"]),
        ("a AND b", ["a", "and", "b"]),
        ("日本", ['"日 本"']),  # no spaces there: a word is a phrase
        ("한국어", ["한국어"]),
        ("command -e", ["command", "e"]),
        ("", []),
        ("   ", []),
        ("* - ( ) \" '", []),
    ],
)
def test_a_text_means(text, meaning):
    assert groups(parse(text)) == meaning


def test_words_with_a_minus_are_left_out_but_a_hyphen_is_not_a_minus():
    query = parse('hospital -nursing -"long term" risk-adjusted -')
    assert [term.words for term in query.without] == [("nursing",), ("long", "term")]
    assert groups(query) == ["hospital", '"risk adjusted"']


def test_filters_narrow_and_are_not_searched_for():
    query = parse(
        "safety site:WWW.Example.org type:pdf type:html document:12 project:Measures after:2026-11 before:2027"
    )
    assert groups(query) == ["safety"]
    assert query.filters.sites == ("example.org",)
    assert query.filters.types == tuple(sorted((PDF, HTML, XHTML)))
    assert (query.filters.documents, query.filters.projects) == (("12",), ("Measures",))
    assert (query.filters.after, query.filters.before) == (date(2026, 11, 1), date(2027, 1, 1))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('"patient safety', "A quotation mark was missing and has been closed."),
        ("hospital type:teapot", "“teapot” is not a type of page; try pdf, word, html or text."),
        ("hospital after:yesterday", "“yesterday” is not a date; write it like 2026-11-18."),
        ("hospital after:2026-13-45", "“2026-13-45” is not a date; write it like 2026-11-18."),
        ("hospital ???", "“???” has no letters or digits and was left out."),
        ("hospital -site:example.org", "-site: is not supported and was left out."),
        ("word " * 40, "Only the first 32 words were used."),
        ("x" * 3000 + " y", "Only the first 1,000 characters were used."),
    ],
)
def test_it_says_what_it_changed(text, note):
    query = parse(text)
    assert note in query.notes
    assert query.groups


def test_a_query_that_needed_no_change_has_no_notes():
    assert parse('hospital "patient safety" -nursing measure* title:a site:b.org').notes == ()


@proves("J6")
def test_no_text_is_an_error():
    folder = os.environ.get("CLEARINGHOUSE_VECTORS", "")
    need("vectors", bool(folder), "CLEARINGHOUSE_VECTORS is not set")
    texts = json.loads((Path(folder) / "naughty-strings" / "blns.json").read_text())
    for text in [*texts, *(text * 300 for text in texts), "\x00", "\ud800", '"' * 10_000, "a OR " * 3000]:
        query = parse(text)
        assert sum(len(term.words) for term in query.words) <= MAX_TERMS + 16
        for term in query.words + query.without:
            assert all(word.isalnum() or any(letter.isalnum() for letter in word) for word in term.words)
            assert not any(letter in ' "*()' for word in term.words for letter in word)
