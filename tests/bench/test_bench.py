"""Each measurement in a tiny form, so that it cannot rot. Its figures mean nothing; what it counts must be right."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench import (
    at_work,
    crawl,
    crowd,
    documents,
    growth,
    instances,
    libraries,
    machine,
    orders,
    propagation,
    screens,
    slow_hosts,
)
from tests.proves import proves
from tests.requirements import need

Rows = dict[str, list[str]]


@pytest.fixture(autouse=True)
def nginx_is_here() -> None:
    need("nginx", not machine.missing(["nginx"]), "nginx is not installed")


@pytest.fixture
def rows(capsys: pytest.CaptureFixture[str]):
    """The printed tables: the first cell of each row -> the others."""

    def read() -> Rows:
        lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        return {row[0]: row[1:] for row in cells}

    return read


def test_the_crawl_stores_every_page_of_the_site_and_is_compared_with_each_peer(rows):
    crawl.main(["--pages", "30", "--rounds", "1"])
    found = rows()
    assert found["clearinghouse"][0] == "30"
    for name in found.keys() & crawl.BUDGETS.keys():
        assert int(found[name][0]) in (30, 31)  # Scrapy reads its first page twice
        assert found[name][3].endswith("×")


def test_growth_crawls_a_small_and_a_large_site_and_weighs_the_process_with_its_helpers(rows):
    growth.main(["--pages", "30"])
    found = rows()
    assert found["3"][2] == "1.00 ×"
    together, alone = (float(cell) for cell in found["30"][-2:])
    assert together > 20
    assert alone > 20


def test_orders_are_given_to_a_crawl_and_its_requests_counted(rows):
    orders.main(["--pages", "600", "--rounds", "1"])
    found = rows()
    assert found.keys() >= orders.ORDERS.keys()
    assert 0 <= int(found["pause"][2]) < 600


def test_two_instances_crawl_two_documents(rows):
    instances.main(["--pages", "20"])
    found = rows()
    assert found["1"][0] == found["2"][0] == "40"
    assert machine.family(os.getpid(), "nginx") == []


def test_slow_hosts_are_crawled_completely_with_and_without_their_delay(rows):
    slow_hosts.main(["--hosts", "3", "--pages", "5"])
    found = rows()
    assert found["answers after 100 ms"][0] == found["answers at once: the processor's limit"][0] == "15"
    assert found["ideal: every connection always in use"][2] == "60"


def test_tiny_documents_are_crawled_by_the_command(monkeypatch):
    """The other way, through RQ, is tests/flow's; here it would only wait for workers to start."""
    manage = crawl.manage

    def prepared_before(var: Path, *arguments: str) -> dict[str, object]:
        if arguments != ("prepare",):
            return manage(var, *arguments)
        shutil.copytree(crawl._prepared(), var, dirs_exist_ok=True)
        return {}

    monkeypatch.setattr(documents, "manage", prepared_before)
    with crawl.folder() as work:
        documents.write_site(12, work / "site")
        with crawl.nginx(work / "site", work) as address:
            assert documents.by_command(documents.house(work, 12, address)) == 12


def test_every_library_does_the_same_work(capsys):
    libraries.main(["--pages", "5", "--rounds", "1"])
    printed = capsys.readouterr().out
    for name in ("requests.Session.get", "pycurl multi, 16 connections", "BeautifulSoup(lxml)", "Resolver"):
        assert name in printed


def test_screens_are_opened_idle_and_while_a_crawl_goes_on(rows, monkeypatch):
    monkeypatch.setattr(screens, "BUDGETS", {1: 1.25})
    screens.main(["--pages", "300", "--seconds", "1", "--rounds", "1"])
    found = rows()
    for name in screens.PAGES:
        idle, loaded = found[name][:2]
        assert int(idle) > 0
        assert int(loaded) > 0


def test_what_is_measured_knows_nothing_of_the_settings_around_it(monkeypatch):
    monkeypatch.setenv("CLEARINGHOUSE_DB", "postgres://somebody/elses")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert not {"CLEARINGHOUSE_DB", "PYTHONDONTWRITEBYTECODE"} & machine.environment().keys()


def test_memory_and_processor_time_are_those_of_the_kernel():
    assert os.getpid() in machine.family(os.getppid())
    assert 0 < machine.memory(os.getpid()) <= machine.memory(os.getpid(), "Rss")
    assert 0 < machine.seconds_of([os.getpid()]) <= machine.busy_seconds()
    assert machine.percentile([3.0, 1.0, 2.0], 0.5) == 2.0


def test_the_bench_runs_what_is_named_and_says_what_it_cannot(capsys, monkeypatch):
    monkeypatch.setattr(machine, "missing", lambda tools: list(tools))
    monkeypatch.setattr(sys, "argv", ["bench", "crawl", "growth", "--pages", "10"])
    assert bench.main() == 0
    printed = capsys.readouterr().out
    assert printed.count("NOT RUN") == 2
    assert "NOT RUN: growth: nginx missing on this machine" in printed
    with pytest.raises(SystemExit, match="no measurement"):
        bench.read(["speed"])


@proves("goal 28")
def test_a_crowd_beside_two_instances_loses_nothing_and_finds_no_locked_database(rows):
    crowd.main(["--requests", "80", "--clients", "2", "--pages", "60", "--seconds", "2", "--people", "0"])
    found = rows()
    assert found["80"][:2] == ["80 × 200", "2"] and found["80"][-2:] == ["0", "kept"]
    assert "nobody touched the page for two minutes" in found


def test_few_and_many_people_work_beside_a_crawl_and_a_propagation_and_are_compared(rows, monkeypatch):
    monkeypatch.setattr(at_work, "PAUSE", 0.1)
    monkeypatch.setattr(at_work, "FEW", 1)
    crowd.main(
        ["--requests", "0", "--seconds", "3", "--viewers", "0", "--pages", "60", "--people", "3", "--rounds", "1"]
    )
    found = rows()
    for page in (at_work.SEARCH, at_work.PANEL, at_work.RUN):
        assert int(found[page][0]) > 0 and int(found[page][1]) > int(found[page][0])
        assert "≤ 2 ×" in found[page][-1]
    assert found["1 at work"][-1] == found["3 at work"][-1] == "0"
    assert machine.family(os.getpid(), "gunicorn") == []


def test_crawls_that_store_nothing_end_the_crowd_at_once():
    with crawl.folder() as work, crawl.nginx(work / "empty", work) as address:
        documents = crawl.house(work / "house", [crawl.start_of(address)] * 2)
        with (
            pytest.raises(RuntimeError, match="without a page"),
            crowd.always_crawling(work / "house", documents),
        ):
            pass


def test_the_first_propagation_is_compared_with_a_plain_copy_and_a_plain_index(rows, monkeypatch):
    monkeypatch.setattr(
        propagation.process_limits, "step_back", lambda: None
    )  # a process cannot become important again
    propagation.main(["--pages", "12", "--rounds", "1"])
    found = rows()
    assert {"copying", "indexing", "verifying"} <= found.keys()
