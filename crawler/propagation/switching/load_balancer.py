"""Owns: letting an existing load balancer follow the switch: a command, an HTTP call, or both, each with a time limit.

The command is run without a shell, with the name of the target that serves now as its last word; the call is a POST of
JSON through the guard of the crawler. Both may be told the same thing twice.
Does not: decide who serves, or when to try again (switch). Called by: switch.
"""

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from django.utils import timezone

from clearinghouse import env
from crawler.errors import CrawlerError
from crawler.inbox import webhooks

SECONDS = 30.0  # for the command; a call has those of every webhook
_LOOK = 0.1
_SAID = 200  # characters of what a command said last
_SECRET = ("CLEARINGHOUSE_", "DJANGO_")


class HookFailed(CrawlerError):
    """The load balancer did not follow; the text says why."""


def configured() -> bool:
    return bool(env.text("SWITCH_COMMAND") or env.text("SWITCH_URL"))


def tell(serving: str, beat: Callable[[], None]) -> None:
    """Raises HookFailed unless everybody who follows says that the public is served by this target now."""
    if line := env.text("SWITCH_COMMAND"):
        _run(line, serving, beat)
    if url := env.text("SWITCH_URL"):
        good, answer = webhooks.post(url, {"serving": serving, "at": timezone.now().isoformat()})
        if not good:
            raise HookFailed(f"the switch address failed: {answer}")


def _run(line: str, serving: str, beat: Callable[[], None]) -> None:
    with tempfile.TemporaryFile() as said:
        process = _started(line, serving, said)
        try:
            code = _ended(process, beat)
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if code is None:
            raise HookFailed(f"the switch command did not end within {SECONDS:.0f} s")
        if code:
            raise HookFailed(f"the switch command ended with {code}{_last_words(said)}")


def _started(line: str, serving: str, said: IO[bytes]) -> subprocess.Popen[bytes]:
    """It learns nothing of our secrets, and whatever it starts can be ended with it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(_SECRET)}
    try:
        return subprocess.Popen(
            [*shlex.split(line), serving], stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=clean,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as problem:
        raise HookFailed(f"the switch command could not be started: {problem}") from problem


def _ended(process: subprocess.Popen[bytes], beat: Callable[[], None]) -> int | None:
    """Its exit code; None when its time is over."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK)
        beat()
    return None


def _last_words(said: IO[bytes]) -> str:
    size = said.seek(0, os.SEEK_END)
    said.seek(max(0, size - 4 * _SAID))
    lines = said.read().decode(errors="replace").replace("\x00", "").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {last[:_SAID]}" if last else ""
