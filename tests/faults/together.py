"""python -m tests.faults.together PROCESSES KIND [NUMBER]: many processes do the same at the same moment.

Kinds: launch (ask for a crawl of all documents), initialize (open the queues of a run).
Prints one JSON list: what each process got, or the name of the error it met.
"""

import json
import os
import sys
import time
from collections.abc import Callable

START_SECONDS = 0.5  # all are there by then


def launch(_: int) -> str:
    from crawler.launching.launch import LaunchRequest, launch

    return f"run {launch(LaunchRequest(None, by='test', speed='fast')).pk}"


def initialize(run: int) -> str:
    from crawler import jobs

    jobs.initialize(run)
    return "done"


KINDS: dict[str, Callable[[int], str]] = {"launch": launch, "initialize": initialize}


def main(processes: int, kind: str, number: int) -> None:
    import django

    django.setup()
    import crawler.launching.launch  # noqa: F401 - loaded before the others begin

    begin = time.monotonic() + START_SECONDS
    pipes = [_start(KINDS[kind], number, begin) for _ in range(processes)]
    told = []
    for pipe in pipes:
        with os.fdopen(pipe) as file:
            told.append(file.read())
        os.wait()
    print(json.dumps(told))


def _start(step: Callable[[int], str], number: int, begin: float) -> int:
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        return reading
    time.sleep(max(0.0, begin - time.monotonic()))
    try:
        os.write(writing, _told(step, number).encode())
    finally:
        os._exit(0)


def _told(step: Callable[[int], str], number: int) -> str:
    from django.db import DatabaseError

    from crawler.errors import CrawlerError

    try:
        return step(number)
    except (CrawlerError, DatabaseError) as error:
        return type(error).__name__


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
