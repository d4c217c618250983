"""What the product sends while it crawls, publishes, searches and shows its screens, as SQL Server would be sent it."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from tests.faults.house import BASE
from tests.tsql import hand
from tests.tsql.tables import columns

CHOSEN = (
    "tests/accounts/test_routes.py::test_everybody_gets_at_every_address_what_the_table_says[administrator]",
    "tests/crawler/engine/test_crawl.py::test_a_second_run_finds_the_unchanged_the_changed_and_the_new",
    "tests/crawler/engine/test_crawl.py::test_cancel_puts_the_pages_back_that_were_shown_before",
    "tests/crawler/liveness/test_queues_change_hands.py::test_an_heir_fetches_nothing_for_a_crawl_point_that_was_deactivated_before",
    "tests/crawler/engine/test_changes_under_a_run.py::test_of_a_page_that_alternates_one_revision_is_stored_whole",
    "tests/crawler/policy/test_rules_one_by_one.py::test_the_verdict_in_the_ledger_is_the_one_that_came_furthest",
    "tests/crawler/policy/test_paths.py::test_depth_and_hop_in_the_ledger_are_the_smallest_of_the_whole_run",
    "tests/crawler/sites/test_what_sites_say.py::test_an_unchanged_page_that_got_new_validators_is_asked_for_with_these",
    "tests/crawler/runs/test_tabs.py",
    "tests/crawlpoints/test_long_import.py::test_what_a_colleague_changed_meanwhile_is_read_once_more_and_shown_again",
    "tests/crawler/upkeep/test_prune.py::test_of_a_page_that_changed_each_time_only_what_is_needed_stays",
    "tests/word_index/test_commands.py::test_the_export_is_the_file_written_by_hand",
    "tests/propagation/test_faults.py::test_a_row_that_a_target_drops_stops_the_switch_and_is_named",
    "tests/propagation/test_generations.py",
    "tests/propagation/test_screens.py::test_figures_say_what_goes_to_content_development_only",
    "tests/propagation/test_address_status.py::test_a_page_that_results_fold_under_another_names_it",
    "tests/search/test_folded_results.py::test_an_address_of_several_documents_is_one_result_that_names_them",
    "tests/search/test_screens.py",
    "tests/search/test_small_words.py::test_where_few_pages_have_all_words_those_with_most_come_along_and_say_what_is_missing",
)
AT_LEAST = 800  # different statements; fewer would mean that nobody watched


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """What was said at the end, and the statements as they are written.

    In a process of its own: the back end for SQL Server changes Django. `python -m tests.tsql` runs all tests so.
    """
    written = tmp_path_factory.mktemp("tsql") / "written"
    done = subprocess.run(
        [sys.executable, "-m", "tests.tsql", *CHOSEN],
        cwd=BASE, env=os.environ | {"TSQL_WRITE": str(written)}, capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    assert written.exists(), done.stdout[-6000:] + done.stderr[-2000:]
    return done, [json.loads(line)["written"] for line in written.read_text().splitlines()]


@cache
def _made() -> dict[str, Any]:
    made = subprocess.run(
        [sys.executable, "-m", "tests.tsql.tables"], cwd=BASE, capture_output=True, text=True, timeout=120, check=True
    )
    return dict(json.loads(made.stdout))


def test_every_statement_the_product_sends_is_one_of_sql_server(
    watched: tuple[subprocess.CompletedProcess[str], list[str]],
) -> None:
    done, _ = watched
    said = done.stdout[-6000:]
    counted = re.search(r"([\d,]+) different texts from (\d+) places .* at most (\d+) parameters; (\d+) wrong", said)
    assert counted, said + done.stderr[-2000:]
    texts, places, most, wrong = (int(word.replace(",", "")) for word in counted.groups())
    assert (done.returncode, wrong) == (0, 0), said
    assert texts >= AT_LEAST and places >= 300 and most <= 2_100, said


def test_every_statement_that_is_written_by_hand_was_seen(
    watched: tuple[subprocess.CompletedProcess[str], list[str]],
) -> None:
    """By the recorder, or among what makes and adopts a database; the others say why SQL Server is never sent them."""
    beside = [sql for part in _made().values() for sql in ([*part["beside"]] if isinstance(part, dict) else part)]
    seen = "\n".join(hand.on_one_line(sql) for sql in [*watched[1], *beside])
    written = hand.statements()
    assert len(written) > 80
    assert [f"{one.place}: {one.text}" for one in written if not one.seen_in(seen)] == []


def test_rows_that_bring_their_numbers_are_announced(
    watched: tuple[subprocess.CompletedProcess[str], list[str]],
) -> None:
    """SQL Server numbers an IDENTITY column itself, and refuses a number it was not told of."""
    made = [sql for alias in ("default", "webcrawl", "primary") for sql in _made()[alias]["tables"]]
    numbered = {table: name for table, name, _, rest in columns(made) if "IDENTITY" in rest}
    brought = set()
    for sql in watched[1]:
        if found := re.search(r"^(?:IF NOT .*)?INSERT INTO (\w+) \(([^)]*)\)", sql):
            names = {name.strip('" ') for name in found[2].split(",")}
            brought |= {found[1]} if numbered.get(found[1]) in names else set()
    announced = {sql.split()[2] for sql in watched[1] if sql.startswith("SET IDENTITY_INSERT") and sql.endswith(" ON")}
    assert brought == announced == {"page_version", "published_version", "published_meta"}


def test_what_is_left_out_stands_in_the_source() -> None:
    """A reason for a module or a statement that is no longer there would be a hole."""
    names = {one.place.partition(":")[0] for one in hand.everywhere()}
    assert set(hand.OF_OTHER_SERVERS) <= names
    texts = [one.text for one in hand.everywhere() if one.place.partition(":")[0] not in hand.OF_OTHER_SERVERS]
    assert [start for start in hand.NOT_SENT if not any(text.startswith(start) for text in texts)] == []


def test_a_statement_that_nobody_saw_is_found() -> None:
    one = hand.Written("crawler.engine.storage:1", ("UPDATE ledger SET ", " = %s WHERE id = %s"))
    assert one.seen_in("SELECT 1\nUPDATE ledger SET depth = %s WHERE id = %s")
    assert not one.seen_in("UPDATE ledger SET depth = %s\n WHERE id = %s")
