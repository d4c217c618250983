"""Which process answers which address, and the socket file it listens on. Nothing but Python's own library is loaded.

python -m clearinghouse.gateway.routes NAME prints the file, for the Procfile.
"""

import sys
from typing import NamedTuple

from clearinghouse import env


class RouteGroup(NamedTuple):
    """Addresses that have threads of their own."""

    process: str  # as the Procfile calls it
    at_once: int  # requests at work; together not more than the process has threads
    each: int  # of these, for one visitor or session


STAFF = RouteGroup("web", 8, 2)
PUBLIC = RouteGroup("public", 4, 2)
STATIC = RouteGroup("public", 2, 1)  # so that nobody waits for a search behind the pictures of a page
GROUPS = (STAFF, PUBLIC, STATIC)
_PUBLIC = (b"/search/", b"/help/", b"/opensearch.xml", b"/healthz", b"/readyz")


def group_of(target: bytes) -> RouteGroup:
    """The public's pages, and whether we are well, are answered by a process that staff cannot keep busy."""
    if target.startswith(b"/static/"):
        return STATIC
    return PUBLIC if target.startswith(_PUBLIC) else STAFF


if __name__ == "__main__":
    print(env.socket_file(sys.argv[1]))  # noqa: T201
