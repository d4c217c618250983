"""What synonyms, stopwords and best bets do to a query: decided without a database."""

from clearinghouse.search.curation.search_rules import (
    MOST_ADDED,
    BestBet,
    SearchRules,
    Synonym,
    applied,
    recommended,
    synonyms_of,
)
from clearinghouse.search.query import Query, parse

HEART = ("heart", "attack")
INFARCTION = ("myocardial", "infarction")


def groups(query: Query) -> list[list[str]]:
    return [[" ".join(term.words) for term in group] for group in query.groups]


def one_way(words: str, *others: str, project: str = "") -> SearchRules:
    return SearchRules(synonyms=tuple(synonyms_of(words, others, both_ways=False, project=project)))


def test_a_synonym_becomes_an_alternative_and_the_results_say_so():
    found = applied(parse("cardiac care"), one_way("cardiac", "heart", "coronary"))
    assert groups(found) == [["cardiac", "heart", "coronary"], ["care"]]
    assert found.notes == ("Also searched for: heart, coronary.",)


def test_one_way_is_one_way_and_both_ways_is_each_to_all():
    assert groups(applied(parse("heart"), one_way("cardiac", "heart"))) == [["heart"]]
    both = SearchRules(synonyms=tuple(synonyms_of("cardiac", ["heart", "coronary"], both_ways=True)))
    assert groups(applied(parse("coronary"), both)) == [["coronary", "cardiac", "heart"]]


def test_other_forms_of_a_word_count_and_phrases_do_as_a_whole():
    assert groups(applied(parse("measures"), one_way("measure", "indicator"))) == [["measures", "indicator"]]
    rules = SearchRules(synonyms=(Synonym(HEART, (INFARCTION,)),))
    assert groups(applied(parse('"heart attack" rate'), rules)) == [["heart attack", "myocardial infarction"], ["rate"]]


def test_words_beside_each_other_are_the_words_of_a_rule():
    """(heart or infarction) and (attack or infarction) finds what has both words, and what has the other."""
    rules = SearchRules(synonyms=(Synonym(HEART, (INFARCTION,)),))
    found = applied(parse("rate heart attack"), rules)
    assert groups(found) == [["rate"], ["heart", "myocardial infarction"], ["attack", "myocardial infarction"]]
    assert groups(applied(parse("attack heart"), rules)) == [["attack"], ["heart"]]


def test_what_is_left_out_or_only_begins_like_a_word_is_no_word_of_a_rule():
    rules = one_way("heart", "cardiac")
    assert groups(applied(parse("heart* -heart"), rules)) == [["heart"]]
    assert applied(parse("lung"), rules).notes == ()


def test_a_synonym_of_a_title_word_is_looked_for_in_titles():
    found = applied(parse("title:cardiac"), one_way("cardiac", "heart"))
    assert [term.title for term in found.groups[0]] == [True, True]


def test_rules_never_make_a_query_endless():
    rules = one_way("a1", *[f"word{number}" for number in range(100)])
    assert len(applied(parse("a1"), rules).groups[0]) == 1 + MOST_ADDED


def test_stopwords_are_left_out_unless_nothing_else_was_typed():
    rules = SearchRules(stopwords=(("program", ""),))
    found = applied(parse("asthma program"), rules)
    assert groups(found) == [["asthma"]]
    assert found.notes == ("“program” was left out: pages everywhere contain it.",)
    assert groups(applied(parse("program"), rules)) == [["program"]]
    assert groups(applied(parse('"asthma program"'), rules)) == [["asthma program"]]
    assert groups(applied(parse("title:program asthma"), rules)) == [["program"], ["asthma"]]


def test_the_rules_of_a_project_stay_with_it():
    rules = SearchRules(
        synonyms=(Synonym(("cardiac",), (("heart",),), "Measures"),),
        stopwords=(("rate", "Measures"),),
        best_bets=(BestBet(("cardiac", "rate"), ("https://a.example/",), "Measures"),),
    )
    everywhere = applied(parse("cardiac rate"), rules)
    assert groups(everywhere) == [["cardiac", "heart"], ["rate"]]  # its stopwords take nothing away from others
    assert groups(applied(parse("cardiac rate"), rules, ["Measures"])) == [["cardiac", "heart"]]
    assert groups(applied(parse("cardiac rate"), rules, ["Guidelines"])) == [["cardiac"], ["rate"]]
    assert recommended(parse("cardiac rate"), rules) == [("https://a.example/", "Measures")]
    assert recommended(parse("cardiac rate"), rules, ["Guidelines"]) == []


def test_a_best_bet_is_for_exactly_its_words_in_any_order():
    rules = SearchRules(best_bets=(BestBet(("hospital", "measure"), ("https://a.example/", "https://b.example/")),))
    urls = [("https://a.example/", ""), ("https://b.example/", "")]
    assert recommended(parse("measures hospital"), rules) == urls
    assert recommended(parse('"hospital measures"'), rules) == urls
    for other in ("hospital", "hospital measures list", "hospital measures -old", "hospital OR measures", "type:pdf"):
        assert recommended(parse(other), rules) == [], other
