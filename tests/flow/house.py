"""Owns: a whole house for one test: its own state folder, databases, Redis, demo site, real commands and workers.

Does not: mock anything. Called by: the fixtures of tests/flow and tests/browser.

Every process of a house carries its VAR folder in its environment; that is how leftovers are found.
"""

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from honcho.environ import parse_procfile

from clearinghouse.local import ports

BASE = Path(__file__).resolve().parents[2]
COMMAND_SECONDS = 120
ENDED = ("finished", "stopped", "failed", "cancelled")


class House:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self.demo_port = ports.any_free(), ports.any_free()
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("CLEARINGHOUSE_")}
        self.env |= {
            "DJANGO_SETTINGS_MODULE": "clearinghouse.settings",
            "CLEARINGHOUSE_VAR": str(folder),
            "CLEARINGHOUSE_PORT": str(self.port),
            "CLEARINGHOUSE_DEMO_PORT": str(self.demo_port),
            "CLEARINGHOUSE_ALLOWED_NETWORKS": f"127.0.0.1:{self.demo_port}",
            "CLEARINGHOUSE_LOG_LEVEL": "WARNING",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
        }
        self.started: list[subprocess.Popen] = []

    @property
    def site(self) -> str:
        return f"http://127.0.0.1:{self.demo_port}"

    @property
    def log(self) -> str:
        """What the processes started here have printed."""
        path = self.folder / "processes.log"
        return path.read_text() if path.exists() else ""

    # Commands ------------------------------------------------------------------------------------------------

    def run(self, *words: object, **env: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "manage.py", *map(str, words)]
        return subprocess.run(
            command, cwd=BASE, env=self.env | env, capture_output=True, text=True, timeout=COMMAND_SECONDS
        )

    def manage(self, *words: object, **env: str) -> Any:
        """The JSON of a command that must succeed."""
        done = self.run(*words, "--json", **env)
        assert done.returncode == 0, f"{words}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)

    # A look at a run: who waits for one looks often, and a command for each look would cost more than the crawl.

    def ended(self, run: int) -> dict[str, Any] | None:
        """What the command says of a run, as soon as it has ended."""
        ((state,),) = self.rows("webcrawl", f"SELECT state FROM run WHERE id = {run}")
        return self.manage("run", run) if state.startswith(ENDED) else None

    def crawled(self, run: int) -> int:
        pages = f"SELECT COALESCE(SUM(crawled), 0) FROM excursion WHERE run_id = {run}"
        return int(self.rows("webcrawl", pages)[0][0])

    def rows(self, database: str, sql: str) -> list[tuple[Any, ...]]:
        """Plain SQL in `webcrawl`, `primary` or `backup`, from outside."""
        with closing(sqlite3.connect(self.folder / f"{database}.sqlite3", timeout=20)) as connection:
            return connection.execute(sql).fetchall()

    # Processes -----------------------------------------------------------------------------------------------

    def start(self, *command: str) -> subprocess.Popen:
        with (self.folder / "processes.log").open("a") as log:
            process = subprocess.Popen(
                command, cwd=BASE, env=self.env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        self.started.append(process)
        return process

    def start_manage(self, *words: str) -> subprocess.Popen:
        return self.start(sys.executable, "manage.py", *words)

    def open_site(self) -> str:
        """Start the demo site; its address."""
        self.start(sys.executable, "-m", "clearinghouse.local.demo")
        until(lambda: not ports.free(self.demo_port), "the demo site answers")
        return self.site

    def start_redis(self) -> subprocess.Popen:
        process = self.start_manage("embedded_redis")
        until(lambda: (self.folder / "redis.sock").exists(), "Redis listens")
        return process

    def start_worker(self, queue: str) -> subprocess.Popen:
        return self.start_manage("rqworker", queue, "--verbosity", "0")

    def start_everything(self) -> None:
        """Site, Redis, one worker a queue, the tick; not the web server."""
        self.open_site()
        self.start_redis()
        for queue in ("control", "crawl", "propagate", "preview"):
            self.start_worker(queue)
        self.start_manage("tick")

    def start_line(self, *names: str) -> None:
        """Lines of the Procfile."""
        lines = parse_procfile((BASE / "Procfile").read_text()).processes
        for name in names:
            self.start("sh", "-c", lines[name])

    def start_front(self) -> str:
        """The port of the house with both web processes behind it; its address."""
        self.start_line("front", "web", "public")
        until(lambda: all(self._status(path) == 200 for path in ("/sign-in/", "/search/")), "both answer", 60)
        return f"http://127.0.0.1:{self.port}"

    def collect_static(self) -> None:
        done = self.run("collectstatic", "--no-input", "--verbosity", 0)
        assert done.returncode == 0, done.stderr

    def _status(self, path: str) -> int:
        web = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            web.request("GET", path, headers={"Host": "localhost"})
            return web.getresponse().status
        except OSError:
            return 0
        finally:
            web.close()

    def start_web(self) -> str:
        """A web process alone, without the front; its address."""
        bind = f"127.0.0.1:{self.port}"
        self.start("gunicorn", "clearinghouse.wsgi", "--bind", bind, "--threads", "4", "--no-control-socket")
        until(lambda: not ports.free(self.port), "the web server answers")
        return f"http://{bind}"

    def processes(self) -> dict[int, str]:
        """Every living process of this house, by whoever started it: id and command line."""
        mark = f"CLEARINGHOUSE_VAR={self.folder}".encode()
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
        return {pid: line for pid, line in found.items() if line}  # zombies have no command line

    def close(self) -> None:
        """Nothing of this house lives on."""
        for number, patience in ((signal.SIGTERM, 6.0), (signal.SIGKILL, 5.0)):
            for pid in self.processes():
                _signal(pid, number)
            deadline = time.monotonic() + patience
            while self.processes() and time.monotonic() < deadline:
                time.sleep(0.1)
        for process in self.started:
            process.kill()
            process.wait(timeout=5)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def until(happens: Callable[[], Any], what: str, seconds: float = 30.0) -> Any:
    """Wait for the first true answer and give it back; say what did not happen otherwise."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := happens():
            return answer
        time.sleep(0.1)
    raise AssertionError(f"Waited {seconds:.0f} seconds, but not: {what}")
