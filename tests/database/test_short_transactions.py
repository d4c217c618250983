"""A long piece of work writes in short transactions: their size follows the clock, and between two others get in."""

import time

import pytest

from clearinghouse.database import short_transactions
from clearinghouse.database.short_transactions import AIM, FEWEST, FIRST, MOST, PAUSE, ShortTransactions

pytestmark = pytest.mark.django_db


def test_what_takes_long_is_made_smaller_at_once_and_what_is_short_grows_twofold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(short_transactions, "PAUSE", 0.0)
    short, largest = ShortTransactions(), 0
    assert short.rows == FIRST
    with short.one():
        time.sleep(2 * AIM)
    assert FEWEST <= short.rows <= FIRST / 2
    for _ in range(30):
        before = short.rows
        with short.one():
            pass
        assert short.rows <= 2 * before
        largest = max(largest, short.rows)
    assert largest == MOST
    for _ in range(3):
        with short.one():
            time.sleep(10 * AIM)
    assert short.rows == FEWEST, "it never becomes nothing"


def waited(computing: float) -> float:
    short = ShortTransactions()
    with short.one():
        pass
    time.sleep(computing)
    began = time.monotonic()
    with short.one():
        return time.monotonic() - began


def test_between_two_the_database_is_free_and_what_is_computed_meanwhile_counts() -> None:
    assert waited(0.0) > PAUSE - 0.02
    assert min(waited(PAUSE) for _ in range(5)) < PAUSE / 2


def test_a_transaction_that_failed_is_followed_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_transactions, "PAUSE", 0.0)
    short = ShortTransactions()
    with pytest.raises(ValueError, match="no"), short.one():
        raise ValueError("no")
    with short.one():
        assert short.rows == FIRST
