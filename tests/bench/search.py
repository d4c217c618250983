"""Searching 100,000 pages through HTTP, beside bare SQL on the same tables and beside other engines.

python -m tests.bench.search [--pages 100000] [--words 200] [--peers 1]

The pages are pieces of real manuals put together anew, so that words are as frequent as people write them. 200 words,
evenly over document frequencies from 0.01 % to 20 % (on a logarithmic scale), each asked alone, beside another one,
in a phrase that stands on a page, as a beginning, and narrowed by facets; every question once, so that nothing asked
is already known. The server is the line `web` of the Procfile.
"""

import argparse
import bisect
import importlib.util
import os
import random
import re
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import requests
from lxml import etree, html

from tests.bench import ground, machine, postgres_peer
from tests.bench.crawl import environment, folder, house
from tests.bench.manuals import MANUALS, SENTENCES
from tests.bench.screens import web

LEAST, MOST = 0.0001, 0.2  # document frequencies
BUDGET, WITH_FACETS, BY_SQL = 50.0, 100.0, 1.5  # ms, ms, times bare SQL
KINDS = ("one word", "two words", "a phrase", "a beginning*", "with facets")
_LONG, _WORD = re.compile(r"(?<=[.!?:])\s+"), re.compile(r"[a-z]{3,20}")
_SIZE = (2000, 4000)  # characters of a page
_BATCH = 1000
_SITES = 40


@dataclass(slots=True)
class Corpus:
    """Pages as they were made, and what was counted on the way."""

    sentences: list[str]
    titles: list[str]
    frequency: Counter[str] = field(default_factory=Counter)
    neighbours: dict[str, str] = field(default_factory=dict)  # a word -> a phrase of two words that stands somewhere

    def pages(self, count: int) -> Iterator[tuple[str, str]]:
        """Title and text; runs of neighbouring sentences from a few places."""
        choose = random.Random(7)
        for _ in range(count):
            size, pieces, length = choose.randint(*_SIZE), [], 0
            while length < size:
                at = choose.randrange(len(self.sentences))
                run = self.sentences[at : at + choose.randint(3, 8)]
                pieces += run
                length += sum(map(len, run))
            yield choose.choice(self.titles), " ".join(pieces)[:size]

    def count(self, text: str) -> None:
        words = _WORD.findall(text.lower())
        self.frequency.update(set(words))
        for one, two in zip(words[::7], words[1::7], strict=False):
            if f"{one} {two}" in text:
                self.neighbours.setdefault(one, f"{one} {two}")


def _found(text: str) -> int:
    from clearinghouse.search import query
    from clearinghouse.search.backends import backend

    return backend("primary").frequency(query.parse(text).groups)


def _beginning(word: str, pages: int) -> str:
    """The shortest one that does not find more pages than the most frequent word."""
    possible = (f"{word[:length]}*" for length in range(3, len(word)))
    return next((text for text in possible if _found(text) <= MOST * pages), f"{word}*")


def corpus() -> Corpus:
    """The sentences and titles of those of the manuals that this machine has."""
    sentences, titles = [], []
    for manual in map(MANUALS.__getitem__, SENTENCES):
        for file in sorted(manual.folder.rglob("*.html")) if manual.folder.is_dir() else ():
            if "genindex" in file.name or "bookindex" in file.name:
                continue
            try:
                tree = html.fromstring(file.read_bytes())
            except etree.ParserError:
                continue
            titles += [" ".join(head.text_content().split())[:80] for head in tree.iter("h1", "h2", "h3")]
            for paragraph in tree.iter("p"):
                sentences += _LONG.split(" ".join(paragraph.text_content().split()))
    return Corpus([one for one in sentences if len(one) > 20], [one for one in titles if one])


def fill(made: Corpus, count: int, most: int) -> int:
    """Writes pages to primary as a propagation would leave them, going on where it stopped; how many there are."""
    from django.db import transaction

    from clearinghouse.published.models import LiveGeneration, PublishedDocument, PublishedInterval, PublishedVersion
    from clearinghouse.search import backends
    from tests.search.library import DAY, version

    written = PublishedVersion.objects.using("primary").count()
    if not written:
        backends.backend("primary").ensure()
        names = [PublishedDocument(doc_id=n, title=f"Document {n}", project=f"P{n % 5}", gen_from=1) for n in range(20)]
        PublishedDocument.objects.using("primary").bulk_create(names)
        LiveGeneration.objects.using("primary").update_or_create(id=1, defaults={"generation": 1, "switched_at": DAY})
    pages = islice(enumerate(made.pages(count)), written, min(count, written + most))
    while batch := list(islice(pages, _BATCH)):
        rows = []
        for number, (title, text) in batch:
            url = f"https://site{number % _SITES}.example.org/folder{number % 7}/{number}.html"
            page = {"title": title, "text": text, "url": url, "doc_id": number % 20, "headings": title}
            rows.append(version(number, page, crawled_at=DAY, generation=1))
        with transaction.atomic(using="primary"):
            PublishedVersion.objects.using("primary").bulk_create(rows)
            intervals = [PublishedInterval(published_id=row.id, doc_id=row.doc_id, gen_from=1) for row in rows]
            PublishedInterval.objects.using("primary").bulk_create(intervals)
            backends.backend("primary").add([row.id for row in rows])
        written += len(rows)
    backends.backend("primary").tidy(written)
    return written


def questions(made: Corpus, pages: int, count: int) -> dict[str, list[str]]:
    """For each kind as many questions."""
    known = sorted((number / pages, word) for word, number in made.frequency.items() if word in made.neighbours)
    words: list[str] = []
    for step in range(count):
        wanted = LEAST * (MOST / LEAST) ** (step / max(1, count - 1))
        at = min(bisect.bisect(known, (wanted, "")), len(known) - 1)
        while _found(word := known.pop(at)[1]) > MOST * pages:  # in all its forms
            at = max(0, at - 1)
        words.append(word)
    random.Random(7).shuffle(words)
    others = words[1:] + words[:1]
    return {
        "one word": words,
        "two words": [f"{one} {two}" for one, two in zip(words, others, strict=True)],
        "a phrase": [f'"{made.neighbours[word]}"' for word in words],
        "a beginning*": [_beginning(word, pages) for word in words],
        "with facets": [f"{word} type:web" for word in words],
    }


Ask = Callable[[str, str], object]  # kind and question


def timed(ask: Ask, asked: dict[str, list[str]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for kind, texts in asked.items():
        for text in texts:
            began = time.perf_counter()
            ask(kind, text)
            found.setdefault(kind, []).append((time.perf_counter() - began) * 1000)
    return found


def through_http(address: str) -> Ask:
    session = requests.Session()

    def ask(kind: str, text: str) -> None:
        chosen = {"site": "site1.example.org", "project": "P1"} if kind == "with facets" else {}
        answer = session.get(f"{address}/search/", params={"q": text, **chosen}, timeout=60)
        if answer.status_code != 200:
            raise ValueError(f"{answer.status_code}: {text}")

    began = time.perf_counter()
    for number in range(24):  # until every worker has seen the generation
        ask("", f"warm {number}")
    print(f"first 24 requests of a new server: {time.perf_counter() - began:.1f} s")
    return ask


def index_only() -> Ask:
    """The part of ours that bare SQL does: match, see the generation, filter, order, top 10."""
    from clearinghouse.search import query
    from clearinghouse.search.backends import backend, facts_answer

    index = backend("primary")
    known = facts_answer.read_facts(index, 1, ("primary", 1))
    return lambda kind, text: facts_answer.find(index, known, query.parse(_plain(text))).rows[:10]


def bare_sql(var: Path) -> Ask:
    """The same tables and weights, filter and top 10, nothing else."""
    if there := ground.server():
        return postgres_peer.bare_sql(there.connect(ground.name_of(var, "primary")))
    from clearinghouse.database.aliases import _SQLITE_PRAGMAS
    from clearinghouse.search.backends.sql_index import WEIGHTS

    base = sqlite3.connect(f"file:{var}/primary.sqlite3?mode=ro", uri=True)
    base.executescript(_SQLITE_PRAGMAS.replace("PRAGMA journal_mode=WAL;", ""))
    sql = (
        "SELECT v.published_id, v.crawl_page_url, v.title_str, v.text FROM published_index "
        "JOIN published_interval i ON i.published_id = published_index.rowid "
        "JOIN published_version v ON v.published_id = i.published_id "
        "WHERE published_index MATCH ? AND i.gen_from <= 1 AND i.gen_to > 1 "
        f"ORDER BY bm25(published_index, {', '.join(map(str, WEIGHTS))}) LIMIT 10"
    )
    return lambda kind, text: base.execute(sql, [_plain(text)]).fetchall()


def _plain(text: str) -> str:
    return text.removesuffix(" type:web")


def bare_fts5(pages: Sequence[tuple[str, str]], work: Path) -> Ask:
    base = sqlite3.connect(work / "peer.sqlite3")
    base.execute("CREATE VIRTUAL TABLE pages USING fts5(title, text, tokenize='porter unicode61')")
    base.executemany("INSERT INTO pages VALUES (?, ?)", pages)
    base.commit()
    sql = "SELECT rowid, title FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 5.0, 1.0) LIMIT 10"
    return lambda kind, text: base.execute(sql, [_plain(text)]).fetchall()


def tantivy(pages: Sequence[tuple[str, str]]) -> Ask:
    import tantivy as peer

    builder = peer.SchemaBuilder()
    for name in ("title", "text"):
        builder.add_text_field(name, stored=name == "title", tokenizer_name="en_stem")
    index = peer.Index(builder.build())
    writer = index.writer(50_000_000, 1)
    for title, text in pages:
        writer.add_document(peer.Document(title=title, text=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def ask(kind: str, text: str) -> object:
        words = _plain(text).rstrip("*")
        query = index.parse_query(f"+{' +'.join(words.split())}" if kind == "two words" else words, ["title", "text"])
        return [searcher.doc(place) for _, place in searcher.search(query, 10).hits]

    return ask


def report(asked: dict[str, list[str]], found: dict[str, dict[str, list[float]]], pages: int) -> None:
    ours, index, sql = found["ours, through HTTP"], found["ours, index only"], found["bare SQL, same tables"]
    heads = ("asked", *(f"{name}: p50, p95 ms" for name in found), "budget p95", "index by bare SQL")
    rows = []
    for kind in asked:
        cells = [
            f"{machine.percentile(times[kind], 0.5):.1f}, {machine.percentile(times[kind], 0.95):.1f}"
            if kind in times
            else "–"
            for times in found.values()
        ]
        p95 = machine.percentile(ours[kind], 0.95)
        most = WITH_FACETS if kind == "with facets" else BUDGET
        ratio = machine.percentile(index[kind], 0.95) / machine.percentile(sql[kind], 0.95)
        by_sql = f"{ratio:.2f} × {machine.kept(ratio <= BY_SQL)}"
        rows.append((kind, *cells, f"≤ {most:.0f} ms {machine.kept(p95 <= most)}", by_sql))
    where = "PostgreSQL" if ground.server() else "SQLite"
    machine.table(f"Search on {where}: {pages} pages, {len(asked['one word'])} words", heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--peers", type=int, default=1, help="0: without the other engines")
    parser.add_argument("--house", type=Path, help="keep the pages here and use them again")
    parser.add_argument("--fill", type=int, default=0, help="write at most so many pages into it, and stop")
    options = parser.parse_known_args()[0]
    with folder() as work:
        var = options.house or work / "house"
        if not var.exists():
            house(var, [])
        os.environ |= environment(var)
        import django

        django.setup()
        measure(var, work, options)


def measure(var: Path, work: Path, options: argparse.Namespace) -> None:
    made = corpus()
    if not made.sentences:
        sys.exit("NOT RUN: no manual of Debian is on this machine (python3.11-doc, postgresql-doc-15)")
    began = time.perf_counter()
    written = fill(made, options.pages, options.fill or options.pages)
    print(f"{written} pages are there; writing and indexing took {time.perf_counter() - began:.0f} s")
    if options.fill:
        return
    pages = list(made.pages(written))
    for _, text in pages:
        made.count(text)
    asked = questions(made, written, options.words)
    found: dict[str, dict[str, list[float]]] = {}
    with web(var) as address:
        found["ours, through HTTP"] = timed(through_http(address), asked)
    found["ours, index only"] = timed(index_only(), asked)
    found["bare SQL, same tables"] = timed(bare_sql(var), asked)
    for name, ask in peers(pages, work) if options.peers else ():
        found[name] = timed(ask, {kind: texts for kind, texts in asked.items() if kind != "with facets"})
    report(asked, found, written)


def peers(pages: Sequence[tuple[str, str]], work: Path) -> Iterator[tuple[str, Ask]]:
    yield "bare FTS5", bare_fts5(pages, work)
    if importlib.util.find_spec("tantivy"):
        yield "tantivy", tantivy(pages)
    yield from postgres_peer.postgres(pages)


if __name__ == "__main__":
    main()
