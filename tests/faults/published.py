"""The two sides of a propagation that is killed, each a process of its own in a house.

`python -m tests.faults.published write` is crawl and librarian in one: it writes what crawl number N has found and
tells what the three targets hold. `python -m tests.faults.published read NICE` searches without a pause, through the
product's own engine, and checks that every answer is one whole generation. Both end with their standard input.
"""

import json
import os
import random
import re
import select
import sys
import time
from collections import Counter
from typing import Any

WORD = "handover"  # on every page of every crawl
PAGES = 13
KEPT_RUNS = 6
LINES = 5  # faults told in words
COUNT = "count"  # a reader that is asked this tells how much it has read
_CRAWL = re.compile(r"\bcrawl(\d+)\b")


def pages_of(crawl: int) -> dict[str, str]:
    """What crawl N finds: every text is another one, and the pages are not always as many."""
    return {f"{number}.html": _text(crawl, number) for number in range(PAGES + crawl % 3)}


def _text(crawl: int, number: int) -> str:
    """No two pages are alike, and any piece of them tells the crawl."""
    words = random.Random(f"{crawl} {number}").choices(_VOCABULARY, k=30)
    return " ".join(f"{WORD} crawl{crawl} {' '.join(words[at : at + 6])}" for at in range(0, 30, 6))


_VOCABULARY = [f"{a}{b}{c}" for a in ("ba", "le", "mi", "no") for b in ("dra", "ko", "su", "ti") for c in "rnsl"]


def title_of(crawl: int) -> str:
    return f"Measures of crawl{crawl}"


# -- the writer --------------------------------------------------------------------------------------------------------


class Writer:
    def __init__(self) -> None:
        from clearinghouse.library.models import Document
        from crawler.models import Run
        from tests.propagation.world import World, add_document

        self.document = Document.objects.first() or add_document()
        self.world = World()
        self.world.runs = Run.objects.count()

    def crawl(self, number: int) -> dict[str, Any]:
        """Twice, because a page leaves after two runs without it; crawls of long ago are forgotten."""
        from crawler.models import Excursion, LedgerEntry

        for _ in range(2):
            self.world.run(self.document, pages_of(number))
        self.document.sheet.title = title_of(number)
        self.document.sheet.save()
        newest = list(Excursion.objects.order_by("-id").values_list("id", flat=True)[:KEPT_RUNS])
        LedgerEntry.objects.exclude(excursion_id__in=newest).delete()
        Excursion.objects.exclude(id__in=newest).delete()
        return {}

    def state(self, number: int) -> dict[str, Any]:
        from clearinghouse.database.aliases import TARGETS
        from crawler.models import Propagation
        from crawler.propagation.loading import load
        from crawler.propagation.switching import switch
        from tests.propagation.world import digest

        newest = Propagation.objects.order_by("-id").first()
        return {
            "state": newest.state if newest else "",
            "error": newest.error if newest else "",
            "generations": {name: load.live(alias) for name, alias in TARGETS.items()},
            "digests": {name: digest(name) for name in TARGETS},
            "wrong": [sentence for alias in TARGETS.values() for sentence in _wrong(alias, number)],
            "home": switch.is_home(),
        }


def _wrong(alias: str, number: int) -> list[str]:
    """What a target has against showing exactly this crawl, in whole files with a true index."""
    from django.db import DatabaseError, connections

    from crawler.propagation.loading import load
    from tests.propagation.world import shown

    found = []
    if shown({"default": "development"}.get(alias, alias)) != pages_of(number):
        found.append(f"{alias} does not show crawl {number}")
    if connections[alias].vendor != "sqlite":
        return found
    if load.execute(alias, "PRAGMA integrity_check") != [("ok",)]:
        found.append(f"the file of {alias} is damaged")
    try:
        load.execute(alias, "INSERT INTO published_index(published_index, rank) VALUES('integrity-check', 1)")
    except DatabaseError as error:
        found.append(f"the full text index of {alias} is not that of its texts: {error}")
    return found


# -- a reader ----------------------------------------------------------------------------------------------------------


class Reader:
    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.sentences: list[str] = []
        self.crawls: dict[int, set[int]] = {}  # generation -> the crawls it showed
        self.slowest = 0.0  # seconds: nobody who reads waits for who loads

    def look(self, alias: str) -> None:
        from clearinghouse.search.engine import search

        began = time.perf_counter()
        answer = search(WORD, alias=alias, limit=100)
        self.slowest = max(self.slowest, time.perf_counter() - began)
        self.counted["reads"] += 1
        if not answer.hits:
            self._fault("empty", f"{alias} answered nothing in generation {answer.generation}")
            return
        told = {int(n) for hit in answer.hits for n in _CRAWL.findall(f"{hit.snippet} {hit.document}")}
        crawl = max(told, default=0)
        if len(told) != 1 or answer.total != len(pages_of(crawl)):
            self._fault("mixed", f"{alias} answered {answer.total} pages of crawls {sorted(told)}")
        self.crawls.setdefault(answer.generation, set()).update(told)

    def _fault(self, kind: str, sentence: str) -> None:
        self.counted[kind] += 1
        if len(self.sentences) < LINES:
            self.sentences.append(sentence)

    def report(self) -> dict[str, Any]:
        mixtures = [f"generation {g} showed the crawls {sorted(c)}" for g, c in self.crawls.items() if len(c) > 1]
        self.counted["mixed"] += len(mixtures)
        return {**self.counted, "slowest": self.slowest, "sentences": [*self.sentences, *mixtures[:LINES]]}


def read(nice: int) -> None:
    """Every fourth answer is the public's. With `nice`, a propagation gets its share of the machine beside it."""
    from django.db import OperationalError

    from clearinghouse.database.aliases import TARGETS
    from clearinghouse.search.public_target import public_alias

    os.nice(nice)
    reader, ways = Reader(), [public_alias, *(lambda alias=alias: alias for alias in TARGETS.values())]
    print(json.dumps({"ready": True}), flush=True)
    while True:
        if select.select([sys.stdin], [], [], 0)[0]:
            if sys.stdin.readline().strip() != COUNT:
                break
            print(json.dumps(reader.counted), flush=True)
        for way in ways:
            try:
                reader.look(way())
            except OperationalError as error:
                reader._fault("refused", f"a reader was refused: {error}")
    print(json.dumps(reader.report()), flush=True)


def write() -> None:
    writer = Writer()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        action, number = json.loads(line)
        began = time.monotonic()
        answer = {"crawl": writer.crawl, "state": writer.state}[action](number)
        print(json.dumps(answer | {"seconds": time.monotonic() - began}), flush=True)


if __name__ == "__main__":
    import django

    django.setup()
    write() if sys.argv[1] == "write" else read(int(sys.argv[2]))
