"""Snippets show the right place, and nothing of a page can act on ours."""

from clearinghouse.search.query import parse
from clearinghouse.search.ranking.snippets import LENGTH, Marker, excerpt, marked, without_permalinks


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


MENU = "Table of Contents csv reader() writer() csv dialects csv formats Previous topic csv tools Next topic csv files "
BARS = "index | modules | next | previous » The Library » "


def test_a_place_with_sentences_is_shown_rather_than_a_menu():
    text = MENU + BARS + "filler words " * 40 + "The csv module reads files, and it writes them. It is quick. " + MENU
    shown = excerpt(text, marker("csv"))
    assert "filler words The csv module reads files, and it writes them." in shown and shown.startswith("… words")


def test_a_menu_is_shown_where_only_it_has_all_of_the_words():
    text = "Table of Contents csv dialects in a new house " + "A sentence says something, and ends. " * 40
    assert "csv dialects" in excerpt(text, marker("csv dialects"))


def test_without_any_word_a_text_begins_behind_its_menu():
    text = MENU * 5 + BARS + "The so-called format is old, but it is in use. Others are not."
    assert excerpt(text, marker("nothing")) == "… The so-called format is old, but it is in use. Others are not."


def test_a_piece_does_not_begin_in_the_middle_of_a_menu():
    text = "x " * 100 + BARS + "Uploaded files are stored, and they are read. All of them."
    assert excerpt(text, marker("uploaded")).startswith("… Uploaded files are stored")


def test_headings_are_shown_without_the_sign_that_links_to_them():
    text = "Examples¶ Reading a file. Methods\uf0c1 Notes🔗 See ¶ 12 of the act; C# and §5 stay."
    shown = "Examples Reading a file. Methods Notes See ¶ 12 of the act; C# and §5 stay."
    assert excerpt(text, marker("file")) == shown
    assert without_permalinks("Examples¶\nNotes¶") == "Examples\nNotes"
