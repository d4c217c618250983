"""What the product sends while it crawls, publishes, searches and shows its screens, as SQL Server would be sent it."""

import re
import subprocess
import sys

from tests.faults.house import BASE

CHOSEN = (
    "tests/access/test_routes.py::test_everybody_gets_at_every_address_what_the_table_says[administrator]",
    "tests/crawler/test_crawl.py::test_a_second_run_finds_the_unchanged_the_changed_and_the_new",
    "tests/crawler/test_heirs.py::test_an_heir_fetches_nothing_for_a_crawl_point_that_was_deactivated_before",
    "tests/crawler/screens/test_tabs.py",
    "tests/index/test_commands.py::test_the_export_is_the_file_written_by_hand",
    "tests/propagation/test_generations.py",
    "tests/search/test_screens.py",
)
AT_LEAST = 400  # different statements; fewer would mean that nobody watched


def test_every_statement_the_product_sends_is_one_of_sql_server() -> None:
    """In a process of its own: the back end for SQL Server changes Django. `python -m tests.tsql` runs all tests so."""
    command = [sys.executable, "-m", "tests.tsql", *CHOSEN]
    done = subprocess.run(command, cwd=BASE, capture_output=True, text=True, timeout=300, check=False)
    said = done.stdout[-6000:]
    counted = re.search(r"([\d,]+) different texts from (\d+) places .* at most (\d+) parameters; (\d+) wrong", said)
    assert counted, said + done.stderr[-2000:]
    texts, places, most, wrong = (int(word.replace(",", "")) for word in counted.groups())
    assert (done.returncode, wrong) == (0, 0), said
    assert texts >= AT_LEAST and places >= 100 and most <= 2_100, said
