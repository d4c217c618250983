"""The time a run may take (control): when it is over, what still waits gets its verdict, and the run ends."""

import pytest

from crawler.ledger.ledger_check import faults
from crawler.models import Excursion, LedgerEntry
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
OBEYS = 4.0  # seconds: a look at the orders each second, and what is in flight lands


@proves("I5")
def test_the_time_limit_of_a_run_ends_it_at_the_limit() -> None:
    pages = {f"/{n}": Page([f"/{n + 1}"], delay=0.1) for n in range(600)}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/0"), "depth": 999}), max_seconds=1)
        asked = sum(site.requests.values())
    assert run.state == "finished_at_limit" and run.started_at and run.finished_at
    assert 1.0 < (run.finished_at - run.started_at).total_seconds() < 1.0 + OBEYS and 2 <= asked < 40
    excursion = Excursion.objects.get(run=run)
    assert (excursion.state, excursion.queued) == ("finished_at_limit", 0)
    assert excursion.tallies["reason"] == {"run_limit": 1} and excursion.skipped == 1
    rows = LedgerEntry.objects.filter(excursion=excursion, reason="run_limit")
    assert [(row.outcome, row.depth) for row in rows] == [("skipped", asked - 1)], "the next page was not asked for"
    assert faults(run) == []
