"""One reader who calls an address as fast as the house lets him, with many connections at once."""

import http.client
import threading
from collections import Counter
from contextlib import suppress
from typing import Self

from .addresses import Call
from .people import Worker


class Reader:
    """For as long as this is entered; `statuses` counts what he was answered."""

    def __init__(self, port: int, who: Worker, calls: list[Call], connections: int = 32) -> None:
        self._port, self._who, self._calls = port, who, calls
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(n,), daemon=True) for n in range(connections)]
        self.statuses: Counter[int] = Counter()

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        self._over.wait(1.0)  # until he is well at work
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(70)

    def _work(self, number: int) -> None:
        turn = number
        web = http.client.HTTPConnection("127.0.0.1", self._port, timeout=65)
        while not self._over.is_set():
            call = self._calls[turn % len(self._calls)]
            turn += 7
            with suppress(OSError, http.client.HTTPException):
                web.request(call.method, call.path, call.body or None, self._headers(call))
                answer = web.getresponse()
                answer.read()
                self.statuses[answer.status] += 1
                continue
            web.close()

    def _headers(self, call: Call) -> dict[str, str]:
        headers = self._who.json_headers() | {"Host": "localhost"}
        if not call.as_json:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return headers
