"""Sits where nobody may come, and counts who came all the same."""

import socket
import threading
from contextlib import suppress


class Canary:
    """Both loopback addresses, at one port: any that is free, or the one a site of another address has."""

    def __init__(self, port: int = 0) -> None:
        self.visits = 0
        self._doors = [socket.create_server(("127.0.0.1", port))]
        self.port = int(self._doors[0].getsockname()[1])
        with suppress(OSError):  # a machine without IPv6
            self._doors.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for door in self._doors:
            threading.Thread(target=self._count, args=(door,), daemon=True).start()

    def _count(self, door: socket.socket) -> None:
        with suppress(OSError):
            while True:
                door.accept()[0].close()
                self.visits += 1

    def close(self) -> None:
        for door in self._doors:
            with suppress(OSError):
                door.shutdown(socket.SHUT_RDWR)
            door.close()
