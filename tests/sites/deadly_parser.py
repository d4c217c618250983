"""The product's parser process, in which some pages are deadly: python -m tests.sites.deadly_parser SOCKET.

A page names its own effect, as a real one would have it by a fault of a library.
"""

import ctypes
import os
import signal

from crawler.extract import parser_process

_read = parser_process._read


def _deadly(facts: bytes, body: bytes) -> object:
    if b"kills its reader" in body:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"breaks its reader" in body:
        ctypes.string_at(0)  # a segmentation fault
    if b"takes all memory" in body:
        bytearray(parser_process.MEMORY)
    while b"never ends" in body:
        pass
    return _read(facts, body)


if __name__ == "__main__":
    parser_process._read = _deadly
    parser_process.main()
