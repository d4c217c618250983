"""What the public looks for is counted: words and numbers, nobody's name or address, and never in a search's way."""

import json
from datetime import date

import pytest
from django.db import OperationalError, connections

from clearinghouse import env
from clearinghouse.search.models import SearchUse
from clearinghouse.search.usage import services, spool
from clearinghouse.search.usage.counted_searches import OTHERS, query_text, summed
from tests.search.library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
BROWSER = {
    "HTTP_USER_AGENT": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0",
    "REMOTE_ADDR": "203.0.113.9",
}


@pytest.fixture
def pages(db) -> list[int]:
    return publish("primary", [{"title": "A page", "text": "asthma words"}, {"title": "B", "text": "asthma"}])


def rows() -> list[tuple[str, int, int, int, int]]:
    columns = ("query", "searches", "empty", "found", "opened")
    return list(SearchUse.objects.order_by("query").values_list(*columns))


def lines() -> str:
    file = env.var() / "search-use.lines"
    return file.read_text() if file.exists() else ""


def test_each_search_is_counted_once_by_query_and_day(client, pages):
    for address in ("?q=Asthma", "?q=++asthma++", "?q=zebra", "?q=asthma&page=2", "?q="):
        client.get(f"/search/{address}", **BROWSER)
    services.collect()
    client.get("/search/?q=asthma", **BROWSER)
    services.collect()
    assert rows() == [("asthma", 3, 0, 2, 0), ("zebra", 1, 1, 0, 0)]
    assert services.collect() == 0


def test_a_get_writes_to_no_database_and_nothing_says_who_searched(client, pages):
    client.get("/search/?q=call+john@example.org+at+555-123-4567+asthma", **BROWSER)
    line = json.loads(lines())
    assert set(line) == {"day", "q", "n"}
    assert line["q"] == "call (mail address) at (number) asthma"
    assert "203.0.113" not in lines() and "Mozilla" not in lines()
    assert SearchUse.objects.count() == 0  # until the tick


def test_robots_staff_and_what_is_fetched_ahead_are_not_counted(client, signed_in, editor, pages):
    robots = ("Mozilla/5.0 (compatible; Examplebot/2.1)", "curl/8.5", "python-requests/2.32", "")
    for agent in robots:
        client.get("/search/?q=asthma", HTTP_USER_AGENT=agent)
    signed_in(editor).get("/search/?q=asthma", **BROWSER)
    client.get("/search/?q=asthma", **BROWSER, HTTP_SEC_PURPOSE="prefetch;prerender")
    assert lines() == ""


def test_opened_results_are_told_by_a_small_script(client, pages):
    page = client.get("/search/?q=asthma", **BROWSER).content.decode()
    assert 'data-opened="/search/opened/" data-q="asthma"' in page
    client.get("/search/?q=asthma", **BROWSER)
    for heads in ({"HTTP_SEC_FETCH_SITE": "same-origin"}, {"HTTP_REFERER": "http://testserver/search/?q=asthma"}):
        assert client.get("/search/opened/", {"q": "Asthma"}, **BROWSER, **heads).status_code == 204
        assert client.get("/search/opened/", **BROWSER, **heads).status_code == 204
    assert not client.cookies
    services.collect()
    assert rows() == [("asthma", 2, 0, 2, 2)]


@pytest.mark.parametrize(
    "heads",
    [
        {}, {"HTTP_REFERER": "http://elsewhere.example/"},
        {"HTTP_SEC_FETCH_SITE": "cross-site", "HTTP_REFERER": "http://testserver/search/"},
        {"HTTP_SEC_FETCH_SITE": "none"},
    ],
)  # fmt: skip
def test_pages_of_others_count_no_opened_result(client, pages, heads):
    assert client.get("/search/opened/", {"q": "asthma"}, **BROWSER, **heads).status_code == 204
    assert client.post("/search/opened/", {"q": "asthma"}, **BROWSER, **heads).status_code == 405
    assert lines() == ""


def test_a_busy_database_is_asked_again_later_and_nothing_is_counted_twice(client, pages):
    client.get("/search/?q=asthma", **BROWSER)

    def busy(execute, sql, *rest):
        if "INSERT" in sql:
            raise OperationalError("database is locked")
        return execute(sql, *rest)

    with connections["webcrawl"].execute_wrapper(busy):
        assert services.collect() == 0
    client.get("/search/?q=asthma", **BROWSER)
    services.collect()
    services.collect()
    assert rows() == [("asthma", 2, 0, 2, 0)]


def test_a_long_spool_is_emptied_in_short_steps(pages, monkeypatch):
    monkeypatch.setattr(spool, "AT_ONCE", 2)
    for text in ("a", "b", "a", "c", "a"):
        spool.add({"day": "2026-11-12", "q": text, "n": 1})
    assert [services.collect() for _ in range(4)] == [2, 2, 1, 0]
    assert rows() == [("a", 3, 0, 1, 0), ("b", 1, 0, 1, 0), ("c", 1, 0, 1, 0)]


def test_a_full_spool_costs_lines_and_never_a_search(client, pages, monkeypatch):
    monkeypatch.setattr(spool, "MOST_BYTES", 100)
    for number in range(20):
        assert client.get(f"/search/?q=asthma{number}", **BROWSER).status_code == 200
    assert 0 < len(lines()) <= 100


def test_a_folder_that_cannot_be_written_costs_lines_and_never_a_search(client, pages, monkeypatch):
    monkeypatch.setattr(spool, "_path", lambda name: env.var() / "no such folder" / name)
    assert client.get("/search/?q=asthma", **BROWSER).status_code == 200


def test_a_day_has_at_most_so_many_queries(pages, monkeypatch):
    monkeypatch.setattr(services, "MOST_ROWS_PER_DAY", 2)
    for text in ("a", "b", "c", "d", "a"):
        spool.add({"day": "2026-11-12", "q": text, "n": 1})
    services.collect()
    assert rows() == [(OTHERS, 2, 0, 1, 0), ("a", 2, 0, 1, 0), ("b", 1, 0, 1, 0)]


def test_what_was_counted_years_ago_is_let_go(pages):
    SearchUse.objects.create(day=date(2020, 1, 1), query="old", query_key=b"0" * 32, searches=1)
    spool.add({"day": "2026-11-12", "q": "new", "n": 1})
    services.collect()
    assert [row[0] for row in rows()] == ["new"]


def test_a_line_cut_short_or_not_ours_is_left_out():
    odd = [{}, {"day": "x", "q": "a", "n": 1}, {"day": "2026-11-12", "q": 7, "n": 1}, {"day": "2026-11-12", "q": "a"}]
    assert all(sums.searches == 0 for sums in summed(odd).values())
    (env.var() / "search-use.lines").write_text('{"day":"2026-11-12","q":"a","n":1}\n{"day":"2026-')
    services.collect()
    assert rows() == [("a", 1, 0, 1, 0)]


def test_the_text_of_a_query_is_short_and_plain():
    assert query_text("  Größe\t\x00 der  WELT \ud800 ") == "größe der welt"
    assert len(query_text("wort " * 1000)) <= 200
    assert query_text("ICD 10 in 2026") == "icd 10 in 2026"
