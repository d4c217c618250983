"""Owns: whether a port of this machine is free. Does not: choose another. Called by: serve."""

import socket

HOST = "127.0.0.1"


def free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do, so that connections of a server just stopped are not taken for a server.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def any_free() -> int:
    """A port nobody uses now (for tests)."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
