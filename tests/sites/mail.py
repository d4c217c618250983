"""A mail server that keeps what it is given; it can refuse, or hang up in the middle of a letter."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from email.policy import default


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.letters: list[Message] = []
        self.refuses = False
        self.hangs_up = False

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def to(self, address: str) -> list[Message]:
        return [letter for letter in self.letters if letter["To"] == address]


class _Talk(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        self._say("220 ready")
        for line in self.rfile:
            word = line.decode("latin-1").strip().upper()
            if word.startswith("QUIT"):
                self._say("221 bye")
                return
            if word.startswith("RCPT") and self.server.refuses:
                self._say("451 not now")
            elif word.startswith("DATA"):
                if self.server.hangs_up:
                    return
                self._say("354 go on")
                self._keep()
            else:
                self._say("250 OK")

    def _keep(self) -> None:
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                break
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        self.server.letters.append(message_from_bytes(b"".join(lines), policy=default))
        self._say("250 kept")

    def _say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")


@contextmanager
def mail_server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
