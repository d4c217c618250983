"""Where the words of a query stand in a text: how often, and how many of them in one place."""

from clearinghouse.search.ranking.word_places import PLACE, Finder, near, often

WEIGHTS = {"csv": 0.5, "read": 0.5}


def test_every_form_of_a_word_is_found_and_no_part_of_another():
    text = "reading a csv; reads csvs, already read, thread"
    assert [word for _, word in Finder(["csv", "read"], []).standing(text)] == ["read", "csv", "read", "csv", "read"]
    begun = Finder(["measur"], ["meas"]).standing("measles measure mea")
    assert [at for at, _ in begun] == [0, 8]
    assert Finder([], []).standing("anything") == []


def test_words_in_one_place_tell_more_than_words_far_away():
    assert near([(0, "csv"), (PLACE, "read")], WEIGHTS) == 1.0
    assert near([(0, "csv"), (PLACE + 1, "read"), (9_000, "csv")], WEIGHTS) == 0.5
    assert near([], WEIGHTS) == 0.0


def test_a_word_counts_more_the_oftener_it_stands_and_less_in_a_long_text():
    once, twice = [(0, "csv")], [(0, "csv"), (10, "csv")]
    assert often(once, WEIGHTS, 0) == 0.25 < often(twice, WEIGHTS, 0) < 0.5
    assert often(once, WEIGHTS, 40_000) < often(once, WEIGHTS, 4_000)
