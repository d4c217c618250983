"""Words offered while somebody types, and the word that was probably meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearinghouse.published.models import LexiconWord
from clearinghouse.search.query import parse
from clearinghouse.search.ranking import spelling
from clearinghouse.search.ranking.no_results import look
from clearinghouse.search.ranking.spelling import best_of, completions, distance, nearest, one_step_away

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
WORDS = {"hospital": 90, "hospitals": 40, "hospice": 7, "house": 300, "indicator": 30, "safety": 50, "gone": 0}


@pytest.fixture
def lexicon(db) -> None:
    LexiconWord.objects.using("primary").bulk_create([LexiconWord(word=w, pages=n) for w, n in WORDS.items()])


def test_suggestions_are_words_of_the_index_the_most_frequent_first(lexicon):
    assert completions("primary", 1, "ho") == ["house", "hospital", "hospitals", "hospice"]
    assert completions("primary", 1, "patient SAF") == ["patient safety"]
    assert completions("primary", 1, '"patient saf') == ['"patient safety']
    assert completions("primary", 1, "go") == []  # on no page any more


@pytest.mark.parametrize("text", ["", "h", "patient ", "title:ho", "ho*", "x" * 200, "%_", "h\x00", "ho ' OR"])
def test_nothing_is_suggested_for_less_than_two_letters_or_what_is_no_word(lexicon, text):
    assert completions("primary", 1, text) == []


def test_an_empty_lexicon_suggests_nothing(db):
    assert completions("primary", 1, "ho") == []
    assert nearest("primary", "hospitl") == ""
    assert look("hospitl", parse("hospitl"), "primary", lambda _: 0, lambda _: 0).unknown == ()


def test_suggestions_of_a_generation_are_asked_for_once(lexicon, django_assert_num_queries):
    completions("primary", 1, "ho")
    with django_assert_num_queries(0, using="primary"):
        completions("primary", 1, "ho")
    with django_assert_num_queries(1, using="primary"):
        completions("primary", 2, "ho")


@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [("safety", "safety", 0), ("saftey", "safety", 1), ("safty", "safety", 1), ("zafety", "safety", 1),
     ("safettyy", "safety", 2), ("indicater", "indicator", 1), ("abc", "xyz", 3), ("", "ab", 2)],
)  # fmt: skip
def test_distance_counts_letters_added_left_out_changed_and_swapped(one, other, steps):
    assert distance(one, other, 2) == steps == distance(other, one, 2)


def plainly(one: str, other: str) -> int:
    """The textbook's table."""
    rows = [[max(a, b) if not min(a, b) else 0 for b in range(len(other) + 1)] for a in range(len(one) + 1)]
    for a in range(1, len(one) + 1):
        for b in range(1, len(other) + 1):
            changed = rows[a - 1][b - 1] + (one[a - 1] != other[b - 1])
            rows[a][b] = min(rows[a - 1][b] + 1, rows[a][b - 1] + 1, changed)
            if a > 1 and b > 1 and one[a - 1] == other[b - 2] and one[a - 2] == other[b - 1]:
                rows[a][b] = min(rows[a][b], rows[a - 2][b - 2] + 1)
    return rows[-1][-1]


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_distance_is_the_textbooks_up_to_the_farthest(one, other):
    assert distance(one, other, 2) == min(plainly(one, other), 3)


def test_one_step_is_every_text_at_distance_one():
    found = one_step_away("cat")
    assert {"act", "at", "cart", "bat", "cats"} <= set(found)
    assert all(distance("cat", other, 2) == 1 for other in found)


def test_the_nearest_word_wins_and_frequency_decides_between_equals(lexicon):
    assert nearest("primary", "hospitel") == "hospital"
    assert nearest("primary", "ospital") == "hospital"  # a wrong first letter
    assert nearest("primary", "indicatro") == "indicator"
    assert nearest("primary", "hsopitla") == "hospital"  # two mistakes
    assert nearest("primary", "zzzzzzzz") == ""
    assert best_of("hospitalz", [("hospital", 90), ("hospitals", 40)]) == "hospital"
    assert best_of("walk", [("talk", 5), ("balk", 2), ("wagon", 100_000)]) == "talk"


@pytest.mark.parametrize("word", ["car", "2026", "1234567"])
def test_short_words_and_numbers_are_not_corrected(lexicon, word):
    LexiconWord.objects.using("primary").create(word="cart", pages=5)
    assert nearest("primary", word) == ""


def test_a_second_look_names_the_words_no_page_contains(lexicon):
    found = look(
        'hospital "safety indicater" -nursing', parse('hospital "safety indicater" -nursing'), "primary",
        lambda text: 131 if "indicator" in text else 0, lambda word: 0,
    )  # fmt: skip
    assert found.unknown == ("indicater",)
    assert found.meant == 'hospital "safety indicator" -nursing'
    assert found.meant_pages == 131


def test_what_was_meant_leaves_out_the_words_nothing_is_near(lexicon):
    text = "hospital indicater zzzzzz"
    found = look(text, parse(text), "primary", lambda meant: 30 if meant == "hospital indicator" else 0, lambda word: 0)
    assert (found.without, found.meant, found.meant_pages) == ("hospital", "hospital indicator", 30)


def test_words_that_the_index_finds_in_another_form_are_not_unknown(lexicon):
    found = look("hospitalized zzzzzz", parse("hospitalized zzzzzz"), "primary", lambda _: 0, lambda w: w[0] == "h")
    assert found.unknown == ("zzzzzz",)
    assert (found.without, found.meant) == ("hospitalized", "")


def test_the_candidates_of_a_word_are_bounded(lexicon, monkeypatch):
    monkeypatch.setattr(spelling, "MOST_CANDIDATES", 1)
    assert nearest("primary", "hospitel") == "hospital"  # one step away is looked for by itself
