"""A process that has loaded the product once and starts each command by a fork: 0.7 s less for every kill.

`python -m tests.faults.warm` reads one JSON request a line and answers the process id, then the exit code. The
command itself is the product's, from its first statement on; only Python and Django are there already.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.house import BASE, House

PR_SET_PTRACER, ANYBODY = 0x59616D61, ctypes.c_ulong(-1)
VAR = "CLEARINGHOUSE_VAR"


@dataclass(frozen=True)
class Ended:
    code: int  # negative: the signal
    hung: bool
    output: str


class Warm:
    """The caller's side."""

    def __init__(self, house: House) -> None:
        environment = house.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.warm"], cwd=BASE, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
        )  # fmt: skip

    def start(self, house: House, arguments: list[str], traced: bool = False) -> int:
        """Start a command in a house; with `traced` it begins when a tracer has attached. Its process id."""
        self._out = house.var.parent / f"{house.var.name}.out"
        request = {"var": str(house.var), "webcrawl": house.webcrawl, "arguments": arguments, "traced": traced}
        request["out"] = str(self._out)
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._pid = int(self._process.stdout.readline())
        return self._pid

    def wait(self, seconds: float) -> Ended:
        assert self._process.stdout
        hung = not select.select([self._process.stdout], [], [], seconds)[0]
        if hung:
            os.killpg(self._pid, signal.SIGKILL)
        code = int(self._process.stdout.readline())
        return Ended(code, hung, self._out.read_text()[-3000:])

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=10)


def main() -> None:
    import django

    django.setup()
    import crawler.management.commands.crawl  # noqa: F401 - loaded once, for every child

    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _child(request)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _child(request: dict[str, Any]) -> None:
    from django.core.management import execute_from_command_line

    os.setsid()
    out = os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _move_to(request["var"], request["webcrawl"])
    if request["traced"]:
        ctypes.CDLL(None).prctl(PR_SET_PTRACER, ANYBODY, 0, 0, 0)
        while "TracerPid:\t0\n" in Path("/proc/self/status").read_text():
            time.sleep(0.003)
    execute_from_command_line(["manage.py", *request["arguments"]])
    sys.exit(0)


def _move_to(folder: str, webcrawl: str) -> None:
    """Into another house: nothing was read from the first one yet."""
    from django.db import connections

    first, os.environ[VAR] = os.environ[VAR], folder
    for settings in connections.settings.values():
        settings["NAME"] = settings["NAME"].replace(first, folder)
    connections.settings["webcrawl"]["NAME"] = webcrawl


if __name__ == "__main__":
    main()
