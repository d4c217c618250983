"""What a process keeps of searches: never of another generation, and no more than it may."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import DatabaseError, connections
from django.test.utils import CaptureQueriesContext

from clearinghouse.published.models import LiveGeneration, PublishedInterval
from clearinghouse.published.types import PDF
from clearinghouse.search import backends, engine, search_cache
from clearinghouse.search.engine import Narrow
from tests.flow.house import until
from tests.search.test_engine import found, library, titles

__all__ = ["library"]
pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def test_what_a_search_keeps_is_never_shown_in_another_generation(library):
    assert titles("handover") == ["Handover", "Sitemap"]
    PublishedInterval.objects.using("primary").filter(published_id__gt=2).update(gen_to=2)
    LiveGeneration.objects.using("primary").update(generation=2)
    assert titles("handover") == ["Handover"]
    LiveGeneration.objects.using("primary").update(generation=1)
    assert titles("handover") == ["Handover", "Sitemap"]


@pytest.mark.sqlite
def test_the_next_page_and_a_facet_of_a_search_ask_the_index_nothing(library):
    found("patient")
    with CaptureQueriesContext(connections["primary"]) as asked:
        engine.search("patient", alias="primary", offset=1, filters=Narrow(types=(PDF,), sort="newest"))
    assert not [
        query for query in asked.captured_queries if "published_index" in query["sql"] and "MATCH" in query["sql"]
    ]


@pytest.mark.sqlite
def test_while_an_index_is_built_anew_nothing_of_it_is_kept(library):
    ids = list(PublishedInterval.objects.using("primary").values_list("published_id", flat=True))
    backends.remove("primary", ids[1:])
    assert titles("handover") == []
    with connections["primary"].cursor() as cursor:  # another process, which cannot tell this one
        cursor.execute("INSERT INTO published_index(rowid, title_str) VALUES (%s, 'handover')", [ids[1]])
        cursor.execute(
            "INSERT INTO published_facts SELECT %s, doc_id, crawl_page_type_id, host, language, folder, alike, "
            "crawled_at FROM published_facts",
            [ids[1]],
        )
    assert titles("handover") == ["Handover"]


def test_of_the_generations_before_a_new_one_only_the_last_stays_in_memory(library):
    for generation in (2, 3, 4):
        assert titles("handover") == ["Handover", "Sitemap"]
        LiveGeneration.objects.using("primary").update(generation=generation)
    assert titles("handover") == ["Handover", "Sitemap"]
    for store in (search_cache.GENERATIONS, search_cache.SEARCHES):
        assert {key[2] for key in store if key[0] == "primary"} == {3, 4}


def test_searches_that_find_nothing_weigh_what_they_take(library, monkeypatch):
    monkeypatch.setattr(search_cache, "SEARCHES", search_cache.BoundedCache(1_000))
    for number in range(50):
        assert found(f"nobodysays{number}").total == 0
    assert 0 < len(search_cache.SEARCHES) <= 1_000 / search_cache.ANSWER


def test_what_is_kept_is_bounded():
    store = search_cache.BoundedCache(10)
    for number in range(100):
        assert store.get(("primary", number), lambda number=number: (number, 3)) == number
    assert len(store) == 3
    store.forget("primary")
    assert len(store) == 0


def test_what_several_ask_for_at_once_is_made_once_and_nobody_else_waits_for_it():
    """All threads of a process read the facts of a new generation at once, and each took four times as long."""
    store, made, going_on = search_cache.BoundedCache(10), [], Event()

    def slowly() -> tuple[str, int]:
        made.append("facts")
        assert going_on.wait(5)
        return f"facts {len(made)}", 1

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(store.get, ("primary", 1), slowly) for _ in range(4)]
        until(lambda: made, "one of them makes it")
        assert store.get(("backup", 1), lambda: ("others", 1)) == "others"
        going_on.set()
        assert {one.result(5) for one in asked} == {"facts 1"} and made == ["facts"]


def test_what_could_not_be_made_is_made_by_the_next_who_asks():
    store = search_cache.BoundedCache(10)

    def fails() -> tuple[str, int]:
        raise DatabaseError

    with pytest.raises(DatabaseError):
        store.get(("primary", 1), fails)
    assert store.get(("primary", 1), lambda: ("not kept", -1)) == "not kept"
    assert store.get(("primary", 1), lambda: ("kept", 1)) == "kept" and len(store) == 1
