"""Which process answers which address, and the socket file it listens on. Nothing but Python's own library is loaded.

python -m clearinghouse.front.addresses NAME prints the file, for the Procfile.
"""

import hashlib
import sys
import tempfile
from pathlib import Path

from clearinghouse import env

STAFF, PUBLIC = "web", "public"  # as the Procfile calls the processes
AT_ONCE = {STAFF: 8, PUBLIC: 4}  # their workers times threads
EACH = 2  # of these, for one visitor or session
_PUBLIC = (b"/search/", b"/help/", b"/static/", b"/opensearch.xml", b"/healthz", b"/readyz")


def process_of(target: bytes) -> str:
    """The public's pages, and whether we are well, are answered by a process that staff cannot keep busy."""
    return PUBLIC if target.startswith(_PUBLIC) else STAFF


def socket_of(name: str) -> Path:
    """In the folder of all state, or beside it where its path is too long for a socket."""
    path = env.var().resolve() / f"{name}.sock"
    if len(str(path)) < 100:
        return path
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"clearinghouse-{digest}.sock"


if __name__ == "__main__":
    print(socket_of(sys.argv[1]))  # noqa: T201
