"""The same questions on a real PostgreSQL: the same pages, the index used, texts too long for it halved."""

from collections.abc import Iterator, Sequence

import pytest
from django.db import connections

from clearinghouse.database.aliases import from_url
from clearinghouse.published import models
from clearinghouse.search import backends, engine
from clearinghouse.search.backends import common_words
from clearinghouse.search.engine import Narrow
from clearinghouse.search.query import parse
from tests.postgres import Server, postgres  # noqa: F401 - a fixture

from .library import publish
from .odd import odd_texts
from .test_engine import ANSWERS, COPY, PAGES, TITLES

ALIAS = "search_on_postgres"
TABLES = (models.PublishedVersion, models.PublishedMeta, models.PublishedInterval, models.PublishedDocument,
          models.LiveGeneration)  # fmt: skip


@pytest.fixture(scope="module")
def server(postgres: Server, django_db_blocker) -> Iterator[str]:  # noqa: F811
    with django_db_blocker.unblock():
        template = connections["primary"].settings_dict
        connections.settings[ALIAS] = {**template, **from_url(postgres.url())}
        connection = connections[ALIAS]
        with connection.schema_editor() as editor:
            for table in TABLES:
                editor.create_model(table)
        yield ALIAS
        connection.close()
        del connections.settings[ALIAS], connections[ALIAS]


@pytest.fixture
def alias(server: str) -> str:
    backends.backend(server).ensure()
    tables = ", ".join([*(table._meta.db_table for table in TABLES), "published_index", "published_facts"])
    with connections[server].cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables} RESTART IDENTITY")
    return server


def titles(alias: str, text: str, **filters) -> list[str]:
    return [hit.title for hit in engine.search(text, alias=alias, filters=Narrow(**filters)).hits]


@pytest.mark.parametrize("texts", [ANSWERS], ids=["all"])
def test_a_query_finds_what_it_finds_on_sqlite(alias, texts):
    publish(alias, PAGES, titles=TITLES)
    assert {text: set(titles(alias, text)) for text, _ in texts} == dict(texts)


def test_a_word_counts_more_in_a_title_a_heading_and_a_link_than_in_the_text(alias):
    publish(
        alias,
        [
            {"title": "Text", "text": "The handover of a ward and other words"},
            {"title": "Heading", "headings": "Handover", "text": "of a ward and other words"},
            {"title": "Handover", "text": "of a ward and other words"},
            {"title": "Link", "anchors": "handover", "text": "of a ward and other words"},
        ],
    )
    scores = dict(backends.backend(alias).matches(parse("handover")).best)
    order = sorted(scores, key=scores.__getitem__, reverse=True)
    assert order == [3, 4, 2, 1]


def test_where_no_page_has_all_words_some_are_enough(alias):
    publish(alias, PAGES, titles=TITLES)
    results = engine.search("nursing ward unicorns", alias=alias)
    assert (results.relaxed, [hit.title for hit in results.hits]) == (True, ["Handover"])
    assert titles(alias, '"patient unicorns" safety') == []


def test_small_words_may_be_missing_and_pages_with_most_words_say_what_they_lack(alias):
    publish(alias, PAGES, titles=TITLES)
    found = engine.search("where are the nursing notes of the region?", alias=alias)
    assert [(hit.title, hit.missing) for hit in found.hits] == [("Handover", ("region",))]
    assert titles(alias, "+where nursing") == []


def test_pages_that_are_alike_are_one_hit(alias):
    publish(alias, [{"title": "Handover", "text": COPY, "url": f"http://a.org/{n}"} for n in range(3)])
    results = engine.search("ward", alias=alias)
    assert (results.total, results.entries, results.hits[0].similar) == (3, 1, 2)


def test_an_address_of_two_documents_is_one_hit_that_names_both(alias):
    twice = [
        {"title": "Handover", "text": f"ward {doc_id}", "url": "http://a.org/1", "doc_id": doc_id} for doc_id in (1, 2)
    ]
    publish(alias, [*twice, {"title": "Other", "text": "ward", "url": "http://a.org/2"}], titles=TITLES)
    results = engine.search("title:handover ward", alias=alias)
    assert (results.total, results.entries, results.documents) == (1, 1, {1: 1, 2: 1})
    assert {results.hits[0].document, results.hits[0].others[0][1]} == {title for title, _ in TITLES.values()}


def many_pages(alias: str) -> None:
    """Beside one page of its own 20,000 that are in the index alone."""
    publish(alias, [{"title": "Page", "text": "common word rare7"}])
    with connections[alias].cursor() as cursor:
        cursor.execute(
            "INSERT INTO published_index SELECT n, to_tsvector('clearinghouse_english', 'common word rare' || n) "
            "FROM generate_series(100, 20000) n"
        )
        cursor.execute("VACUUM ANALYZE published_index")


def plan_of(alias: str, sql: str, values: Sequence[object]) -> str:
    with connections[alias].cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}", values)
        return "\n".join(row[0] for row in cursor.fetchall())


@pytest.mark.parametrize("word", ["rare7", "common"])
def test_the_words_are_looked_up_in_the_gin_index(alias, word):
    """Also those that every page has: else each vector of the table would be fetched to look into it."""
    many_pages(alias)
    key, score, source, condition, values = backends.backend(alias)._match(parse(word))
    plan = plan_of(alias, f"SELECT {key}, {score} FROM {source} WHERE {condition}", values)
    assert "Bitmap Index Scan on published_index_words" in plan


@pytest.mark.parametrize(("phrase", "found", "shared"), [('"word rare7"', 1, False), ('"common word"', 19_902, True)])
def test_a_phrase_of_words_that_many_pages_have_is_looked_for_by_several_processes(alias, phrase, found, shared):
    """By one they took 50 ms: the vector of each page is fetched. What the server is told for it holds for it alone."""
    many_pages(alias)
    plans: list[str] = []

    def explained(execute, sql, values, *others):
        if "ts_rank" in sql and not sql.startswith("EXPLAIN"):
            plans.append(plan_of(alias, sql, values))
        return execute(sql, values, *others)

    with connections[alias].execute_wrapper(explained):
        matches = backends.backend(alias).matches(parse(phrase))
    assert len(matches.best) == found
    assert "Bitmap Index Scan on published_index_words" in plans[0]
    assert ("Gather" in plans[0]) is shared
    with connections[alias].cursor() as cursor:
        cursor.execute("SHOW enable_seqscan")
        assert cursor.fetchone() == ("on",)


def test_of_a_common_word_that_few_pages_name_no_more_are_scored_than_somebody_waits_for(alias, monkeypatch):
    pages = [{"title": f"Page {n}", "text": "of a ward", "url": f"http://a{n}.org/x"} for n in range(9)]
    publish(alias, [{"title": "The ward", "text": "of it", "url": "http://b.org/x"}, *pages])
    monkeypatch.setattr(common_words, "COMMON", 0)
    monkeypatch.setattr(type(backends.backend(alias)), "MOST_OF_UNNAMED", 3)
    matches = backends.backend(alias).matches(parse("war*"))
    assert (len(matches.best), len(matches.others)) == (4, 10)
    results = engine.search("war*", alias=alias)
    assert results.total == 10 and results.hits[0].title == "The ward"


def test_a_text_too_long_for_the_index_is_halved_until_it_fits_and_said_so(alias):
    endless = "beginning " + " ".join(f"word{n:07}" for n in range(200_000)) + " ending"
    publish(alias, [{"title": "Endless", "text": endless}, {"title": "Short", "text": "word"}])
    assert titles(alias, "beginning") == ["Endless"]
    assert titles(alias, "ending") == []
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT cut FROM published_index ORDER BY published_id")
        assert cursor.fetchall() == [(True,), (False,)]


def test_no_text_is_an_error(alias):
    publish(alias, PAGES, titles=TITLES)
    for text in odd_texts():
        assert engine.search(text, alias=alias).seconds < 5, text[:80]


def test_after_many_pages_the_server_knows_of_them_before_anybody_asks(alias):
    """Not a minute later, when autovacuum comes by; a few pages are no reason to count all of them again."""

    def counted() -> float:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT reltuples FROM pg_class WHERE oid = 'published_index'::regclass")
            return cursor.fetchone()[0]

    publish(alias, [{"title": f"Page {n}", "text": "word"} for n in range(40)])
    backends.backend(alias).tidy(40)
    assert counted() == 40
    publish(alias, [{"title": "One more", "text": "word"}])
    backends.backend(alias).tidy(1)
    assert counted() == 40


def test_an_index_of_an_older_version_gets_what_it_lacks(alias):
    with connections[alias].cursor() as cursor:
        cursor.execute("DROP INDEX published_index_named")
    backends.backend(alias).ensure()
    publish(alias, [{"title": "Page", "text": "word"}])
    backends.backend(alias).tidy(1)
    assert titles(alias, "word") == ["Page"]
