"""Does the public find the right page first? Mean reciprocal rank over a manual's own index, beside two peers.

python -m tests.bench.relevance [--manual postgresql] [--questions 3000] [--house FOLDER] [--worst 0]

The pages are crawled and propagated by the product and asked through its engine; the peers index title and text of
the same rows: FTS5 (porter, title x 5, BM25) and tantivy (English stems, title x 5, BM25), any word may match.
"""

import argparse
import importlib.util
import os
import random
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench import ground, machine
from tests.bench.crawl import environment, fill, folder, house, manage, nginx
from tests.bench.manuals import MANUALS, Manual, Question, questions

DEEP = 20  # results looked at; a right page further down counts 0
BARS = (1.15, 0.8)  # times the better peer; above this baseline: half of what is left to 1
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
    from clearinghouse.search import engine

    return lambda text: [hit.url for hit in engine.search(text, alias="primary", limit=DEEP).hits]


def words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text).split()


def fts5(pages: Sequence[tuple[int, str, str, str]]) -> Ask:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, text, tokenize='porter unicode61')")
    base.executemany("INSERT INTO pages(rowid, url, title, text) VALUES (?, ?, ?, ?)", pages)
    sql = f"SELECT url FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 0, 5.0, 1.0) LIMIT {DEEP}"

    def ask(text: str) -> list[str]:
        any_word = " OR ".join(f'"{word}"' for word in words(text))
        return [row[0] for row in base.execute(sql, [any_word])]

    return ask


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


def reciprocal(found: Sequence[str], right: frozenset[str]) -> float:
    for rank, url in enumerate(found, start=1):
        if any(url.endswith("/" + page) for page in right):
            return 1 / rank
    return 0.0


def measure(ask: Ask, asked: Sequence[Question]) -> tuple[list[float], float]:
    """The reciprocal rank of each question, and milliseconds a question."""
    began = time.perf_counter()
    ranks = [reciprocal(ask(question.text), question.pages) for question in asked]
    return ranks, (time.perf_counter() - began) / len(asked) * 1000


def report(manual: Manual, asked: Sequence[Question], found: dict[str, tuple[list[float], float]]) -> None:
    means = {name: sum(ranks) / len(ranks) for name, (ranks, _) in found.items()}
    baseline = max(mean for name, mean in means.items() if name != "ours")
    wanted = min(BARS[0] * baseline, (1 + baseline) / 2) if baseline > BARS[1] else BARS[0] * baseline
    print(f"\n{manual.name}: {len(asked)} questions from the index of {manual.package}; mean reciprocal rank")
    print("| by | MRR | first | in the first 10 | not found | ms a question |\n| --- | --- | --- | --- | --- | --- |")
    for name, (ranks, cost) in found.items():
        first = sum(rank == 1 for rank in ranks) / len(ranks)
        ten = sum(rank >= 0.1 for rank in ranks) / len(ranks)
        none = sum(rank == 0 for rank in ranks) / len(ranks)
        print(f"| {name} | {means[name]:.3f} | {first:.1%} | {ten:.1%} | {none:.1%} | {cost:.1f} |")
    kept = machine.kept(means["ours"] >= wanted)
    print(f"ours / better peer: {means['ours'] / baseline:.3f}; wanted {wanted:.3f}: {kept}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manual", choices=sorted(MANUALS), default="postgresql")
    parser.add_argument("--questions", type=int, default=3000)
    parser.add_argument("--house", type=Path, help="keep the crawled manual here and use it again")
    parser.add_argument("--worst", type=int, default=0, help="print this many questions where a peer is better")
    options = parser.parse_known_args()[0]
    manual = MANUALS[options.manual]
    machine.require("nginx")
    if not manual.folder.is_dir():
        sys.exit(f"NOT RUN: Debian's {manual.package} is missing on this machine")
    with folder() as work:
        var = options.house or work / "var"
        if not var.exists():
            build(manual, var, work)
        asked = questions(manual)
        random.Random(7).shuffle(asked)
        asked = asked[: options.questions]
        pages = rows(var)
        ways = {"FTS5 (porter, title x 5)": fts5(pages)}
        if importlib.util.find_spec("tantivy"):
            ways["tantivy (en_stem, title x 5)"] = tantivy(pages)
        ways["ours"] = ours(var)
        found = {name: measure(ask, asked) for name, ask in ways.items()}
        report(manual, asked, found)
        losses(asked, found, ways, options.worst)


def losses(
    asked: Sequence[Question], found: dict[str, tuple[list[float], float]], ways: dict[str, Ask], most: int
) -> None:
    """Where a peer does better: what to learn from (on the manual used for tuning only)."""
    peers = [ranks for name, (ranks, _) in found.items() if name != "ours"]
    worse = [i for i, mine in enumerate(found["ours"][0]) if max(ranks[i] for ranks in peers) > mine]
    for place in worse[:most]:
        print(f"\n{asked[place].text!r} -> {sorted(asked[place].pages)}")
        for name, ask in ways.items():
            print(
                f"  {name}: {found[name][0][place]:.2f} {[url.split('/', 3)[-1] for url in ask(asked[place].text)[:4]]}"
            )


if __name__ == "__main__":
    main()
