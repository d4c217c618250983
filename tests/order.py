"""Owns: the order in which the files of the suite run: the longest first, so that no lane waits for another at the end.

Lanes take whole files (see the Makefile), in this order. Seconds are those of a quiet machine, to the nearest ten; a
file that is not named takes less than fifteen. `make test ARGS="-p tests.costs"` prints these lines anew; those of
0.2.0's files were reckoned from their processor time on a busy machine. Loaded as a plugin by tests/conftest.py.
"""

import pytest

SECONDS = {
    "adoption/test_adoption.py": 100,
    "browser/test_axe.py": 100,
    "faults/test_two_hosts.py": 80,
    "faults/test_redis.py": 80,
    "faults/test_sleepers.py": 70,
    "faults/test_databases.py": 70,
    "propagation/test_broken_servers.py": 70,
    "browser/test_every_page.py": 60,
    "browser/test_live_run.py": 60,
    "faults/test_kills.py": 60,
    "bench/test_bench.py": 60,
    "local/test_serve.py": 50,
    "accounts/test_routes.py": 50,
    "flow/test_through_rq.py": 50,
    "crawler/launching/test_control_of_processes.py": 50,
    "faults/test_stopped.py": 50,
    "propagation/test_servers.py": 40,
    "flow/test_commands.py": 40,
    "flow/test_on_postgres.py": 40,
    "faults/test_propagation.py": 40,
    "faults/test_initializers.py": 30,
    "local/test_workers.py": 30,
    "oracle/test_oracle.py": 30,
    "hostile/test_hostile.py": 30,
    "faults/test_servers.py": 30,
    "browser/test_first_morning_administrator.py": 30,
    "faults/test_imports.py": 30,
    "abuse/test_abuse.py": 30,
    "browser/test_crawl_points.py": 20,
    "word_index/test_servers.py": 20,
    "crawler/liveness/test_deadly_answers.py": 20,
    "propagation/test_load_balancer.py": 20,
    "browser/test_propagation.py": 20,
    "faults/test_gentle.py": 20,
    "faults/test_space.py": 20,
    "security/test_t07_processes.py": 20,
    "security/test_t07_passwords.py": 20,
    "browser/test_whole_path.py": 20,
    "browser/test_first_morning_manager.py": 20,
    "browser/test_first_morning_developer.py": 20,
    "upgrade/test_released.py": 20,
    "security/test_t53_private_files.py": 20,
    "browser/test_dialog_drafts.py": 20,
    "recorded/test_recorded.py": 20,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is not named keeps its place, behind the others."""
    items.sort(key=lambda item: -seconds(item.nodeid))


def seconds(nodeid: str) -> int:
    return SECONDS.get(nodeid.partition("::")[0].removeprefix("tests/"), 0)
