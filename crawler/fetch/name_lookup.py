"""Why a name could not be resolved: is it unknown, or does its name server not answer? libcurl does not tell (D2).

The system is asked once more, in threads: getaddrinfo knows no deadline. Only for names that failed already, and once
for all requests that wait for the same one.
"""

import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from queue import SimpleQueue

from crawler.values import NO_NAME_SERVER, Fetched

UNKNOWN_NAME = "the host name is unknown"
AT_ONCE = 16  # threads
DEADLINE = 10.0  # seconds
_UNKNOWN = {
    number
    for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY")
    if (number := getattr(socket, name, None)) is not None
}


def why(error: OSError | UnicodeError) -> str:
    """The detail of dns_failed for what the system's resolver says."""
    unknown = isinstance(error, UnicodeError) or (isinstance(error, socket.gaierror) and error.errno in _UNKNOWN)
    return UNKNOWN_NAME if unknown else NO_NAME_SERVER


@dataclass(slots=True)
class _Question:
    answers: list[Fetched] = field(default_factory=list)
    until: float = 0.0  # 0: nobody was asked yet


class NameLookups:
    """One thread uses it: ask some, then look now and then which are settled."""

    def __init__(self) -> None:
        self._questions: dict[str, _Question] = {}
        self._waiting: deque[str] = deque()
        self._found: SimpleQueue[tuple[str, str]] = SimpleQueue()
        self._threads = 0

    def ask(self, answer: Fetched) -> None:
        """Find out which kind of dns_failed this is; settled() hands it back."""
        host = answer.request.address.host
        if host not in self._questions:
            self._questions[host] = _Question()
            self._waiting.append(host)
        self._questions[host].answers.append(answer)
        self._start()

    def active(self) -> int:
        """How many answers wait for settled()."""
        return sum(len(question.answers) for question in self._questions.values())

    def settled(self) -> list[Fetched]:
        if not self._questions:
            return []
        answers: list[Fetched] = []
        while not self._found.empty():
            host, detail = self._found.get()
            self._threads -= 1
            answers += self._settle(host, detail)
        now = time.monotonic()
        for host in [host for host, question in self._questions.items() if 0 < question.until < now]:
            answers += self._settle(host, NO_NAME_SERVER)
        self._start()
        return answers

    def _settle(self, host: str, detail: str) -> list[Fetched]:
        question = self._questions.pop(host, _Question())  # none: it took too long
        for answer in question.answers:
            answer.detail = detail
        return question.answers

    def _start(self) -> None:
        while self._waiting and self._threads < AT_ONCE:
            host = self._waiting.popleft()
            self._questions[host].until = time.monotonic() + DEADLINE
            self._threads += 1
            threading.Thread(target=self._look_up, args=(host,), name="resolver", daemon=True).start()

    def _look_up(self, host: str) -> None:
        try:
            socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            self._found.put((host, why(error)))
        else:
            self._found.put((host, NO_NAME_SERVER))  # it answers now
