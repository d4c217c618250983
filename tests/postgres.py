"""A throw-away PostgreSQL for tests: its own folder, its own unix socket, no network port; fsync only when asked for.

`from tests.postgres import postgres` makes the fixture known to a test module; it gives a Server, whose
url(name) makes an empty database and names it as CLEARINGHOUSE_DB… wants it.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from glob import glob
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.requirements import need

# What comes behind CLEARINGHOUSE_ -> what the database is called here.
NAMES = {"DB": "library", "DB_WEBCRAWL": "webcrawl", "DB_PRIMARY": "primary", "DB_BACKUP": "backup"}
_FOLDERS = "/usr/lib/postgresql/*/bin"
_PORT = 5432  # only part of the socket's name
_ROOM = 2_000_000_000  # bytes
_numbers = count(1)


class Server:
    """A running cluster; stop() ends it and removes its folder."""

    def __init__(self, programs: Path, *, durable: bool = False, disk: Path | None = None) -> None:
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="ch-pg-", dir=disk or quick_folder()))
        self._account = _account()
        if self._account:
            os.chown(self.folder, self._account.pw_uid, self._account.pw_gid)
        made = ("-D", self._data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
        self._program("initdb", *made)
        # Where tests roll back all they write, autovacuum counts nothing in large tables, and plans go by that.
        unsafe = "" if durable else " -c fsync=off -c full_page_writes=off -c autovacuum=off"
        self._options = f"-k {self.folder} -p {_PORT} -c listen_addresses=''{unsafe}"
        self.start()

    @classmethod
    def at(cls, folder: Path) -> "Server":
        """One that somebody else started: for its databases, not to stop or crash it."""
        one = cls.__new__(cls)
        one.folder = folder
        return one

    @classmethod
    def installed(cls) -> "Server | None":
        """A durable cluster, as in production; None where PostgreSQL is not installed."""
        found = programs()
        return cls(found, durable=True) if found else None

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def url(self, name: str = "", like: str = "template1") -> str:
        """The address of a new database: empty, or like another one."""
        name = name or f"test_{next(_numbers)}"
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"', database="postgres")
        return self.address(name)

    def address(self, name: str) -> str:
        """A database of this cluster as CLEARINGHOUSE_DB… wants it."""
        return f"postgres://tester@/{name}?host={self.folder}&port={_PORT}"

    def connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(host=str(self.folder), port=_PORT, user="tester", dbname=database, autocommit=True)

    def execute(self, sql: str, *, database: str) -> list[tuple]:
        with self.connect(database) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        log = str(self.folder / "log")
        self._program("pg_ctl", "-D", self._data, "-w", "-l", log, "-o", self._options, "start")

    def crash(self) -> None:
        """Every process of it ends at once, without a checkpoint; start() recovers."""
        self._program("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    @property
    def pid(self) -> int:
        """Of the process that starts all others; 0 when there is none."""
        path = self.folder / "data" / "postmaster.pid"
        return int(path.read_text().split()[0]) if path.exists() else 0

    def stop(self) -> None:
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _program(self, name: str, *arguments: str) -> None:
        account = self._account
        person = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
        done = subprocess.run(
            [self.programs / name, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if name == "initdb" else subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
            timeout=120,
            check=False,
            **person,
        )
        if done.returncode:
            log = self.folder / "log"
            told = (done.stderr or b"").decode() + (log.read_text() if log.exists() else "")
            raise RuntimeError(f"{name} failed: {told}")


def quick_folder() -> str:
    """In memory where there is room: tests kill processes, never the machine."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() and shutil.disk_usage(memory).free > _ROOM else "/tmp"


def _account() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root; `nobody` has no rights at all."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def programs() -> Path | None:
    """The folder with initdb, pg_ctl and postgres: the newest of Debian's, or the one on the PATH."""
    on_path = shutil.which("initdb")
    found = sorted(map(Path, glob(_FOLDERS)), key=lambda folder: float(folder.parent.name), reverse=True)
    folders = [*found, *([Path(on_path).resolve().parent] if on_path else [])]
    wanted = ("initdb", "pg_ctl", "postgres")
    return next((folder for folder in folders if all((folder / name).exists() for name in wanted)), None)


SHARED = pytest.StashKey[Server]()
DURABLE = pytest.StashKey[Server]()
EVERYTHING = "tests.on_postgres"  # the plugin of a session in which houses have their databases on PostgreSQL, too


def durable(config: pytest.Config) -> Server:
    """One for the whole session that flushes, as in production: the workers of a house refuse one that does not."""
    if DURABLE not in config.stash:
        server = Server.installed()
        assert server
        config.stash[DURABLE] = server
        config.add_cleanup(server.stop)
    return config.stash[DURABLE]


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Server:
    """One for the whole session: a module that imports this fixture has a fixture of its own, not a cluster."""
    folder = programs()
    need("postgres", folder is not None, "initdb, pg_ctl and postgres are not installed")
    assert folder is not None
    if SHARED not in request.config.stash:
        request.config.stash[SHARED] = server = Server(folder)
        request.config.add_cleanup(server.stop)
    return request.config.stash[SHARED]
