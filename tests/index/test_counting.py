"""What a word is, and where it stands in a text."""

from hypothesis import given
from hypothesis import strategies as st

from clearinghouse.search.words import words_of
from crawler.index import counting
from crawler.index.stopwords import STOPWORDS


def test_every_word_takes_a_position_and_stopwords_are_left_out():
    assert counting.positions("The ward, and the WARD's door") == {"ward": [2, 5], "door": [7]}


def test_capitals_and_accents_make_no_difference():
    assert counting.frequencies("Café CAFE cafés") == {"cafe": 2, "cafes": 1}


def test_what_an_apostrophe_leaves_is_a_stopword():
    assert counting.frequencies("don't can’t page's we're") == {"page": 1}


def test_numbers_and_single_characters_of_other_scripts_are_words():
    assert counting.frequencies("7 x 火 2026") == {"7": 1, "火": 1, "2026": 1}


def test_a_long_word_is_known_by_its_beginning():
    word = "a" * 100
    assert counting.positions(f"see {word}") == {"see": [1], "a" * counting.LONGEST: [2]}
    assert counting.places_of("a" * counting.LONGEST, f"see {word}") == [2]


def test_the_places_of_one_word_are_those_of_all_words():
    text = "Safety first, then SAFETY; safely not"
    assert counting.places_of("safety", text) == counting.positions(text)["safety"] == [1, 4]


def test_a_stopword_stands_nowhere():
    assert counting.places_of("the", "the the the") == []
    assert not counting.indexed("the and a of")


def test_every_stopword_is_one_word_as_texts_are_split():
    assert [word for word in STOPWORDS if counting.words_asked(word) != [word]] == []


@given(st.text(st.one_of(st.characters(max_codepoint=127), st.sampled_from("’‘“”–—…•·©®\u00a0é火™_"))))
def test_the_fast_way_to_split_a_text_gives_the_same_words(text):
    assert counting.split(text) == words_of(text)
