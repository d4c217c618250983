"""PDF and office documents, read by a child process with bounded memory and time.

One child serves until it is in trouble: too slow, too large, crashed. Then it is killed and the next document gets a
new one. A document that cannot be read is kept without its text; one whose child stood still is read by another child.
"""

import atexit
import json
import os
import selectors
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from clearinghouse.addresses.parsing import Resolver
from clearinghouse.operations import process_state
from crawler.values import Extracted, Link

from ..html.html_page import TITLE_AT_MOST
from ..packed_links import LINKS_AT_MOST, packable
from ..plain_text import keep_text

SECONDS = 8.0  # for one document, starting the child included; below the instance's own watchdog of 10
TRIES = 3  # when the child stood still, or the machine was too busy for it
_WORKED = 0.25  # of the time: less processor time was no work of the document's
_ROOT = Path(__file__).resolve().parents[3]
_PIPE = 1 << 16


class _Trouble(Exception):
    """The child did not answer as it should."""


class _Late(_Trouble):
    """Its time was over."""


class _Child:
    """The process, and the conversation with it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crawler.extract.office.document_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(_ROOT)},  # it needs none of our settings
            process_group=0,  # Ctrl-C is for the crawler, which ends it in order; no session that would not step back
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def ask(self, type_id: int, data: bytes, until: float) -> dict[str, Any]:
        """Title, text and links of a document."""
        self._send(json.dumps({"type": type_id, "size": len(data)}).encode() + b"\n", until)
        self._send(data, until)
        (size,) = struct.unpack("<I", self._receive(4, until))
        answer: dict[str, Any] = json.loads(self._receive(size, until))
        return answer

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()

    def _send(self, data: bytes, until: float) -> None:
        view = memoryview(data)
        while view:
            self._await(self._in, selectors.EVENT_WRITE, until)
            try:
                view = view[os.write(self._in, view[:_PIPE]) :]
            except BrokenPipeError:
                raise _Trouble from None

    def _receive(self, size: int, until: float) -> bytes:
        received = bytearray()
        while len(received) < size:
            self._await(self._out, selectors.EVENT_READ, until)
            chunk = os.read(self._out, min(size - len(received), 1 << 20))
            if not chunk:
                raise _Trouble
            received += chunk
        return bytes(received)

    def _await(self, descriptor: int, event: int, until: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            left = until - time.monotonic()  # a child that talks without end is out of time, too
            if left <= 0 or not selector.select(left):
                raise _Late

    @property
    def worked(self) -> float:
        return process_state.of(self._process.pid).seconds


class _StoodStill(Exception):
    """It did not answer in time, and did not work either: another child is to try."""


_child: _Child | None = None
_turn = threading.Lock()


def read_document(body: bytes, url: str, page: Extracted) -> Extracted:
    """Fill `page` from a PDF or office document found at `url`."""
    answer = _ask(page.type_id, body)
    page.title = answer.get("title", "")
    if len(page.title) > TITLE_AT_MOST:
        page.title = page.title[:TITLE_AT_MOST]
        page.flags.append("title_cut")
    keep_text(answer.get("text", ""), page)
    if not page.text:
        page.flags.append("no_text")
    page.links = _links(answer.get("links", []), url)
    if len(page.links) > LINKS_AT_MOST:
        page.flags.append("links_cut")
        del page.links[LINKS_AT_MOST:]
    return page


def _links(found: list[tuple[str, str]], url: str) -> list[Link]:
    resolve = Resolver(url)
    addresses = packable(resolve.many([address for address, _ in found]))
    return [Link(address, anchor) for address, (_, anchor) in zip(addresses, found, strict=True)]


def close() -> None:
    """End the child, if there is one."""
    global _child
    if _child is not None:
        _child.kill()
        _child = None


def _ask(type_id: int, body: bytes) -> dict[str, Any]:
    with _turn:
        for _ in range(TRIES):
            try:
                return _asked(type_id, body)
            except _StoodStill:
                continue
    return {}


def _asked(type_id: int, body: bytes) -> dict[str, Any]:
    global _child
    until, before = time.monotonic() + SECONDS, 0.0
    try:
        if _child is None:
            _child = _Child()
        else:
            before = _child.worked
        return _child.ask(type_id, body, until)
    except (_Trouble, OSError, ValueError) as trouble:
        still = _child is not None and isinstance(trouble, _Late) and _child.worked - before < _WORKED * SECONDS
        close()
        if still:
            raise _StoodStill from trouble
        return {}


def _forget_after_fork() -> None:
    """A forked process must not talk to its parent's child."""
    global _child, _turn
    _child, _turn = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
atexit.register(close)
