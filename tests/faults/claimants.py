"""python -m tests.faults.claimants PROCESSES QUEUES: many processes take the same queues at once (fault A9).

Prints one JSON list: for each process the queues it was given.
"""

import json
import os
import sys
import time
from typing import Any

LONGEST = 60.0


def main(processes: int, queues: int) -> None:
    import django

    django.setup()
    from django.db import connections

    run = _make(queues)
    connections.close_all()
    begin = time.monotonic() + 0.5
    pipes = []
    for _ in range(processes):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(reading)
            _claim_all(run, begin, writing)
        os.close(writing)
        pipes.append(reading)
    print(json.dumps([json.loads(_read(pipe)) for pipe in pipes]))
    assert all(os.waitpid(-1, 0)[1] == 0 for _ in range(processes)), "a process failed"


def _make(queues: int) -> Any:
    from django.utils import timezone

    from crawler.models import Excursion, Run

    run = Run.objects.create(speed="fast", requested_by="test", created_at=timezone.now(), initialized=True)
    Excursion.objects.bulk_create(
        Excursion(run=run, doc_id=100_000 + n, title="", snapshot={}, opened=True, found=1, queued=1)
        for n in range(queues)
    )
    return run


def _claim_all(run: Any, begin: float, pipe: int) -> None:
    from django.db import OperationalError

    from crawler.engine import message_queue
    from crawler.liveness import instances

    row, mine = instances.register(run.pk), []
    time.sleep(max(0.0, begin - time.monotonic()))
    deadline = time.monotonic() + LONGEST
    while message_queue.unserved(run.pk) and time.monotonic() < deadline:
        try:
            mine += [excursion.pk for excursion in message_queue.claim(row, 8)]
        except OperationalError:
            continue  # as the loop of an instance does: it looks again
    os.write(pipe, json.dumps(mine).encode())
    os._exit(0)


def _read(pipe: int) -> bytes:
    with os.fdopen(pipe, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
