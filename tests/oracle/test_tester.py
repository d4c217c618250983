"""The tester's verdict is the ledger's reason, for every URL of random sites (ui.md, check 7).

The worlds are those of the oracle: redirects in chains and circles, duplicates, failures, traps, robots.txt, several
crawl points that read one address each in its own way.
"""

from collections import Counter
from typing import Any

import pytest

from clearinghouse.library.models import Document
from crawler.ledger.explain import NO, YES
from crawler.models import Host, LedgerEntry, Run
from tests.crawler.conftest import crawl
from tests.crawler.ledger.test_explain_parity import JUDGED, explained
from tests.oracle.crawling import store
from tests.oracle.site import open_socket, served
from tests.oracle.world import make_world

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
SEEDS = [seed for seed in range(7_000_000, 7_000_060) if 40 < len(make_world(seed, "http://x").nodes) < 80][:9]
SEEDS.append(9_000_046)  # a link says nofollow, and a crawl point begins there
# Known only while the crawl runs: how many pages were there before, what the answer was.
_LATER = {"page_limit", "run_limit"}


@pytest.fixture(scope="module")
def seen() -> Counter[str]:
    return Counter()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tester_says_what_the_ledger_says(seed: int, seen: Counter[str]) -> None:
    with open_socket() as listening:
        world = make_world(seed, f"http://127.0.0.1:{listening.getsockname()[1]}")
        with served(world, listening):
            Host.objects.all().delete()
            documents = [Document.objects.get(pk=one.doc_id) for one in store(world.documents)]
            run = crawl(*documents)
            differing = [
                told
                for document in documents
                for used_up in [_points_with_a_used_up_maximum(run, document)]
                for row, answer in explained(document, run)
                if (told := _difference(row, answer, used_up, seen))
            ]
    assert not differing, "\n".join(differing)


def _points_with_a_used_up_maximum(run: Run, document: Document) -> set[int | None]:
    rows = LedgerEntry.objects.filter(excursion__run=run, excursion__doc_id=document.pk, reason="page_limit")
    return set(rows.values_list("crawl_point_id", flat=True))


def _difference(row: Any, answer: dict[str, Any], used_up: set[int | None], seen: Counter[str]) -> str:
    # What was asked for and redirected to a place that is refused has the reason of that place.
    if not row.status and row.reason in JUDGED | {"nofollow"}:
        expected = (NO, row.reason)
    elif row.status and row.reason not in _LATER:
        expected = (YES, "")
    else:
        seen[f"left out: {row.reason}"] += 1
        return ""
    seen[row.reason or row.outcome] += 1
    told = (answer["verdict"], answer["reason"])
    if row.reason == "too_deep" and told == (YES, "") and used_up - {row.crawl_point_id}:
        return ""  # another crawl point would have come here, had it not stopped at its maximum on the way
    return "" if told == expected else f"{row.url} depth {row.depth}: ledger {row.outcome} {row.reason}, tester {told}"


def test_all_kinds_of_reasons_were_met(seen: Counter[str]) -> None:
    assert JUDGED - {"port_not_allowed", "too_long"} | {"nofollow", "crawled", "redirected", "http_4xx"} <= set(seen)
