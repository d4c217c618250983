"""The same path through Redis and real worker processes."""

import signal
import time

from tests.flow.house import until
from tests.flow.test_commands import a_document
from tests.proves import proves


@proves("rule 6")
def test_a_launched_run_is_crawled_by_workers_and_found_by_search(house):
    house.start_everything()
    document = a_document(house, depth=3)
    launched = house.manage("launch", "--doc", document, "--speed", "fast")
    assert launched["left_out"] == []
    run = until(lambda: house.ended(launched["run"]), "the run ends", 60)
    assert (run["state"], run["crawled"], run["queued"]) == ("finished", 25, 0), house.log
    house.manage("check_ledger", run["run"])
    house.manage("propagate")
    assert house.manage("search", "catheterisation")["total"] == 1


@proves("A6")
def test_a_worker_told_to_stop_ends_at_once_and_another_continues(house):
    house.open_site()
    house.start_redis()
    house.start_worker("control")
    worker = house.start_worker("crawl")
    house.start_manage("tick")
    document = a_document(house, depth=3)
    run = house.manage("launch", "--doc", document, "--speed", "polite")["run"]
    until(lambda: house.crawled(run) >= 2, "two pages are crawled")

    worker.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    worker.wait(timeout=30)
    assert time.monotonic() - begun < 10
    assert house.ended(run) is None

    house.manage("run", run, "speed", "fast")
    house.start_worker("crawl")
    result = until(lambda: house.ended(run), "another worker finishes the run", 60)
    assert (result["state"], result["crawled"]) == ("finished", 25), house.log


@proves("A5")
def test_a_killed_worker_leaves_no_orphan_and_loses_nothing(house):
    house.open_site()
    house.start_redis()
    house.start_worker("control")
    worker = house.start_worker("crawl")
    house.start_manage("tick")
    document = a_document(house, depth=3)
    run = house.manage("launch", "--doc", document, "--speed", "polite")["run"]
    until(lambda: house.crawled(run) >= 2, "two pages are crawled")

    worker.kill()
    worker.wait()
    until(lambda: not any("rqworker crawl" in line for line in house.processes().values()), "its job is dead too", 5)
    house.manage("run", run, "speed", "fast")
    house.start_worker("crawl")
    result = until(lambda: house.ended(run), "another worker finishes the run", 60)
    assert (result["state"], result["crawled"]) == ("finished", 25), house.log
    house.manage("check_ledger", run)


@proves("rule 6", "I7", "B1")
def test_a_run_launched_without_redis_begins_when_redis_comes(house):
    house.open_site()
    document = a_document(house, depth=3)
    run = house.manage("launch", "--doc", document, "--speed", "fast")
    assert run["state"] == "waiting"
    house.start_redis()
    for queue in ("control", "crawl"):
        house.start_worker(queue)
    house.start_manage("tick")
    result = until(lambda: house.ended(run["run"]), "the run ends", 60)
    assert (result["state"], result["crawled"]) == ("finished", 25), house.log
