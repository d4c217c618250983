"""People at work, as few and as many, beside a crawl and a propagation: what each waits for the same pages.

Everybody has an account, a session and a pace of their own: they search, open the crawl points of a document, look at
the run that goes on (which polls while they read it), save a crawl point now and then, and read for some seconds in
between. Few and many work in turn, in the same house; the crawl and the propagation never stop.
Called by: crowd.
"""

import json
import os
import random
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import requests

from tests.bench import machine
from tests.bench.crawl import PYTHON, environment
from tests.bench.screens import signed_in

FEW = 5
MOST_RATIO = 2.0  # p95 of many by p95 of few
PAUSE = 5.0  # seconds that somebody reads a page, in the middle
LONGEST_PAUSE = 20.0
SIGNING_IN = 2  # at once
POLL = 2.0  # seconds, as static/live.js
SEARCH, PANEL, RUN = "search", "panel", "run page"
OTHERS = ("/", "/documents/", "/crawls/")
WRITES = 15  # every so many pages of a person
WORDS = (
    "quality", "measures", "hospital", "report", "patients", "data", "care", "guideline", "asthma", "annual",
    "safety", "review", "method", "table", "survey", "practice", "heart", "evidence", "health", "program",
)  # fmt: skip
_PEOPLE = """
import json, sys
import django; django.setup()
from clearinghouse.accounts.models import Role
from clearinghouse.accounts.services import add_person
from clearinghouse.library.models import Document, Project
from clearinghouse.library.services import assign, project_named
asked, project = json.load(sys.stdin), project_named("People at work")
roles = [Role.MANAGER, Role.INDEXER] + 8 * [Role.DEVELOPER]
documents, projects, found = list(Document.objects.filter(pk__in=asked["documents"])), list(Project.objects.all()), []
for document in documents:
    document.sheet.project = project
    document.sheet.save(update_fields=["project"])
for number in range(asked["people"]):
    role = roles[number % len(roles)] if number else Role.ADMINISTRATOR
    user, password = add_person(f"person{number}", role, projects, temporary=False)
    if role == Role.DEVELOPER:
        for document in documents:
            assign(document, user)
    found.append([f"person{number}", password, role != Role.INDEXER])
print(json.dumps(found))
"""
_POLL = re.compile(r'id="live-poll"[^>]*hx-get="([^"]+)"')


@dataclass
class Waited:
    """Milliseconds for each kind of page, and what did not go well."""

    times: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0
    servers: float = 0.0  # seconds of processor time of all web processes

    def add(self, other: "Waited") -> None:
        for name, times in other.times.items():
            self.times.setdefault(name, []).extend(times)
        self.wrong += other.wrong
        self.seconds += other.seconds
        self.servers += other.servers


def people_of(var: Path, count: int, documents: Sequence[int]) -> list[tuple[str, str, bool]]:
    """Names and passwords of so many people who work on these documents, and whether they change crawl points."""
    asked = json.dumps({"people": count, "documents": list(documents)})
    command = [PYTHON, "-c", _PEOPLE]
    done = subprocess.run(command, env=environment(var), input=asked, stdout=subprocess.PIPE, text=True, check=True)
    return [(name, password, edits) for name, password, edits in json.loads(done.stdout)]


class Worker:
    """One of them, with a browser."""

    def __init__(self, address: str, account: tuple[str, str, bool], number: int, run: Callable[[], int]) -> None:
        self._address, self._run = address, run
        self._random = random.Random(number)
        name, password, self._edits = account
        self._session = signed_in(address, name, password)
        self._pages = 0
        self.waited = Waited()

    def work(self, documents: Sequence[int], until: float) -> Waited:
        self.waited = Waited()
        self._read("", min(until, time.monotonic() + self._random.random() * PAUSE))
        while time.monotonic() < until:
            self._pages += 1
            kind = self._random.choices((SEARCH, PANEL, RUN, ""), (3, 3, 3, 1))[0]
            document = self._random.choice(documents)
            poll = ""
            if self._edits and self._pages % WRITES == 0:
                self._save(document)
            elif kind == SEARCH:
                self._look(SEARCH, f"/search/?q={'+'.join(self._random.sample(WORDS, self._random.randint(1, 3)))}")
            elif kind == PANEL:
                self._look(PANEL, f"/documents/{document}/crawl-points/")
            elif kind == RUN:
                poll = (_POLL.findall(self._look(RUN, f"/crawls/{self._run()}/")) or [""])[0].replace("&amp;", "&")
            else:
                self._look("other", self._random.choice(OTHERS))
            pause = min(LONGEST_PAUSE, max(min(1.0, PAUSE), self._random.expovariate(1 / PAUSE)))
            self._read(poll, min(until, time.monotonic() + pause))
        return self.waited

    def _read(self, poll: str, until: float) -> None:
        """Nothing is pressed; the page of a run asks for news by itself."""
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, POLL) if poll else left)
            if poll and until - time.monotonic() > 0:
                news = self._look("poll", poll)
                poll = (_POLL.findall(news) or [poll])[0].replace("&amp;", "&")

    def _look(self, kind: str, path: str) -> str:
        headers = {"HX-Request": "true", "HX-Trigger": "live-poll"} if kind == "poll" else {}
        return self._timed(kind, path, lambda: self._session.get(self._address + path, timeout=60, headers=headers))

    def _save(self, document: int) -> None:
        path = f"/documents/{document}/crawl-points/new/"
        address = f"https://example.gov/{self._random.randrange(10**12)}/"
        entries = {"url": address, "root": address, "depth": "2", "auth_type": "0", "active": "on", "do": "save"}
        values = entries | {"csrfmiddlewaretoken": self._session.cookies["csrftoken"]}
        page = self._address + path
        self._timed("save", path, lambda: self._session.post(page, values, headers={"Referer": page}, timeout=60))

    def _timed(self, kind: str, path: str, ask: Callable[[], requests.Response]) -> str:
        began = time.perf_counter()
        try:
            answer = ask()
        except requests.RequestException as problem:
            self.waited.wrong.append(f"{path}: {problem!r}")
            return ""
        self.waited.times.setdefault(kind, []).append((time.perf_counter() - began) * 1000)
        if answer.status_code not in (200, 204, 286) or "/sign-in/" in answer.url:
            self.waited.wrong.append(f"{path}: {answer.status_code}")
        return answer.text


def signed_in_each(address: str, people: list[tuple[str, str, bool]], run: Callable[[], int]) -> list["Worker"]:
    """As they come in the morning: a few at a time."""
    with ThreadPoolExecutor(SIGNING_IN) as pool:
        return list(pool.map(lambda told: Worker(address, told[1], told[0], run), enumerate(people)))


def together(workers: Sequence[Worker], documents: Sequence[int], seconds: float) -> Waited:
    """All these people for so long."""
    servers = machine.family(os.getpid(), "gunicorn")
    before, began = machine.seconds_of(servers), time.monotonic()
    with ThreadPoolExecutor(len(workers)) as pool:
        found = Waited()
        for waited in pool.map(lambda one: one.work(documents, began + seconds), workers):
            found.add(waited)
    found.seconds, found.servers = time.monotonic() - began, machine.seconds_of(servers) - before
    return found


def in_turn(workers: Sequence[Worker], documents: Sequence[int], seconds: float, rounds: int) -> dict[int, Waited]:
    found = {FEW: Waited(), len(workers): Waited()}
    for _ in range(rounds):
        for count in found:
            found[count].add(together(workers[:count], documents, seconds))
    return found


def report(found: dict[int, Waited]) -> None:
    few, many = found.values()
    count = max(found)
    rows: list[tuple[object, ...]] = []
    for kind in (SEARCH, PANEL, RUN, "poll", "save", "other"):
        one, other = few.times.get(kind, []), many.times.get(kind, [])
        if not one or not other:
            continue  # too short a time for what is done now and then
        cells: list[object] = [kind, len(one), len(other)]
        for share in (0.5, 0.95):
            cells += [f"{machine.percentile(one, share):.0f}", f"{machine.percentile(other, share):.0f}"]
        ratio = machine.percentile(other, 0.95) / max(0.01, machine.percentile(one, 0.95))
        judged = kind in (SEARCH, PANEL, RUN)
        cells += [f"{ratio:.2f} ×", f"≤ {MOST_RATIO:g} × {machine.kept(ratio <= MOST_RATIO)}" if judged else ""]
        rows.append(tuple(cells))
    heads = ("page", f"views of {FEW}", f"of {count}", f"p50, ms, of {FEW}", f"of {count}", f"p95, ms, of {FEW}",
             f"of {count}", "ratio of p95", "budget")  # fmt: skip
    title = f"{FEW} and {count} people at work, who read a page for {PAUSE:g} s, beside a crawl and a propagation"
    machine.table(title, heads, rows)
    shares = [
        (f"{number} at work", f"{waited.servers / waited.seconds:.2f}", len(waited.wrong))
        for number, waited in found.items()
    ]
    machine.table("What the web processes took", ("who", "of a core", "answers that were none"), shares)
    print(*[sentence for waited in found.values() for sentence in waited.wrong][:10], sep="\n")
