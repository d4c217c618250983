"""The order of the best candidates: where the words stand decides among pages that hold them as often."""

from clearinghouse.search.query import parse
from clearinghouse.search.ranking.result_order import RankedPage, ranked


def page(
    number: int, title: str = "", headings: str = "", url: str = "http://a.org/x.html", score: float = 1.0, text=""
):
    return RankedPage(number, score, title, headings, "", url, text)


def order(text: str, *pages: RankedPage) -> list[int]:
    return [number for number, _ in ranked(parse(text), pages)]


def test_a_heading_that_says_it_all_comes_before_headings_that_share_it():
    whole = page(1, headings="Introduction\nseteuid of a process")
    split = page(2, headings="seteuid\nprocess\nprocess of review")
    assert order("seteuid process", split, whole) == [1, 2]


def test_the_address_tells_what_a_page_is_about():
    assert order("threading lock", page(1), page(2, url="http://a.org/library/threading.html")) == [2, 1]


def test_names_of_files_write_words_together():
    assert (
        order("create table", page(1, url="http://a.org/sql-x.html"), page(2, url="http://a.org/createtable.html"))[0]
        == 2
    )


def test_a_heading_of_these_words_alone_comes_before_one_that_says_much_besides():
    alone, much = (
        page(1, headings="Replication origins"),
        page(2, headings="Functions and views of replication origins"),
    )
    assert order("replication origins", much, alone) == [1, 2]


def test_a_title_with_the_beginning_that_was_typed_comes_before_a_text():
    assert order("war*", page(1, title="Page", text="of a ward"), page(2, title="The ward", text="of it")) == [2, 1]


def test_words_in_one_place_of_the_text_come_before_words_far_away():
    near = page(1, text="pick one of a list here" + " and" * 200)
    far = page(2, text="pick" + " and" * 200 + " list")
    assert order("pick list", far, near) == [1, 2]


def test_a_word_few_candidates_carry_tells_more():
    common = [page(number, title="Measures of safety") for number in range(1, 6)]
    rare = page(9, title="Handover")
    assert order("handover safety measures", *common, rare)[0] == 9


def test_words_that_belong_together_must_stand_together():
    together, apart = page(1, headings="os.path reference"), page(2, headings="path to the os reference")
    assert order("os.path", apart, together) == [1, 2]


def test_a_better_score_of_the_index_decides_where_nothing_else_does():
    assert order("word", page(1, score=1.0), page(2, score=2.0)) == [2, 1]
    assert order("", page(2), page(1)) == [2, 1]


def test_nothing_of_a_page_is_looked_at_for_long():
    endless = page(1, headings="word " * 100_000, title="word" * 100_000)
    assert order("word", endless) == [1]
