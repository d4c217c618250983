"""Owns: giving back to the system what this process has freed and the C library keeps. Does not: free anything.

Called by: who reads large pages, in a web process and in a parser.
"""

import ctypes

_library = ctypes.CDLL(None)


def give_back_memory() -> None:
    """A few milliseconds; nothing where the C library cannot do it."""
    trim = getattr(_library, "malloc_trim", None)
    if trim is not None:
        trim(0)
