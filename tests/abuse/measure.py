"""A house with its front, its workers and its demo, crawled and published once; what people wait in it."""

import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.flow.house import BASE, House, until

from .addresses import Call
from .drips import waited
from .people import Worker

READER, AS = "indexer", "reader"  # in the demo, and in the matrix of tests/access


class Waits(NamedTuple):
    """Medians, in seconds."""

    search: float
    sign_in: float
    launch: float  # from the press of the button to the first page that was crawled

    def beside(self, idle: "Waits") -> list[float]:
        return [mine / theirs for mine, theirs in zip(self, idle, strict=True)]


@contextmanager
def silent_site() -> Iterator[str]:
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as one:
        yield f"http://127.0.0.1:{one.getsockname()[1]}/"


def prepare(house: House, silent: str) -> None:
    place = silent.removeprefix("http://").rstrip("/")
    house.env["CLEARINGHOUSE_ALLOWED_NETWORKS"] += f",{place}"
    house.manage("load_demo")
    house.collect_static()
    house.start_everything()
    house.start_front()
    run = house.manage("launch", "--doc", 2, "--speed", "fast")["run"]
    until(lambda: house.ended(run), "the first crawl has ended", 90)
    house.manage("propagate")


def calls_of(house: House, silent: str) -> list[Call]:
    command = [sys.executable, "-m", "tests.abuse.addresses", AS, silent]
    done = subprocess.run(command, cwd=BASE, env=house.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [Call(*one) for one in json.loads(done.stdout)]


def measured(house: House, worker: Worker, times: int) -> Waits:
    searches, sign_ins = waited(worker.search, times * 3), waited(worker.sign_in, times)
    launches = sorted(_launched(house, worker) for _ in range(max(times // 3, 1)))
    return Waits(*map(statistics.median, (searches, sign_ins, launches)))


def _launched(house: House, worker: Worker) -> float:
    began = time.perf_counter()
    run = worker.launch(2)
    pages = f"SELECT COALESCE(SUM(crawled + unchanged), 0) FROM excursion WHERE run_id = {run}"
    until(lambda: house.rows("webcrawl", pages)[0][0], "the first page has come", 60)
    took = time.perf_counter() - began
    until(lambda: house.ended(run), "the crawl has ended", 90)
    return took
