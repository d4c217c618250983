"""Owns: one round after the other: sites change, settings are edited, a crawl and a propagation are asked for through
the web server, and all that they leave is compared with the truth.

Does not: strike (staff.py), or tell (__main__.py).
"""

import hashlib
import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from psycopg import OperationalError

from tests.flow.house import House
from tests.postgres import Server
from tests.sites.graph import Site
from tests.soak.people import Client, Figures, Wrong
from tests.soak.sites import HIDDEN, Changing, Settings, Truth, published

LONGEST = 240.0  # seconds until a crawl or a propagation that is killed again and again has ended
FILES = {"default": "doc_library", "webcrawl": "webcrawl", "primary": "primary", "backup": "backup"}
SUMS = "SELECT doc_id, state, found, queued, crawled + unchanged, redirected, skipped, failed FROM excursion"
LOOKS = (
    "/", "/documents/", "/documents/1/crawl-points/", "/documents/1/", "/crawls/", "/crawls/{run}/",
    "/crawls/{run}/pages/", "/crawls/{run}/errors/", "/propagation/", "/search/?q=handover", "/reports/coverage/",
)  # fmt: skip


class Rows:
    """What stands in the databases, read beside the house."""

    def __init__(self, house: House, server: Server | None) -> None:
        self._house, self._server = house, server

    def __call__(self, alias: str, sql: str) -> list[tuple[Any, ...]]:
        if self._server:
            return self._there(FILES[alias], sql)
        path = f"file:{self._house.folder}/{FILES[alias]}.sqlite3?mode=ro"
        with closing(sqlite3.connect(path, uri=True, timeout=60)) as connection:
            return connection.execute(sql).fetchall()

    def _there(self, name: str, sql: str) -> list[tuple[Any, ...]]:
        assert self._server
        try:
            return self._server.execute(sql, database=name)
        except OperationalError:
            time.sleep(1.0)
            return self._server.execute(sql, database=name)


class Document:
    """One document: its site, what was edited last, what its crawls found and what must be shown."""

    def __init__(self, number: int, points: tuple[int, int], site: Changing) -> None:
        self.number, (self.point, self.second) = number, points
        self.site, self.settings, self.exclude = site, Settings(), 0
        self.truth: Truth | None = None
        self.shown: dict[str, bytes] = {}


class Rounds:
    def __init__(self, house: House, rows: Rows, client: Client, figures: Figures, served: Site) -> None:
        self.house, self.rows, self.client, self.figures, self.served = house, rows, client, figures, served
        self.documents: list[Document] = []
        self.run = 0
        self.number = 0

    def play(self) -> None:
        """One whole round; what is wrong is written down, and the next one begins all the same."""
        self.number += 1
        self.served.seen.clear()
        try:
            for document in self.documents:
                if self.number > 1:
                    document.site.change(self.number)
                self._edit(document)
            self.run = self._asked("webcrawl", "run", self._launch)
            self._await(f"SELECT 1 FROM run WHERE id = {self.run} AND finished_at IS NOT NULL", f"run {self.run}")
            self.figures.add("crawls")
            self._prove_run()
            generation = self._asked("webcrawl", "propagation", self._propagate)
            done = f"SELECT 1 FROM propagation WHERE id = {generation} AND state IN ('done', 'failed')"
            self._await(done, f"propagation {generation}")
            self.figures.add("propagations")
            self._prove_published(generation)
        except Wrong as wrong:
            self.figures.wrong(f"round {self.number}: {wrong}")

    # -- what is asked for ---------------------------------------------------------------------------------------------

    def _edit(self, document: Document) -> None:
        """An exclude URL comes or goes, a crawl point is switched; by program, and looked at until it is so."""
        dice = random.Random(self.number * 100 + document.number)
        hidden, more = dice.random() < 0.3, dice.random() < 0.7
        if hidden != document.settings.hidden:
            self._until_so(lambda: self._exclude(document, hidden), f"the exclude URL of {document.number}")
        if more != document.settings.more:
            self._until_so(lambda: self._switch(document, more), f"the crawl point {document.second}")
        document.settings = Settings(hidden, more)

    def _exclude(self, document: Document, hidden: bool) -> bool:
        address = f"documents/{document.number}/exclude-urls/"
        listed = [one["id"] for one in self.client.ask(address)["items"]]
        if bool(listed) == hidden:
            return True
        if not hidden:
            self.client.send("DELETE", f"{address}{listed[0]}/")
        elif deleted := self.client.ask(f"{address}?deleted=true")["items"]:
            self.client.send("POST", f"{address}{deleted[0]['id']}/restore/")
        else:
            self.client.send("POST", address, {"pattern": self.served.url(f"{document.site.root}{HIDDEN}*")})
        self.figures.add("edits")
        return False

    def _switch(self, document: Document, active: bool) -> bool:
        address = f"documents/{document.number}/crawl-points/{document.second}/"
        now = self.client.ask(address)
        if now["active"] == active:
            return True
        self.client.send("PATCH", address, {"version": now["version"], "active": active})
        self.figures.add("edits")
        return False

    def rename(self, turn: int) -> None:
        """A person changes the depth limit in the dialog, as a browser does; it changes nothing that is found."""
        document = self.documents[turn % len(self.documents)]
        path = f"/documents/{document.number}/crawl-points/{document.point}/edit/"
        entries = self.client.form(path, "depth")
        answer = self.client.submit(path, entries | {"depth": str(50 + turn % 40), "do": "save"})
        if answer is not None and (answer.status_code != 200 or answer.url.endswith(path)):
            raise Wrong(f"{path}: {answer.status_code}, not saved")
        self.figures.add("edits")

    def _launch(self) -> None:
        answer = self.client.send(
            "POST", "runs/", {"documents": [one.number for one in self.documents], "speed": "fast"}
        )
        if answer is not None and answer.status_code != 201:
            raise Wrong(f"the launch was answered by {answer.status_code}: {answer.text[:300]}")

    def _propagate(self) -> None:
        answer = self.client.submit("/propagation/start/", self.client.form("/propagation/new/", "full"))
        if answer is not None and answer.status_code != 200:
            raise Wrong(f"the propagation was answered by {answer.status_code}: {answer.text[:300]}")

    # -- waiting ---------------------------------------------------------------------------------------------------

    def _asked(self, alias: str, table: str, ask: Callable[[], None]) -> int:
        """Ask once, or again when the web server died before it wrote anything; the number of what was asked for."""
        before = self._newest(alias, table)
        for _ in range(5):
            ask()
            if (now := self._newest(alias, table)) > before:
                return now
            time.sleep(1.0)
        raise Wrong(f"no {table} was made")

    def _newest(self, alias: str, table: str) -> int:
        return int(self.rows(alias, f"SELECT COALESCE(MAX(id), 0) FROM {table}")[0][0])

    def _until_so(self, done: Callable[[], bool], what: str) -> None:
        for _ in range(10):
            if done():
                return
        raise Wrong(f"{what} cannot be edited")

    def _await(self, sql: str, what: str) -> None:
        deadline = time.monotonic() + LONGEST
        while not self.rows("webcrawl", sql):
            if time.monotonic() > deadline:
                raise Wrong(f"{what} has not ended for {LONGEST:.0f} s")
            time.sleep(0.2)

    # -- proving -------------------------------------------------------------------------------------------------------

    def _prove_run(self) -> None:
        checked = self.house.run("check_ledger", self.run)
        if checked.returncode:
            raise Wrong(f"run {self.run} does not balance: {checked.stdout}{checked.stderr}")
        found = {row[0]: row[1:] for row in self.rows("webcrawl", f"{SUMS} WHERE run_id = {self.run}")}
        stored = self._digests("webcrawl")
        for document in self.documents:
            truth, earlier = document.site.truth(document.settings), document.truth
            state, _, queued, pages, redirected, _, failed = found[document.number]
            told = (state, queued, pages, redirected, failed)
            if told != ("finished", 0, len(truth.pages), truth.redirected, truth.failed):
                raise Wrong(
                    f"run {self.run}, document {document.number}: {told}, but there are {len(truth.pages)} pages"
                )
            now = {path: digest for path, digest in stored[document.number].items() if path in truth.pages}
            if now != truth.pages:
                raise Wrong(f"run {self.run}, document {document.number}: {_differences(now, truth.pages)}")
            hidden = document.site.root + HIDDEN if document.settings.hidden else ""
            document.shown = published(truth, earlier, document.shown, hidden)
            document.truth = truth
            self.figures.add("pages", pages)

    def _prove_published(self, generation: int) -> None:
        (state, error), *_ = self.rows("webcrawl", f"SELECT state, error FROM propagation WHERE id = {generation}")
        if state != "done":
            raise Wrong(f"propagation {generation} is {state}: {error[:300]}")
        for alias in ("default", "primary", "backup"):
            shown = self._digests(alias)
            for document in self.documents:
                now = shown.get(document.number, {})
                if now != document.shown:
                    raise Wrong(f"{alias} shows of document {document.number}: {_differences(now, document.shown)}")

    def _digests(self, alias: str) -> dict[int, dict[str, bytes]]:
        """What doc_crawl_page shows, as other people's SQL sees it."""
        found: dict[int, dict[str, bytes]] = {}
        for number, url, body in self.rows(alias, "SELECT doc_id, crawl_page_url, crawl_file FROM doc_crawl_page"):
            path = "/" + url.split("/", 3)[-1]
            found.setdefault(int(number), {})[path] = hashlib.sha256(bytes(body)).digest()
        return found


def _differences(now: dict[str, bytes], wanted: dict[str, bytes]) -> str:
    missing, more = sorted(wanted.keys() - now.keys()), sorted(now.keys() - wanted.keys())
    other = sorted(path for path in now.keys() & wanted.keys() if now[path] != wanted[path])
    return f"missing {missing[:5]}, too many {more[:5]}, other bytes {other[:5]}"
