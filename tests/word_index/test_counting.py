"""What a word is, and where it stands in a text."""

from hypothesis import given
from hypothesis import strategies as st

from clearinghouse.search.words import words_of
from crawler.word_index import words_in_text
from crawler.word_index.stopwords import STOPWORDS


def test_every_word_takes_a_position_and_stopwords_are_left_out():
    assert words_in_text.positions("The ward, and the WARD's door") == {"ward": [2, 5], "door": [7]}


def test_capitals_and_accents_make_no_difference():
    assert words_in_text.frequencies("Café CAFE cafés") == {"cafe": 2, "cafes": 1}


def test_what_an_apostrophe_leaves_is_a_stopword():
    assert words_in_text.frequencies("don't can’t page's we're") == {"page": 1}


def test_numbers_and_single_characters_of_other_scripts_are_words():
    assert words_in_text.frequencies("7 x 火 2026") == {"7": 1, "火": 1, "2026": 1}


def test_a_long_word_is_known_by_its_beginning():
    word = "a" * 100
    assert words_in_text.positions(f"see {word}") == {"see": [1], "a" * words_in_text.LONGEST: [2]}
    assert words_in_text.places_of("a" * words_in_text.LONGEST, f"see {word}") == [2]


def test_the_places_of_one_word_are_those_of_all_words():
    text = "Safety first, then SAFETY; safely not"
    assert words_in_text.places_of("safety", text) == words_in_text.positions(text)["safety"] == [1, 4]


def test_a_stopword_stands_nowhere():
    assert words_in_text.places_of("the", "the the the") == []
    assert not words_in_text.indexed("the and a of")


def test_every_stopword_is_one_word_as_texts_are_split():
    assert [word for word in STOPWORDS if words_in_text.words_asked(word) != [word]] == []


@given(st.text(st.one_of(st.characters(max_codepoint=127), st.sampled_from("’‘“”–—…•·©®\u00a0é火™_"))))
def test_the_fast_way_to_split_a_text_gives_the_same_words(text):
    assert words_in_text.split(text) == words_of(text)
