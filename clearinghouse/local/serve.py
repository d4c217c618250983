"""Owns: `make run` from the first check to the last goodbye.

Does not: manage processes (processes.py does) or know the demo data (load_demo does). Called by: the command serve.
"""

import fcntl
import http.client
import io
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from django.core.management import call_command
from django.db import connections

from clearinghouse import env

from . import ports, processes, redis_server

ANSWER_SECONDS = 60.0

Say = Callable[[str], None]


class CannotStart(Exception):
    """One clear sentence, for the terminal."""


def check_machine() -> None:
    if sys.version_info[:2] != (3, 11):
        raise CannotStart(f"Python 3.11 is needed; this is {sys.version.split()[0]}.")
    wanted = ["PORT"] if env.production() else ["PORT", "DEMO_PORT"]
    for name in wanted:
        port = env.number(name)
        if not ports.free(port):
            raise CannotStart(
                f"Port {port} is in use. Stop what listens there, or choose another: "
                f"{env.PREFIX}{name}={port + 100} make run"
            )
    if not env.text("REDIS_URL"):
        try:
            redis_server.binary()
        except redis_server.CannotServe as missing:
            raise CannotStart(str(missing)) from missing


def only_one() -> IO[str]:
    """Hold the VAR folder; two houses in one folder would share one Redis and one database."""
    lock = (env.var() / "serve.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CannotStart(f"It is already running with the data in {env.var()}.") from None
    return lock


def make_ready(say: Say) -> None:
    """Databases, demo, static files. Safe to repeat: what exists is kept."""
    say("Preparing the databases ...")
    call_command("prepare", "--json", stdout=io.StringIO())
    if not env.production():
        call_command("load_demo", "--json", stdout=io.StringIO())
    call_command("collectstatic", "--no-input", verbosity=0)
    connections.close_all()


def environment() -> dict[str, str]:
    """What the processes get: our settings spelled out, this Python first, only the demo site's door opened."""
    result = {
        f"{env.PREFIX}PORT": env.text("PORT"),
        f"{env.PREFIX}DEMO_PORT": env.text("DEMO_PORT"),
        f"{env.PREFIX}VAR": str(env.var().resolve()),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONUNBUFFERED": "1",
    }
    if not os.environ.get(f"{env.PREFIX}LOG_LEVEL"):
        result[f"{env.PREFIX}LOG_LEVEL"] = "WARNING"
    if not env.production():
        # The demo site is our own machine; for sites of others the launch form offers Polite.
        result[f"{env.PREFIX}SPEED"] = os.environ.get(f"{env.PREFIX}SPEED") or "fast"
        # Whoever opened it already (loading the demo does) must not make it stand there twice.
        opened = dict.fromkeys([*env.words("ALLOWED_NETWORKS"), f"{ports.HOST}:{env.number('DEMO_PORT')}"])
        result[f"{env.PREFIX}ALLOWED_NETWORKS"] = ",".join(opened)
    return os.environ | result


def not_ours() -> set[str]:
    """The lines of the Procfile this install does not start."""
    without = set()
    if env.text("REDIS_URL"):
        without.add("redis")
    if env.production():
        without.add("demo")
    return without


def run(procfile: Path, say: Say, banner: Callable[[], str]) -> int:
    """Start everything and stay until it ends; 0 when a person ended it."""
    house = processes.House(when_started=lambda house: _announce(house, say, banner))
    for one in processes.of_procfile(procfile, not_ours(), environment()):
        house.add_process(one.name, one.cmd, env=one.env)
    say("Starting ...")
    house.loop()
    say("Everything has stopped.")
    return 0 if house.interrupted else 1


def _announce(house: processes.House, say: Say, banner: Callable[[], str]) -> None:
    if answers(env.number("PORT"), patience=ANSWER_SECONDS):
        say(banner())
    elif not house.stopping:
        say(f"No page answered within {ANSWER_SECONDS:.0f} seconds; see the lines above.")


def answers(port: int, patience: float) -> bool:
    """Whether the page a visitor meets (the sign-in page) really comes within `patience` seconds."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        with suppress(OSError, http.client.HTTPException):
            status, location = _visit(port, "/")
            if 300 <= status < 400 and location.startswith("/"):
                status, _ = _visit(port, location)
            if status < 400:  # in production the page is behind https: being sent there is an answer too
                return True
        time.sleep(0.2)
    return False


def _visit(port: int, path: str) -> tuple[int, str]:
    door = http.client.HTTPConnection(ports.HOST, port, timeout=5)
    try:
        door.request("GET", path, headers={"Host": env.words("ALLOWED_HOSTS")[0] if env.production() else "localhost"})
        answer = door.getresponse()
        return answer.status, answer.headers.get("Location", "/")
    finally:
        door.close()
