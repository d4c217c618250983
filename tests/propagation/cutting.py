"""A door in front of a PostgreSQL server that shuts once in the middle of what a client says (fault C13)."""

import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType

_NAME = ".s.PGSQL.5432"


class Door:
    """`cut_after(n)`: the connection over which the n-th byte from now would go is reset; all others live."""

    def __init__(self, server: Path) -> None:
        self.server = str(server / _NAME)
        self.folder = Path(tempfile.mkdtemp(prefix="door-"))
        self.said, self.left, self.cuts = 0, -1, 0
        self._lock = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / _NAME))
        self._listener.listen()

    def __enter__(self) -> "Door":
        threading.Thread(target=self._open, daemon=True).start()
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._listener.close()
        (self.folder / _NAME).unlink()
        self.folder.rmdir()

    def cut_after(self, count: int) -> None:
        with self._lock:
            self.said, self.left = 0, count

    def _open(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            for ends in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, goal: socket.socket, counted: bool) -> None:
        with suppress(OSError):
            while part := source.recv(4096):
                goal.sendall(self._allowed(part) if counted else part)
        for end in (source, goal):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _allowed(self, part: bytes) -> bytes:
        with self._lock:
            self.said += len(part)
            if self.left < 0 or self.said < self.left:
                return part
            self.left, self.cuts = -1, self.cuts + 1
        raise ConnectionResetError
