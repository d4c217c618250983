"""The short form: random graphs, crawled with kills and by several processes, agree with the reference crawler."""

import os
import subprocess
import sys

import pytest

from tests.house.tree import BASE
from tests.postgres import EVERYTHING
from tests.proves import proves

GRAPHS = 25


@proves("rule 1", "rule 2", "I2", "I4", "D17", "D27", "F14", "goal 10", "goal 11")
def test_random_graphs_are_crawled_exactly_as_the_reference_crawls_them(pytestconfig: pytest.Config) -> None:
    where = ["--postgres"] if pytestconfig.pluginmanager.hasplugin(EVERYTHING) else []
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CLEARINGHOUSE_", "DJANGO_"))}
    done = subprocess.run(
        [sys.executable, "-m", "tests.oracle", "--graphs", str(GRAPHS), "--seed", "7", *where],
        cwd=BASE, env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    figures = {line[:22].strip(): int(line[22:].split()[0]) for line in done.stdout.splitlines()}
    assert figures["graphs that differ"] == 0
    # The mixture is part of the promise.
    assert figures["redirects"] >= 0.3 * GRAPHS and figures["several crawl points"] >= 0.3 * GRAPHS
    assert figures["several instances"] >= 0.2 * GRAPHS and figures["killed and resumed"] >= 0.2 * GRAPHS
    assert figures["maxima"] > 0 and figures["URLs compared"] > 20 * GRAPHS
