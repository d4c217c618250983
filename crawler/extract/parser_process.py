"""The parser process: reads pages, one after the other, that an instance sends over a socket.

Hostile pages meet this process, not the loop: its memory is bounded, and when it hangs or dies the instance starts
another and knows which page it was. It knows no database and none of our settings.
"""

import ctypes
import gc
import os
import resource
import signal
import socket
import sys
from contextlib import suppress

from clearinghouse.addresses import Refusal
from clearinghouse.database.digests import digest_of
from clearinghouse.operations.free_memory import give_back_memory
from crawler.values import Extracted

from . import parser_messages
from .page_reader import read

MEMORY = 2_000_000_000  # bytes of address space
LARGE = 1_000_000  # bytes of a page whose tree leaves holes in the memory
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)


def main() -> None:
    """Serve until the instance closes the socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the instance, which ends us
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    os.nice(4)  # the loop comes first: whoever reads pages waits for it, and it for nobody
    _keep_memory()
    # An instance that was killed leaves a broken channel: then there is nobody to tell.
    with (
        suppress(ConnectionError),
        socket.socket(fileno=int(sys.argv[1])) as channel,
        channel.makefile("rb", 1 << 20) as jobs,
    ):
        while head := jobs.read(parser_messages.HEAD.size):
            facts_size, body_size = parser_messages.HEAD.unpack(head)
            facts, body = jobs.read(facts_size), jobs.read(body_size)
            if len(body) < body_size:
                return
            channel.sendall(parser_messages.answer(digest_of(body), _read(facts, body)))
            if body_size > LARGE:
                give_back_memory()  # or the process would stay as large as its largest page made it


def _keep_memory() -> None:
    """Memory of one page is kept for the next, where the C library can be told so."""
    library = ctypes.CDLL(None)
    tell = getattr(library, "mallopt", lambda what, size: 0)
    tell(_TRIM_THRESHOLD, 8_000_000)
    tell(_MMAP_THRESHOLD, 4_000_000)


def _read(facts: bytes, body: bytes) -> Extracted | Refusal:
    fetched = parser_messages.read_job(facts, body)
    return read(fetched, fetched.request.address)


if __name__ == "__main__":
    main()
