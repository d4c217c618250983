"""Snippets show the right place, and nothing of a page can act on ours."""

from clearinghouse.search.query import parse
from clearinghouse.search.snippets import LENGTH, Marker, excerpt, marked


def marker(query: str) -> Marker:
    return Marker(parse(query).words)


def test_words_are_marked_in_all_their_forms():
    text = "A hospital, two Hospitals: measuring what the measure measures. Hospitality is another word."
    shown = marked(text, marker("hospital measured"))
    assert shown.count("<mark>") == 4  # neighbours share one
    assert "<mark>Hospitals</mark>" in shown
    assert "<mark>Hospitality</mark>" not in shown


def test_beginnings_and_accents_are_marked():
    assert marked("Médecine et médicaments", marker("med*")).count("<mark>") == 2


def test_words_side_by_side_get_one_mark():
    assert marked("the patient safety set", marker('"patient safety"')) == "the <mark>patient safety</mark> set"


def test_a_page_cannot_bring_markup_along():
    text = '<script>alert("x")</script> <mark>fake</mark> & "quotes" <img src=x onerror=alert(1)>'
    shown = marked(text, marker("script alert img mark"))
    assert shown.replace("<mark>", "").replace("</mark>", "").count("<") == 0
    assert "&lt;<mark>script</mark>&gt;" in shown


def test_the_excerpt_is_the_place_with_most_of_the_words():
    text = "filler " * 500 + "the hospital reports patient safety every quarter " + "filler " * 500
    piece = excerpt(text, marker("hospital safety quarter"))
    assert "hospital reports patient safety every quarter" in piece
    assert piece.startswith("… ")
    assert piece.endswith(" …")
    assert len(piece) <= LENGTH + 10


def test_a_short_text_is_shown_whole():
    assert excerpt("All of it", marker("nothing")) == "All of it"


def test_an_endless_word_is_cut():
    assert len(excerpt("x" * 100_000, marker("y"))) < 2 * LENGTH
