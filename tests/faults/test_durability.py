"""What the crawler goes on from has reached the disk (goal 8): after each commit a flush, before anything else.

Read from the system calls of a real crawl. A commit in SQLite's log is a frame whose header names the size of the
database; until the log was flushed after it, the process must begin no other frame and tell nobody.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults import injection, site
from tests.faults.house import House
from tests.proves import proves
from tests.requirements import need
from tests.sites.graph import serve

FRAME_HEADER = 24  # bytes: page number, size of the database after a commit (0: the transaction goes on), …
CALL = re.compile(r'^(\d+) +(\w+)\(\d+<((?:\\x..)*)>(?:, "((?:\\x..)*)"\.*, (\d+))?')


@dataclass(frozen=True)
class Call:
    process: str
    name: str
    file: str
    data: bytes
    size: int

    @property
    def commits(self) -> bool:
        return self.size == FRAME_HEADER and self.data[4:8] != bytes(4)

    @property
    def begins_frame(self) -> bool:
        return self.size == FRAME_HEADER


def calls(log: Path) -> Iterator[Call]:
    for line in log.read_text().splitlines():
        match = CALL.match(line)
        if match:
            process, name, file, data, size = match.groups()
            yield Call(process, name, _bytes(file).decode(), _bytes(data), int(size or 0))


def _bytes(told: str | None) -> bytes:
    return bytes.fromhex((told or "").replace("\\x", ""))


def unflushed(found: list[Call]) -> tuple[int, list[str]]:
    """How many commits of the WebCrawl database there were, and what came between one of them and its flush."""
    commits, early, waiting = 0, [], False
    for call in found:
        if call.file.endswith("webcrawl.sqlite3-wal"):
            if call.name == "fdatasync":
                waiting = False
            elif waiting and call.begins_frame:
                early.append("another frame")
            if call.name == "pwrite64" and call.commits:
                commits, waiting = commits + 1, True
        elif waiting and call.name in {"sendto", "write"}:
            early.append(f"{call.name} to {call.file}")
    return commits, early + ["the end"] * waiting


@proves("A8", "goal 8")
def test_every_commit_is_flushed_before_anything_follows_from_it(tmp_path: Path) -> None:
    need("strace", injection.available(), "strace is not installed")
    with serve(site.pages()) as served:
        prepared = site.prepared(tmp_path / "house")
        site.point_at(prepared, served.address)
        found = traced(prepared, tmp_path / "calls")
        pages = prepared.rows("SELECT count(*) FROM ledger WHERE outcome = 'crawled'")[0][0]
    commits, early = unflushed(found)
    assert early == []
    assert pages > 50 and commits >= 10, (pages, commits)


def traced(house: House, log: Path) -> list[Call]:
    """A crawl in one process; the calls of the process that wrote most, in order."""
    options = ["-f", "-y", "-xx", "-s", "24", "-qq", "-e", "trace=pwrite64,fdatasync,sendto,write", "-o", str(log)]
    crawl = house.command("crawl", "--speed", "fast", "--json")
    done = subprocess.run(["strace", *options, *crawl], env=house.environment, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = list(calls(log))
    writers = [call.process for call in found if call.file.endswith("webcrawl.sqlite3-wal")]
    writer = max(set(writers), key=writers.count)
    return [call for call in found if call.process == writer]
