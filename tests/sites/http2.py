"""A server that speaks just enough HTTP/2 to refuse it: streams that are turned away, connections that are ended.

Written frame by frame (RFC 9113): a library would not let a server misbehave.
"""

import socket
import ssl
import struct
import threading
from collections.abc import Callable
from typing import Self

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, END_HEADERS, ACK = 1, 4, 1
NO_ERROR, REFUSED_STREAM = 0, 7
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_STATUS_200 = b"\x88"  # in the static table of HPACK
Answer = Callable[[int], bytes]  # the frames for a request on this stream


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def fine(stream: int, body: bytes = b"fine") -> bytes:
    return frame(HEADERS, END_HEADERS, stream, _STATUS_200) + frame(DATA, END_STREAM, stream, body)


def refused(stream: int) -> bytes:
    return frame(RST_STREAM, 0, stream, struct.pack(">I", REFUSED_STREAM))


def going_away(stream: int) -> bytes:
    """Nothing of this stream was looked at; the connection ends."""
    return frame(GOAWAY, 0, 0, struct.pack(">II", max(stream - 2, 0), NO_ERROR))


class Site:
    """Answers its requests in turn, the last answer for all that follow; a going_away ends its connection."""

    def __init__(self, tls: ssl.SSLContext, *answers: Answer) -> None:
        tls.set_alpn_protocols(["h2"])
        self._tls, self._answers = tls, list(answers)
        self.requests = self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def url(self, path: str = "/") -> str:
        return f"https://127.0.0.1:{self._socket.getsockname()[1]}{path}"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with self._tls.wrap_socket(connection, server_side=True) as line:
                stream = line.makefile("rb")
                if stream.read(len(_PREFACE)) == _PREFACE:
                    line.sendall(frame(SETTINGS, 0, 0))
                    while head := stream.read(9):
                        size, kind, flags = int.from_bytes(head[:3]), head[3], head[4]
                        payload = stream.read(size)
                        if not self._react(line, (kind, flags, int.from_bytes(head[5:])), payload):
                            return
        except OSError:
            return  # the client has had enough

    def _react(self, line: ssl.SSLSocket, head: tuple[int, int, int], payload: bytes) -> bool:
        kind, flags, stream = head
        if kind == SETTINGS and not flags & ACK:
            line.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            line.sendall(frame(PING, ACK, 0, payload))
        elif kind == HEADERS:
            with self._lock:
                self.requests += 1
                answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
            line.sendall(answer(stream))
            return answer is not going_away
        return True
