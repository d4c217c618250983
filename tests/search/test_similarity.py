"""When two pages are alike."""

from clearinghouse.search.ranking.similarity import ALONE, likeness

LONG = "The rate is measured per thousand patients in every ward of the hospital"


def test_short_pieces_and_signs_between_words_make_no_difference() -> None:
    one = likeness("A rate", f"Home | Contact\n{LONG}. And it is told once a month to all of them.")
    assert one == likeness("A rate", f"Home » 7 May\n{LONG} –  “and” it is told, once a month, to all of them!")
    assert one not in {ALONE, likeness("A rate", f"{LONG}. And it is told twice a month to all of them.")}
    assert one != likeness("Another rate", f"Home | Contact\n{LONG}. And it is told once a month to all of them.")


def test_letters_of_any_script_tell_pages_apart_and_broken_ones_are_no_error() -> None:
    texts = [f"Показатель измеряется {word} раза в месяц для каждой палаты больницы" for word in ("два", "три")]
    assert likeness("", texts[0]) != likeness("", texts[1])
    assert likeness("", texts[0]) == likeness("", f"¶ {texts[0].upper()} ・")
    assert likeness("", f"\ud800 {LONG} \udfff") == likeness("", LONG)


def test_a_page_of_few_letters_is_alone() -> None:
    assert likeness("A title", "Nothing is here") == ALONE
