"""Nothing that a process keeps of the search goes from one test into the next."""

from collections.abc import Iterator

import pytest

from clearinghouse import env
from clearinghouse.search import spelling
from clearinghouse.search.curation import bets, cache
from clearinghouse.search.screens import turnstile
from clearinghouse.search.throttle import Buckets


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(turnstile, "BUCKETS", Buckets())
    _forget()
    yield
    _forget()


def _forget() -> None:
    for kept in (cache, bets, spelling):
        kept.forget()
    for file in env.var().glob("search-use.*"):
        file.unlink()
