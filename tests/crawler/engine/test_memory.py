"""What an instance keeps in memory of each address it knows (design rule 13): about 120 bytes."""

import subprocess
import sys

from tests.extract.test_hostile_pages import _environment
from tests.proves import proves

KNOWN, MOST = 300_000, 140  # addresses; bytes of each
_MEASURED = f"""
import gc, django
django.setup()
from clearinghouse.database.digests import digest_of
from crawler.policy.frontier import Frontier
from crawler.policy.path import Way
from crawler.engine.process_limits import memory
from crawler.values import PointSettings, Snapshot

site = "https://a.example/"
frontier = Frontier(Snapshot(1, (PointSettings(id=1, url=site, root=site, depth=99),), ()))
frontier.seed()

def find(first, last):
    for start in range(first, last, 1000):
        frontier.links(digest_of(site), [Way(0, 0, 0, False)], [f"{{site}}{{n}}" for n in range(start, start + 1000)])
        frontier.drain()
        frontier.fresh, frontier.nearer = [], []
    gc.collect()
    return memory()

before = find(0, 100_000)  # and what it remembers of links, which has an end of its own
print((find(100_000, {KNOWN}) - before) / ({KNOWN} - 100_000), len(frontier.known))
"""


@proves("rule 13", "F12")
def test_a_known_address_costs_about_120_bytes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED], capture_output=True, text=True, check=True, env=_environment()
    )
    bytes_each, known = done.stdout.split()
    assert int(known) == KNOWN + 1
    assert 60 < float(bytes_each) <= MOST
