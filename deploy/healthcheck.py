"""healthcheck.py PATH…: whether the web process of this machine answers each path well; exit 1 and a word if not.

Asked inside the container, with a host name that the settings allow. Uses nothing but Python's own library.
"""

import http.client
import os
import sys

HERE = "127.0.0.1"
SECONDS = 5


def status(path: str) -> int:
    port = int(os.environ.get("CLEARINGHOUSE_PORT", "8765"))
    host = os.environ.get("CLEARINGHOUSE_ALLOWED_HOSTS", "localhost").split(",")[0].strip()
    door = http.client.HTTPConnection(HERE, port, timeout=SECONDS)
    try:
        door.request("GET", path, headers={"Host": host, "X-Forwarded-Proto": "https"})
        return door.getresponse().status
    except OSError as problem:
        sys.exit(f"{path}: {problem}")
    finally:
        door.close()


for path in sys.argv[1:]:
    if (answer := status(path)) != 200:
        sys.exit(f"{path}: {answer}")
