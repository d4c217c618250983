"""Nothing that a process keeps of the search goes from one test into the next."""

from collections.abc import Iterator

import pytest

from clearinghouse import env
from clearinghouse.search.curation import best_bets, rules_cache
from clearinghouse.search.ranking import spelling
from clearinghouse.search.rate_limit import Buckets
from clearinghouse.search.views import visitor_limits


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(visitor_limits, "BUCKETS", Buckets())
    _forget()
    yield
    _forget()


def _forget() -> None:
    for kept in (rules_cache, best_bets, spelling):
        kept.forget()
    for file in env.var().glob("search-use.*"):
        file.unlink()
