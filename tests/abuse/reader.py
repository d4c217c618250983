"""One reader who calls addresses as fast as the house lets him, with many connections at once.

A process of its own, so that the house alone makes others wait: python -m tests.abuse.reader is told what to call by
its input, calls until that ends, and prints how often each status was answered.
"""

import http.client
import json
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from typing import Self

from tests.flow.house import BASE

from .addresses import Call
from .people import Worker

CONNECTIONS = 32


class Reader:
    """For as long as this is entered; then `statuses` counts what he was answered."""

    def __init__(self, port: int, who: Worker, calls: list[Call]) -> None:
        self._told = json.dumps([port, who.json_headers(), calls])
        self.statuses: Counter[int] = Counter()

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.abuse.reader"]
        self._process = subprocess.Popen(command, cwd=BASE, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(self._told + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "at work\n"
        return self

    def __exit__(self, *_: object) -> None:
        said, _err = self._process.communicate(timeout=80)
        self.statuses.update({int(status): count for status, count in json.loads(said).items()})


def call_all(port: int, headers: dict[str, str], calls: list[Call]) -> Counter[int]:
    over, statuses = threading.Event(), Counter[int]()

    def work(turn: int) -> None:
        web = http.client.HTTPConnection("127.0.0.1", port, timeout=65)
        while not over.is_set():
            call = calls[turn % len(calls)]
            turn += 7
            with suppress(OSError, http.client.HTTPException):
                web.request(call.method, call.path, call.body or None, headers_of(call, headers))
                answer = web.getresponse()
                answer.read()
                statuses[answer.status] += 1
                continue
            web.close()

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    over.wait(1.0)  # until he is well at work
    print("at work", flush=True)
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join(70)
    return statuses


def headers_of(call: Call, headers: dict[str, str]) -> dict[str, str]:
    kind = {} if call.as_json else {"Content-Type": "application/x-www-form-urlencoded"}
    return headers | {"Host": "localhost"} | kind


if __name__ == "__main__":
    port, headers, calls = json.loads(sys.stdin.readline())
    print(json.dumps(call_all(port, headers, [Call(*one) for one in calls])))
