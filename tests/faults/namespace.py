"""A network of one machine for one process: its own addresses, its own name server, its own routes.

    if in_namespace(): … else: run(__name__)

Everything in it is gone with the process; nothing outside sees any of it. It takes root, or user namespaces.
"""

import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.faults.house import BASE

ENTER = ("unshare", "--map-root-user", "--mount", "--net", "--fork", "--kill-child")
AS_ROOT = tuple(word for word in ENTER if word != "--map-root-user")  # other accounts stay, PostgreSQL's among them
_NAME_SERVER = ("127.0.0.1", 53)
SERVFAIL, NXDOMAIN = 2, 3
A, CNAME, AAAA = 1, 5, 28
Reply = int | list[tuple[int, str]] | None  # a refusal, records as (type, value), or silence
Zone = Callable[[str, int, int], Reply]  # name, type asked for, how often it was asked for before


@cache
def possible(enter: tuple[str, ...] = ENTER) -> bool:
    if not shutil.which("unshare") or not shutil.which("ip"):
        return False
    return subprocess.run([*enter, "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0


def run(module: str, *arguments: str, seconds: float = 120, enter: tuple[str, ...] = ENTER, **environment: str) -> str:
    """What `python -m module` prints inside."""
    command = [*enter, sys.executable, "-m", module, *arguments]
    settings = {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings", "CLEARINGHOUSE_LOG_LEVEL": "ERROR"} | environment
    others = ("CLEARINGHOUSE_ALLOWED", "CLEARINGHOUSE_DB")  # what the tests around it are told
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    done = subprocess.run(command, cwd=BASE, env=kept | settings, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def settle(*addresses: str) -> None:
    """Inside: this machine has these addresses, and asks our name server only, once, for a second."""
    ip("link", "set", "lo", "up")
    for address in addresses:
        ip("addr", "add", address, "dev", "lo")
    folder = Path(tempfile.mkdtemp())
    texts = {
        "resolv.conf": f"nameserver {_NAME_SERVER[0]}\noptions timeout:1 attempts:1\n",
        "nsswitch.conf": "hosts: dns\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        subprocess.run(["mount", "--bind", folder / name, os.path.realpath(f"/etc/{name}")], check=True)


def mount_small_disk(folder: Path, megabytes: int) -> None:
    """Inside: a disk of this size, which is gone with the namespace."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True)


class NameServer:
    """Answers over UDP whatever `zone` says."""

    def __init__(self, zone: Zone) -> None:
        self.asked: Counter[tuple[str, int]] = Counter()
        self._zone = zone
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._socket.bind(_NAME_SERVER)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            question, place = self._socket.recvfrom(4096)
            name, kind, end = _read(question)
            before = self.asked[name, kind]
            self.asked[name, kind] += 1
            reply = self._zone(name, kind, before)
            if reply is not None:
                self._socket.sendto(_answer(question[:2], question[12:end], reply), place)


def _read(question: bytes) -> tuple[str, int, int]:
    labels, place = [], 12
    while size := question[place]:
        labels.append(question[place + 1 : place + 1 + size].decode())
        place += 1 + size
    return ".".join(labels).lower(), struct.unpack(">H", question[place + 1 : place + 3])[0], place + 5


def _answer(number: bytes, question: bytes, reply: Reply) -> bytes:
    code = reply if isinstance(reply, int) else 0
    records = reply if isinstance(reply, list) else []
    head = number + struct.pack(">HHHHH", 0x8180 | code, 1, len(records), 0, 0)
    return head + question + b"".join(_record(kind, value) for kind, value in records)


def _record(kind: int, value: str) -> bytes:
    """Of the name that was asked for, good for no time at all."""
    if kind == CNAME:
        data = b"".join(bytes([len(label)]) + label.encode() for label in value.split(".")) + b"\0"
    else:
        data = socket.inet_pton(socket.AF_INET if kind == A else socket.AF_INET6, value)
    return b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data
