"""python -m tests.soak [--minutes 30] [--postgres]: the whole house at work, struck again and again; the table of what
it weighed and did. Exit 1 when anything went wrong or grew.

In the first part of the time processes are killed in turn; the rest is calm, so that processes live long enough to show
whether they grow.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from tests.bench import machine
from tests.flow.house import BASE, House
from tests.postgres import Server
from tests.sites.graph import Page, Site, serve
from tests.soak.people import NAME, PASSWORD, Client, Figures, Wrong
from tests.soak.report import told
from tests.soak.rounds import FILES, LOOKS, Document, Rounds, Rows
from tests.soak.sites import Changing
from tests.soak.staff import Staff
from tests.soak.weights import Scales

DOCUMENTS = 6
STRUCK = 0.6  # of the time
EVERY = 7.0  # seconds between two blows
WEIGHED = 5.0  # seconds between two looks at memory and disk
REDIS_GONE = ("redis.exceptions.ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError")
_FAULTS = "SELECT process, times, sentence FROM fault"
_VARIABLES = {"default": "DB", "webcrawl": "DB_WEBCRAWL", "primary": "DB_PRIMARY", "backup": "DB_BACKUP"}
_FILL = """
import json, sys
import django; django.setup()
from django.contrib.auth import get_user_model
from clearinghouse.accounts.keys import api_keys
from clearinghouse.accounts.models import Person, Role
from clearinghouse.library.services import add_document
from crawlpoints.services import add_crawl_point
name, password, sites = json.load(sys.stdin)
user = get_user_model().objects.create_user(name, password=password)
Person.objects.create(user=user, role=Role.ADMINISTRATOR)
made = []
for root, second in sites:
    document = add_document("Measures of " + root)
    points = [add_crawl_point(document, {"url": url, "root": root, "depth": "50"})[0].pk for url in (root, second)]
    made.append([document.pk, points])
print(json.dumps([api_keys.create(user, "soak")[1], made]))
"""


@dataclass
class Soaked:
    """What the end of it shows."""

    figures: Figures
    scales: Scales
    seconds: float
    left: list[str] = field(default_factory=list)  # what should not be there any more


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, metavar="M", help="default 30")
    parser.add_argument("--postgres", action="store_true", help="all four databases on a throw-away PostgreSQL")
    options = parser.parse_args()
    server = Server.installed() if options.postgres else None
    if options.postgres and server is None:
        print("PostgreSQL is not installed: nothing was run", file=sys.stderr)
        return 2
    try:
        seconds = options.minutes * 60
        print("\n".join(f"- {fact}" for fact in machine.facts()), flush=True)
        begun = time.monotonic()
        soaked = play(
            lambda: time.monotonic() - begun > seconds, lambda: time.monotonic() - begun > STRUCK * seconds, server
        )
    finally:
        if server:
            server.stop()
    print(told(soaked))
    return 1 if soaked.figures.errors or soaked.left or any(life.grows() for life in soaked.scales.old()) else 0


def play(over: Callable[[], bool], calm: Callable[[], bool], server: Server | None = None) -> Soaked:
    """Rounds until it is over; blows until it is calm."""
    figures = Figures()
    with _house(server) as (house, served, pages):
        staff, scales, begun = Staff(house, figures), Scales(house.folder), time.monotonic()
        key, made = _fill(house, served)
        client = Client(f"http://127.0.0.1:{house.port}", key, staff.away, figures)
        rounds = Rounds(house, Rows(house, server), client, figures, served)
        rounds.documents = [
            Document(number, points, Changing(place, pages, seed=1))
            for place, (number, points) in enumerate(made, start=1)
        ]
        stopped = threading.Event()
        beside = [
            threading.Thread(target=_weigh, args=(staff, scales, stopped, begun)),
            threading.Thread(target=_use, args=(rounds, key, staff, figures, stopped)),
        ]
        try:
            staff.begin()
            client.sign_in()
            for thread in beside:
                thread.start()
            staff.strike_until(calm, EVERY)
            while not over():
                rounds.play()
                print(
                    f"{time.monotonic() - begun:6.0f} s  round {rounds.number}, {len(figures.errors)} errors",
                    flush=True,
                )
            seconds = time.monotonic() - begun
        finally:
            stopped.set()
            for thread in beside:
                thread.join(90)
            left = _left_in_redis(house)
            staff.end()
        return Soaked(figures, scales, seconds, left + _left(house, rounds.rows, figures))


@contextmanager
def _house(server: Server | None) -> Iterator[tuple[House, Site, dict[str, Page]]]:
    above = Path(tempfile.mkdtemp(prefix="soak-"))  # a short name: Redis listens on a socket in it
    house, pages = House(above / "var"), dict[str, Page]()
    house.folder.mkdir()
    house.env |= {"CLEARINGHOUSE_SEARCH_PER_MINUTE": "0"}
    if server:
        house.env |= {f"CLEARINGHOUSE_{_VARIABLES[alias]}": server.url(name) for alias, name in FILES.items()}
    try:
        with serve(pages) as served:
            house.env["CLEARINGHOUSE_ALLOWED_NETWORKS"] = served.address.removeprefix("http://")
            house.manage("prepare")
            yield house, served, pages
    finally:
        house.close()
        shutil.rmtree(above, ignore_errors=True)


def _fill(house: House, served: Site) -> tuple[str, list[tuple[int, tuple[int, int]]]]:
    sites = [(served.url(f"/{n}/"), served.url(f"/{n}/more/0")) for n in range(1, DOCUMENTS + 1)]
    done = subprocess.run(
        [sys.executable, "-c", _FILL], input=json.dumps([NAME, PASSWORD, sites]), env=house.env, cwd=BASE,
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    key, made = json.loads(done.stdout)
    return key, made


def _weigh(staff: Staff, scales: Scales, stopped: threading.Event, begun: float) -> None:
    while not stopped.wait(WEIGHED):
        scales.weigh(time.monotonic() - begun, staff.kinds())


def _use(rounds: Rounds, key: str, staff: Staff, figures: Figures, stopped: threading.Event) -> None:
    """A person who looks at screens, searches, and saves the dialog of a crawl point now and again."""
    person = Rounds(
        rounds.house, rounds.rows, Client(rounds.client.address, key, staff.away, figures), figures, rounds.served
    )
    person.documents = rounds.documents
    person.client.sign_in()
    turn = 0
    while not stopped.wait(0.3):
        turn += 1
        try:
            path = LOOKS[turn % len(LOOKS)].format(run=max(1, rounds.run))
            if turn % 10 == 0:
                person.rename(turn // 10)
            elif "{run}" not in LOOKS[turn % len(LOOKS)] or rounds.run:
                answer = person.client.look(path)
                figures.add("searches", "/search/" in path)
                if answer.status_code != 200:
                    figures.wrong(f"{path}: {answer.status_code}")
        except Wrong as wrong:
            figures.wrong(f"a person: {wrong}")


def _left_in_redis(house: House) -> list[str]:
    """Rings that nobody answered, a moment after the last round."""
    deadline = time.monotonic() + 30
    while True:
        try:
            redis = Redis(unix_socket_path=str(house.folder / "redis.sock"))
            lengths = {name: redis.llen(f"rq:queue:{name}") for name in ("control", "crawl", "propagate", "preview")}
        except RedisError as error:
            return [f"Redis: {error}"]
        if not any(lengths.values()):
            return []
        if time.monotonic() > deadline:
            return [f"{count} rings of {name} nobody answered" for name, count in lengths.items() if count]
        time.sleep(0.5)


def _left(house: House, rows: Rows, figures: Figures) -> list[str]:
    """What a house that was asked to end must not leave behind."""
    counts = {
        "claims": "SELECT COUNT(*) FROM active_queue",
        "messages": "SELECT COUNT(*) FROM message",
        "unfinished excursions": "SELECT COUNT(*) FROM excursion WHERE unfinished",
        "instances that call themselves alive": "SELECT COUNT(*) FROM instance WHERE alive",
        "unfinished propagations": "SELECT COUNT(*) FROM propagation WHERE state NOT IN ('done', 'failed')",
    }
    found = {what: int(rows("webcrawl", sql)[0][0]) for what, sql in counts.items()}
    left = [f"{count} {what}" for what, count in found.items() if count]
    left += [f"fault of {who}, {n} ×: {told}" for who, n, told in rows("webcrawl", _FAULTS)]
    left += [f"process {pid}: {line}" for pid, line in house.processes().items()]
    checked = house.run("check_ledger")
    left += [checked.stdout + checked.stderr] * bool(checked.returncode)
    figures.add("runs balanced at the end", int(rows("webcrawl", "SELECT COUNT(*) FROM run")[0][0]))
    return left + [f"log: {count} × {line}" for line, count in _complaints(house.log).items()]


def _complaints(log: str) -> Counter[str]:
    """How each traceback of the log ended. That Redis was gone is none: it was struck."""
    ends = Counter(line[:200] for line in re.findall(r"^Traceback.*\n(?:[ \t].*\n|\n)*(\S.*)$", log, re.MULTILINE))
    ends["database is locked"] = log.count("database is locked")
    return Counter({line: count for line, count in ends.items() if count and not line.startswith(REDIS_GONE)})


if __name__ == "__main__":
    sys.exit(main())
