"""Does the public find the right page first? Judged sets over real manuals, beside two peers.

python -m tests.bench.relevance [--manual postgresql …] [--questions 3000] [--house FOLDER] [--worst 0]

The pages are crawled and propagated by the product and asked as the public asks; the peers index title and text of
the same rows, the title five times: FTS5 (porter, BM25) and tantivy (English stems, BM25).
"""

import argparse
import importlib.util
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench import ground, machine
from tests.bench.crawl import environment, fill, folder, house, manage, nginx
from tests.bench.manuals import HELD, MANUALS, TUNED, Manual, Question, judged

DEEP = 10  # results looked at; a right page further down counts 0
OURS, TANTIVY = "ours", "tantivy, any word"
BM25, BM25_ALL = "FTS5, any word", "FTS5, all words before any"
Ask = Callable[[str], Sequence[str]]  # a question -> addresses, best first


def build(manual: Manual, var: Path, work: Path) -> None:
    """Crawls the manual and publishes it on primary."""
    with nginx(manual.folder, work) as address:
        start = (f"{address}/{manual.start}", f"{address}/")
        (doc_id,) = house(var, [start]) if not var.exists() else fill(var, [start])
        for pattern in manual.left_out:
            manage(var, "add_exclude_url", str(doc_id), f"{address}/{pattern}")
        manage(var, "crawl", "--speed", "fast", "--ignore-robots")
        manage(var, "propagate", "--target", "primary")


def rows(var: Path) -> list[tuple[int, str, str, str]]:
    return ground.rows(var, "primary", "SELECT published_id, crawl_page_url, title_str, text FROM published_version")


def ours(var: Path) -> Ask:
    os.environ |= environment(var)
    import django

    django.setup()
    from clearinghouse.search import public_search
    from clearinghouse.search.narrowing import Narrow

    public_search.SECONDS = 60.0  # a busy machine makes answers late, and no worse
    return lambda text: [
        hit.url for hit in public_search.answer(text, Narrow(), limit=DEEP, alias="primary").results.hits
    ]


def words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text).split()


def fts5(pages: Sequence[tuple[int, str, str, str]]) -> dict[str, Ask]:
    """Asked for any word, and for all of them first."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, text, tokenize='porter unicode61')")
    base.executemany("INSERT INTO pages(rowid, url, title, text) VALUES (?, ?, ?, ?)", pages)
    sql = f"SELECT url FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 0, 5.0, 1.0) LIMIT {DEEP}"

    def matching(text: str, joined: str) -> list[str]:
        return [row[0] for row in base.execute(sql, [joined.join(f'"{word}"' for word in words(text))])]

    def any_word(text: str) -> list[str]:
        return matching(text, " OR ")

    def all_words(text: str) -> list[str]:
        return list(dict.fromkeys([*matching(text, " "), *any_word(text)]))[:DEEP]

    return {BM25: any_word, BM25_ALL: all_words}


def tantivy(pages: Sequence[tuple[int, str, str, str]]) -> Ask:
    import tantivy as peer

    builder = peer.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw")
    for name in ("title", "text"):
        builder.add_text_field(name, tokenizer_name="en_stem")
    index = peer.Index(builder.build())
    writer = index.writer(50_000_000, 1)
    for _, url, title, text in pages:
        writer.add_document(peer.Document(url=url, title=title, text=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def ask(text: str) -> list[str]:
        query = index.parse_query(" ".join(words(text)).lower(), ["title", "text"], {"title": 5.0})
        return [searcher.doc(place)["url"][0] for _, place in searcher.search(query, DEEP).hits]

    return ask


def rank(found: Sequence[str], right: frozenset[str]) -> int:
    """The place of the first right page; 0 where there is none."""
    places = (at for at, url in enumerate(found, start=1) if any(url.endswith("/" + page) for page in right))
    return next(places, 0)


class Measured(NamedTuple):
    ranks: list[int]
    cost: float  # milliseconds a question

    @property
    def mean(self) -> float:
        """Mean reciprocal rank."""
        return sum(1 / rank for rank in self.ranks if rank) / len(self.ranks)

    def within(self, places: int) -> int:
        return sum(0 < rank <= places for rank in self.ranks)


def measure(ask: Ask, asked: Sequence[Question]) -> Measured:
    began = time.perf_counter()
    ranks = [rank(ask(question.text)[:DEEP], question.pages) for question in asked]
    return Measured(ranks, (time.perf_counter() - began) / len(asked) * 1000)


def goals(manual: Manual, name: str, found: dict[str, Measured]) -> list[str]:
    """What was promised of this set; nothing is of sets that were tuned on."""
    mine, peer = found[OURS], max((found[BM25], found[BM25_ALL]), key=lambda one: one.mean)
    if (manual.name, name) == ("postgresql", f"index entries, {HELD}"):
        times = mine.mean / peer.mean
        return [f"MRR@10 by that of BM25: {times:.2f} ×, wanted ≥ 1.20 × {machine.kept(times >= 1.2)}"]
    if (manual.name, name) == ("python", f"questions, {HELD}"):
        first, three = mine.within(1), mine.within(3)
        return [
            f"right first: {first} of {len(mine.ranks)}, wanted ≥ 17 {machine.kept(first >= 17)}",
            f"right in the first three: {three} of {len(mine.ranks)}, wanted ≥ 19 {machine.kept(three >= 19)}",
        ]
    return []


def report(manual: Manual, sets: dict[str, list[Question]], ways: dict[str, Ask], worst: int) -> None:
    rows, promised = [], []
    for name, asked in sets.items():
        found = {way: measure(ask, asked) for way, ask in ways.items()}
        for way, one in found.items():
            shares = [f"{one.within(places) / len(asked):.1%}" for places in (1, 3, DEEP)]
            rows.append((f"{name} ({len(asked)})", way, f"{one.mean:.3f}", *shares, f"{one.cost:.1f}"))
        promised += [f"{name}: {goal}" for goal in goals(manual, name, found)]
        if TUNED in name:
            losses(asked, found[OURS], ways, worst)
    heads = ("asked", "by", "MRR@10", "first", "in the first 3", "in the first 10", "ms a question")
    machine.table(f"Relevance: {manual.name} ({manual.package})", heads, rows)
    for goal in promised:
        print(goal, flush=True)


def losses(asked: Sequence[Question], mine: Measured, ways: dict[str, Ask], most: int) -> None:
    """Where the right page is not first: what to learn from, so only where tuning is allowed."""
    wrong = [place for place, rank in enumerate(mine.ranks) if rank != 1]
    for place in wrong[:most]:
        print(f"\n{asked[place].text!r} -> {sorted(asked[place].pages)}")
        for name, ask in ways.items():
            print(f"  {name}: {[url.split('/', 3)[-1] for url in ask(asked[place].text)[:4]]}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--manual", choices=sorted(MANUALS), nargs="+", default=list(MANUALS))
    parser.add_argument("--questions", type=int, default=3000, help="at most so many entries of an index")
    parser.add_argument("--house", type=Path, help="keep the crawled manuals in this folder and use them again")
    parser.add_argument("--worst", type=int, default=0, help="print so many questions whose page is not first")
    options = parser.parse_known_args(arguments)[0]
    machine.require("nginx")
    if len(options.manual) == 1:
        return compare(MANUALS[options.manual[0]], options)
    for name in options.manual:  # each in a process of its own: settings know one house
        command = [sys.executable, "-m", "tests.bench.relevance", *sys.argv[1:], "--manual", name]
        subprocess.run(command, check=True)
    return None


def compare(manual: Manual, options: argparse.Namespace) -> None:
    if not manual.folder.is_dir():
        print(f"\nNOT RUN: relevance of {manual.name}: Debian's {manual.package} is missing on this machine")
        return
    with folder() as work:
        var = (options.house or work) / manual.name
        if not var.exists():
            var.parent.mkdir(parents=True, exist_ok=True)
            build(manual, var, work)
        sets = judged(manual)
        for asked in sets.values():
            random.Random(7).shuffle(asked)
            del asked[options.questions :]
        pages = rows(var)
        ways = fts5(pages)
        if importlib.util.find_spec("tantivy"):
            ways[TANTIVY] = tantivy(pages)
        ways[OURS] = ours(var)
        report(manual, sets, ways, options.worst)


if __name__ == "__main__":
    main()
