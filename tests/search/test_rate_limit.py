"""Who searches faster than people do is asked to wait, politely; everybody else never notices."""

import pytest

from clearinghouse.search.rate_limit import Buckets
from tests.search.library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SOMEBODY = {"REMOTE_ADDR": "203.0.113.9"}


def test_a_bucket_fills_again_within_a_minute():
    buckets = Buckets()
    assert [buckets.wait("203.0.113.9", 3, 0.0) for _ in range(4)] == [0, 0, 0, 20]
    assert buckets.wait("203.0.113.10", 3, 0.0) == 0
    assert buckets.wait("203.0.113.9", 3, 20.0) == 0
    assert buckets.wait("203.0.113.9", 3, 20.0) == 20
    assert [buckets.wait("203.0.113.9", 3, 1000.0) for _ in range(4)] == [0, 0, 0, 20]


def test_who_goes_on_knocking_is_not_locked_out_for_longer():
    buckets = Buckets()
    for second in range(30):
        buckets.wait("203.0.113.9", 1, float(second))
    assert buckets.wait("203.0.113.9", 1, 60.0) == 0


def test_a_household_of_the_sixth_version_is_one_address():
    buckets = Buckets()
    assert buckets.wait("2001:db8::1", 1, 0.0) == 0
    assert buckets.wait("2001:db8::2", 1, 0.0) > 0
    assert buckets.wait("2001:db8:0:1::1", 1, 0.0) == 0


def test_the_memory_is_bounded():
    buckets = Buckets(most=100)
    for number in range(1000):
        buckets.wait(f"10.0.{number // 250}.{number % 250}", 5, float(number))
    assert len(buckets) == 100


def test_too_many_searches_get_a_polite_page(client, db, monkeypatch):
    monkeypatch.setenv("CLEARINGHOUSE_SEARCH_PER_MINUTE", "2")
    publish("primary", [{"title": "A page", "text": "words"}])
    for _ in range(2):
        assert client.get("/search/?q=words", **SOMEBODY).status_code == 200
    answer = client.get("/search/?q=words", **SOMEBODY)
    assert answer.status_code == 429
    assert 1 <= int(answer["Retry-After"]) <= 30
    page = answer.content.decode()
    assert "Please wait 30 seconds" in page and "More than 2 searches a minute" in page
    assert 'href="/search/?q=words"' in page
    assert client.get("/search/feed.atom?q=words", **SOMEBODY).status_code == 429
    assert client.get("/search/?q=words", REMOTE_ADDR="203.0.113.10").status_code == 200


def test_staff_and_this_machine_are_never_asked_to_wait(client, signed_in, editor, monkeypatch):
    monkeypatch.setenv("CLEARINGHOUSE_SEARCH_PER_MINUTE", "1")
    for _ in range(3):
        assert client.get("/search/?q=words").status_code == 200
        assert signed_in(editor).get("/search/?q=words", **SOMEBODY).status_code == 200


def test_0_is_no_limit(client, db, monkeypatch):
    monkeypatch.setenv("CLEARINGHOUSE_SEARCH_PER_MINUTE", "0")
    assert {client.get("/search/?q=words", **SOMEBODY).status_code for _ in range(5)} == {200}
