"""What a search finds, in which order, in which generation."""

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearinghouse.published.models import LiveGeneration, PublishedInterval
from clearinghouse.published.types import PDF
from clearinghouse.search import backends, engine, query, search_cache
from clearinghouse.search.backends import backend, common_words
from clearinghouse.search.engine import Narrow
from clearinghouse.search.ranking import fewer_words

from .library import publish
from .odd import PIECES, odd_texts

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

PAGES = [
    {"title": "Patient safety indicators", "text": "Each indicator is a rate per 1,000 hospital discharges."},
    {"title": "Handover", "text": "The patient moves between wards. Safety first. Nursing notes."},
    {"title": "Café médical", "text": "Running measures were measured by the médecin."},
    {"title": "Events by region", "text": "patient safety events", "type_id": PDF, "doc_id": 2,
     "url": "https://data.example.org/events.pdf"},
    {"title": "Sitemap", "text": "nothing here", "anchors": "handover checklist"},
]  # fmt: skip
TITLES = {1: ("Measures of quality", "Measures"), 2: ("Safety data", "Data")}
ANSWERS = [
    ("handover", {"Handover", "Sitemap"}),
    ('"patient safety"', {"Patient safety indicators", "Events by region"}),
    ("patient safety", {"Patient safety indicators", "Events by region", "Handover"}),
    ("patient -nursing", {"Patient safety indicators", "Events by region"}),
    ("measure", {"Café médical"}),
    ("cafe MEDICAL", {"Café médical"}),
    ("discharg*", {"Patient safety indicators"}),
    ("title:handover", {"Handover"}),
    ("region OR wards", {"Events by region", "Handover"}),
    ("patient type:pdf", {"Events by region"}),
    ("patient site:data.example.org", {"Events by region"}),
    ("site:example.org handover", {"Handover", "Sitemap"}),
    ("patient document:2", {"Events by region"}),
    ('patient document:"safety data"', {"Events by region"}),
    ("patient project:measures", {"Patient safety indicators", "Handover"}),
    ("patient after:2026-11-14", {"Events by region"}),
    ("patient before:2026-11-13", {"Patient safety indicators"}),
    ("type:pdf", {"Events by region"}),
    ("-patient", {"Café médical", "Sitemap"}),
    ("nowhere", set()),
    ("", set()),
]


@pytest.fixture
def library(db):
    publish("primary", PAGES, titles=TITLES)


def titles(text: str, **filters) -> list[str]:
    narrow = Narrow(**filters) if filters else None
    return [hit.title for hit in engine.search(text, alias="primary", filters=narrow).hits]


@pytest.mark.parametrize(("text", "found"), ANSWERS)
def test_a_query_finds(library, text, found):
    assert set(titles(text)) == found


def test_a_word_in_the_title_counts_more_than_in_the_text(library):
    assert titles("handover")[0] == "Handover"
    assert titles("patient safety")[0] == "Patient safety indicators"


def test_facets_count_all_results_and_narrow_them(library):
    results = engine.search("patient", alias="primary", limit=1)
    assert (results.total, len(results.hits)) == (3, 1)
    assert results.projects == {"Measures": 2, "Data": 1}
    assert results.documents == {1: 2, 2: 1}
    assert results.sites == {"quality.example.org": 2, "data.example.org": 1}
    assert titles("patient", projects=("Data",)) == ["Events by region"]
    assert titles("", types=(PDF,)) == ["Events by region"]


def test_results_can_be_sorted_by_date_and_title(library):
    assert titles("patient", sort="newest") == ["Events by region", "Handover", "Patient safety indicators"]
    assert titles("patient", sort="title") == ["Events by region", "Handover", "Patient safety indicators"]


def test_a_reader_sees_one_generation_only(library):
    PublishedInterval.objects.using("primary").update(gen_to=2)
    publish(
        "primary", [{"title": "New handover", "url": "https://quality.example.org/new"}], generation=2, titles=TITLES
    )
    assert titles("handover") == ["New handover"]
    old = engine.search("handover", alias="primary", generation=1)
    assert [hit.title for hit in old.hits] == ["Handover", "Sitemap"]


def test_a_page_is_indexed_once_and_can_be_removed(library):
    ids = list(PublishedInterval.objects.using("primary").values_list("published_id", flat=True))
    assert backends.backend("primary").add(ids) == 0
    backends.backend("primary").remove(ids[:2])
    assert titles("handover") == ["Sitemap"]
    assert backends.backend("primary").missing(1) == ids[:2]
    assert backends.backend("primary").add(ids) == 2
    assert len(titles("handover")) == 2


def test_a_target_without_index_or_generation_finds_nothing(db):
    assert engine.search("anything", alias="backup").total == 0
    LiveGeneration.objects.using("backup").update_or_create(id=1, defaults={"generation": 3})
    assert engine.search("anything", alias="backup").total == 0


def found(text: str, **filters) -> engine.Results:
    return engine.search(text, alias="primary", limit=50, filters=Narrow(**filters))


# -- no page has all words --------------------------------------------------------------------------------------------


def test_where_no_page_has_all_words_pages_with_the_telling_ones_are_found(library):
    results = found("nursing discharges region unicorns")
    assert results.relaxed
    assert fewer_words.NOTE in results.query.notes
    assert results.total == len(results.hits) > 0
    assert not found("patient nursing").relaxed


def test_names_are_taken_apart_only_where_nobody_has_them_whole(db):
    publish(
        "primary",
        [
            {"title": "Paths", "text": "os.path.join joins"},
            {"title": "Other", "text": "path of the os; join us"},
            {"title": "Runner", "text": "get_loop of a Runner in asyncio"},
        ],
    )
    assert titles("os.path.join") == ["Paths"]
    assert titles("asyncio.Runner.get_loop()") == ["Runner"]


@pytest.mark.parametrize("text", ['"patient unicorns" safety', "title:unicorns patient", "unicorns -patient"])
def test_phrases_words_for_titles_and_exclusions_stay_strict(library, text):
    assert found(text).total == 0


def test_filters_stay_strict_where_words_do_not(library):
    assert titles("handover unicorns site:data.example.org") == []
    assert titles("patient unicorns type:pdf") == ["Events by region"]


def test_words_on_pages_that_a_filter_hides_are_no_reason_to_look_for_less(library):
    results = found("nursing notes", sites=("data.example.org",))
    assert (results.total, results.relaxed) == (0, False)


# -- words and their forms --------------------------------------------------------------------------------------------


def test_a_page_with_the_form_that_was_typed_comes_first(db):
    publish("primary", [{"title": "One", "text": "measuring here"}, {"title": "Two", "text": "measured here"}])
    assert titles("measuring") == ["One", "Two"]
    assert titles("measured") == ["Two", "One"]


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("strasse", "Straße"), ("Straße", "STRASSE"), ("smorrebrod", "Smørrebrød"), ("lodz", "Łódź"),
        ("istanbul", "İSTANBUL"), ("ısı", "ISI"), ("aegean", "Ægean"), ("ελλαδας", "ΕΛΛΆΔΑΣ"), ("ёлка", "елка"),
        ("本語", "日本語の本"), ("ガラス", "これはガラスです"), ("검색", "한국어 검색"), ("ﬁne", "fine"),
    ],
)  # fmt: skip
def test_accents_and_scripts_are_folded_alike_in_pages_and_questions(db, typed, written):
    publish("primary", [{"title": "The page", "text": f"before {written} behind"}, {"title": "日 語 ラ 本"}])
    results = found(typed)
    assert [hit.title for hit in results.hits] == ["The page"]
    assert "<mark>" in results.hits[0].shown


# -- what is alike, and what comes from one place ---------------------------------------------------------------------

COPY = "The ward is left in good order by everybody who goes home. Notes are read aloud, one after the other."


def test_pages_that_are_alike_are_one_hit_and_its_link_shows_the_others(db):
    ids = publish(
        "primary",
        [
            {"title": "Handover", "text": f"Home | 12 Nov | {COPY}", "url": "http://a.org/1"},
            {"title": "Handover", "text": f"Start | 13 Nov | {COPY}", "url": "http://a.org/print/1"},
            {"title": "Handover", "text": COPY.replace("ward", "roof"), "url": "http://a.org/2"},
        ],
    )
    results = found("order")
    assert (results.total, results.entries, len(results.hits)) == (3, 2, 2)
    first = next(hit for hit in results.hits if hit.similar)
    others = found("order", similar_to=first.published_id)
    assert first.similar == others.total == len(others.hits) == 1
    assert {first.published_id, others.hits[0].published_id} == set(ids[:2])


def test_two_pages_of_a_folder_are_shown_beside_those_of_other_sites(db):
    crowd = [{"title": f"Ward {n}", "text": "safe ward", "url": f"http://a.org/wards/{n}"} for n in range(5)]
    publish("primary", [*crowd, {"title": "Else", "text": "a safe place", "url": "http://b.org/x/y"}])
    results = found("safe")
    assert (results.total, results.entries, len(results.hits)) == (6, 3, 3)
    assert results.sites == {"a.org": 5, "b.org": 1}
    last = next(hit for hit in results.hits if hit.more_from_folder)
    assert (last.folder, last.more_from_folder) == ("a.org/wards/", 5)
    everything = found("safe", folder=last.folder)
    assert everything.total == everything.entries == len(everything.hits) == last.more_from_folder


def test_results_of_one_site_are_shown_in_full(db):
    publish("primary", [{"title": f"Ward {n}", "text": "safe", "url": f"http://a.org/w/{n}"} for n in range(5)])
    assert found("safe").entries == 5
    publish("primary", [{"title": "Else", "text": "safe", "url": "http://b.org/1"}])
    assert (found("safe").entries, found("safe site:a.org").entries) == (3, 5)


def test_the_pages_of_results_hold_every_entry_once(db):
    folders = [f"http://{site}.org/{folder}" for site in "abc" for folder in "xyz"]
    publish(
        "primary",
        [
            {"title": f"Page {n} of {folder}", "text": f"word {COPY if n < 2 else n}", "url": f"{folder}/{n}"}
            for folder in folders
            for n in range(9)
        ],
    )
    whole = [hit.published_id for hit in engine.search("word", alias="primary", limit=100).hits]
    paged = [
        hit.published_id
        for offset in range(0, 100, 7)
        for hit in engine.search("word", alias="primary", limit=7, offset=offset).hits
    ]
    assert paged == whole
    assert len(whole) == len(set(whole)) == found("word").entries


# -- facets -----------------------------------------------------------------------------------------------------------


def test_pages_are_counted_and_narrowed_by_when_they_were_crawled_and_by_language(db):
    now = timezone.now()
    publish(
        "primary",
        [
            {"title": "Old", "text": "word", "language": "en", "crawled_at": now - timedelta(days=400)},
            {"title": "Of the year", "text": "word", "language": "en-US", "crawled_at": now - timedelta(days=200)},
            {"title": "Of the month", "text": "word", "language": "DE", "crawled_at": now - timedelta(days=20)},
            {"title": "Of the week", "text": "word", "crawled_at": now - timedelta(days=1)},
        ],
    )
    results = found("word")
    assert results.crawled == {"week": 1, "month": 2, "year": 3, "older": 1}
    assert results.languages == {"en": 2, "de": 1}
    for age, pages in results.crawled.items():
        assert found("word", crawled=(age,)).total == pages
    for language, pages in results.languages.items():
        assert found("word", languages=(language,)).total == pages
    assert titles("word", crawled=("older",)) == ["Old"]


def test_a_facet_of_a_site_shows_as_many_pages_as_it_counts(db):
    urls = ["https://a.org/1", "https://b.a.org/2", "http://a.org:8080/3", "https://a.org/4"]
    publish("primary", [{"title": "Ward", "text": "of a ward", "url": url} for url in urls])
    counted = found("ward").sites
    assert counted == {"a.org": 2, "b.a.org": 1, "a.org:8080": 1}
    for site, pages in counted.items():
        assert engine.search("ward", alias="primary", filters=Narrow(sites=(site,))).total == pages
    assert [found(f"ward site:{site}").total for site in ("a.org", "b.a.org", "a.org:8080", "org")] == [4, 1, 1, 4]


# -- nothing that is typed is an error --------------------------------------------------------------------------------


def test_five_hundred_odd_texts_have_answers(library):
    for text in odd_texts():
        results = engine.search(text, alias="primary")
        assert results.total >= results.entries >= len(results.hits)
        assert results.seconds < 5, text[:80]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=5).map(" ".join))
def test_whatever_is_typed_has_an_answer(library, text):
    results = engine.search(text, alias="primary")
    assert results.total == sum(results.types.values()) == sum(results.sites.values())


@pytest.mark.parametrize("asked", ["ward", "war*", "ward -roof", "ward OR safe", "title:ward"])
def test_of_a_word_that_most_pages_have_those_that_name_it_come_first_and_all_are_found(db, monkeypatch, asked):
    crowd = [{"title": f"Page {n}", "text": "of a ward", "url": f"http://a.org/{n}"} for n in range(9)]
    publish("primary", [*crowd, {"title": "The ward", "text": "of a ward", "url": "http://b.org/x"}])
    slowly = found(asked)
    monkeypatch.setattr(common_words, "COMMON", 0)
    monkeypatch.setattr(common_words, "FEW", 1)
    monkeypatch.setattr(common_words, "ENOUGH", 1)
    search_cache.forget("primary")
    quickly = found(asked)
    assert quickly.hits[0].title == slowly.hits[0].title == "The ward"
    assert (quickly.total, quickly.sites) == (slowly.total, slowly.sites)
    assert {hit.url for hit in quickly.hits} == {hit.url for hit in slowly.hits}


def test_of_a_common_word_that_no_page_names_the_best_come_first_and_only_this_generation(db, monkeypatch):
    crowd = [{"title": f"Page {n}", "text": "of a ward and more", "url": f"http://a.org/{n}"} for n in range(9)]
    publish("primary", [*crowd, {"title": "Last", "text": "ward ward ward", "url": "http://b.org/x"}])
    publish("primary", [{"title": "Next", "text": "ward ward", "url": "http://c.org/x"}], generation=2)
    monkeypatch.setattr(common_words, "COMMON", 0)
    monkeypatch.setattr(common_words, "SCORED", 2)
    search_cache.forget("primary")
    results = engine.search("ward", alias="primary", generation=1)
    assert results.hits[0].title == "Last" and results.total == 10
    assert "Next" not in {hit.title for hit in results.hits}


def test_of_those_that_only_mention_a_common_word_the_newest_come_behind_those_that_name_it(db, monkeypatch):
    often = [{"title": f"Page {n}", "text": "ward ward of it", "url": f"http://a{n}.org/x"} for n in range(4)]
    named = [{"title": "The ward", "text": "of it", "url": "http://b.org/x"}]
    publish("primary", [*named, *often, {"title": "Newest", "text": "ward ward ward", "url": "http://c.org/x"}])
    for name, value in (("COMMON", 0), ("FEW", 1)):
        monkeypatch.setattr(common_words, name, value)
    monkeypatch.setattr(type(backend("primary")), "NEWEST", 1)
    matches = backend("primary").matches(query.parse("ward"))
    best = engine.search("ward", alias="primary").hits
    assert len(matches.best) == 2 and len(matches.others) == 6
    assert [hit.title for hit in best[:2]] == ["The ward", "Newest"] and len(best) == 6


def test_pages_taken_out_between_two_looks_at_a_common_word_are_no_error(library, monkeypatch):
    monkeypatch.setattr(common_words, "COMMON", 0)
    monkeypatch.setattr(type(backend("primary")), "_ids", lambda *_: [10**6, 10**6 + 1])
    assert titles("nobodyeversaidthis") == []
