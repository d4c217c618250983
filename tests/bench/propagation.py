"""The first propagation: copying beside a plain copy between the same databases, indexing beside a plain FTS5 build.

python -m tests.bench.propagation [--pages 5000] [--rounds 3]

The pages are those of the generated site, read by the product and written as the results of a crawl. Ours are the
steps of a real `manage.py propagate`, as their rows tell; the peers are ATTACH and INSERT … SELECT into an empty
target, and one INSERT … SELECT into an FTS5 table with the same columns and tokenizer. Each round begins with fresh
files or databases. With `python -m tests.bench --postgres propagation` the peers are COPY, and INSERT … SELECT into a
table with a GIN index.
"""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from crawler.engine import process_limits
from tests.bench import ground, machine, plain_postgres, site
from tests.bench.crawl import PYTHON, environment, folder, manage, options_of

COPYING, INDEXING = 0.5, 0.8  # of the speed of the peer
TARGETS = ("development", "primary", "backup")
AT_ONCE = 250
BEGAN = datetime(2026, 11, 1, 2, tzinfo=UTC)
SECONDS = {
    "SQLite": "(julianday(finished_at) - julianday(started_at)) * 86400",
    "PostgreSQL": "extract(epoch FROM finished_at - started_at)::float",
}
STEPS = "SELECT name, target, {} FROM propagation_step WHERE name IN ('load', 'index', 'verify')"
# What a target needs of a page, as plain SQL can make it of what a crawl has stored.
COPY = (
    "INSERT INTO published_version (published_id, doc_id, doc_crawl_page_id, digest, url_key, crawl_page_url, host, "
    "crawl_page_type_id, page_ext, title_str, headings, metas, anchors, text, language, crawl_file, crawled_at, "
    "create_dt, update_nm) SELECT v.id * 16, v.doc_id, h.doc_crawl_page_id, v.digest, v.url_key, v.url, 'example.gov', "
    "v.type_id, v.extension, v.title, v.headings, v.metas, '', v.text, v.language, b.content, v.found_at, v.found_at, "
    "'copy' FROM source.page_version v JOIN source.page_body b ON b.digest = v.digest "
    "JOIN source.page_head h ON h.version_id = v.id",
    "INSERT INTO published_meta (published_meta_id, published_id, name_str, content_str) "
    "SELECT v.id * 4096 + m.key, v.id * 16, json_extract(m.value, '$[0]'), json_extract(m.value, '$[1]') "
    "FROM source.page_version v, json_each(v.metas) m",
    "INSERT INTO published_interval (published_id, doc_id, gen_from, gen_to) "
    "SELECT id * 16, doc_id, 1, 2147483647 FROM source.page_version",
)
NAMES = "title_str, headings, metas, anchors, text"
INDEX = (
    f"CREATE VIRTUAL TABLE plain_index USING fts5({NAMES}, content='published_version', "
    "content_rowid='published_id', tokenize='porter unicode61 remove_diacritics 2')",
    f"INSERT INTO plain_index(rowid, {NAMES}) SELECT published_id, {NAMES} FROM published_version",
)


# -- what a crawl has found -------------------------------------------------------------------------------------------


def fill(pages: int) -> None:
    """A document whose crawl has stored these pages; called in a process of its own, in a prepared house."""
    import django

    django.setup()
    from clearinghouse.library import services as library
    from crawler.models import Excursion, Run
    from crawlpoints.models import CrawlPoint, CrawlPointLink

    document = library.add_document("A generated site", project="Bench")
    root = "https://site.example.gov/"
    point = CrawlPoint.objects.create(url=root, root=root, depth=99)
    CrawlPointLink.objects.create(document=document, crawl_point=point)
    run = Run.objects.create(state="finished", requested_by="bench", created_at=BEGAN, finished_at=BEGAN)
    excursion = Excursion.objects.create(
        run=run, doc_id=document.pk, title=document.title, state="finished", unfinished=False, finished_at=BEGAN
    )
    rnd = random.Random(11)
    words = site.Words(rnd)
    for first in range(0, pages, AT_ONCE):
        numbers = range(first, min(pages, first + AT_ONCE))
        _store(excursion, [(f"{root}{site.path_of(n)}", site.page(n, pages, words, rnd).encode()) for n in numbers])


def _store(excursion: object, found: list[tuple[str, bytes]]) -> None:
    from clearinghouse.database.digests import digest_of
    from clearinghouse.published.types import HTML
    from crawler.extract import EXTRACTOR, pack_links
    from crawler.extract.html.html_page import read_html
    from crawler.models import Excursion, LedgerEntry, PageBody, PageHead, PageVersion
    from crawler.values import Extracted

    assert isinstance(excursion, Excursion)
    versions = []
    for url, body in found:
        page = read_html(body, url, "utf-8", Extracted(HTML, ".htm"))
        versions.append(PageVersion(
            run_id=excursion.run_id, doc_id=excursion.doc_id, url_key=digest_of(url), url=url, digest=digest_of(body),
            type_id=page.type_id, extension=".htm", title=page.title, metas=json.dumps(page.metas),
            headings=page.headings, text=page.text, language=page.language, links=pack_links(page.links),
            size=len(body), extractor=EXTRACTOR, found_at=BEGAN,
        ))  # fmt: skip
    PageVersion.objects.bulk_create(versions)
    doc_id = excursion.doc_id
    PageBody.objects.bulk_create(
        PageBody(digest=v.digest, content=body) for v, (_, body) in zip(versions, found, strict=True)
    )
    PageHead.objects.bulk_create(PageHead(doc_id=doc_id, url_key=v.url_key, version_id=v.pk) for v in versions)
    LedgerEntry.objects.bulk_create(
        LedgerEntry(excursion=excursion, doc_id=doc_id, url_key=v.url_key, url=v.url, outcome="crawled", status=200,
                    version_id=v.pk, at=BEGAN)
        for v in versions
    )  # fmt: skip


# -- a round ----------------------------------------------------------------------------------------------------------


def ours(var: Path) -> dict[tuple[str, str], float]:
    """Seconds of each step of each target."""
    manage(var, "propagate")
    rows = ground.rows(var, "webcrawl", STEPS.format(SECONDS[_server()]))
    return {(name, target): seconds for name, target, seconds in rows}


def _server() -> str:
    return "PostgreSQL" if ground.server() else "SQLite"


def plain(var: Path, empty: Path) -> tuple[float, float]:
    """Seconds of the copy into an empty target, and of the index over it; under the settings of the product."""
    target = var / "plain.sqlite3"
    shutil.copy(empty / "primary.sqlite3", target)
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.executescript(
            "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=2000; PRAGMA synchronous=FULL; "
            "PRAGMA cache_size=-32000; PRAGMA temp_store=MEMORY;"
        )
        connection.execute("ATTACH ? AS source", [str(var / "webcrawl.sqlite3")])
        return _timed(connection, COPY), _timed(connection, INDEX)


PEERS = {"SQLite": plain, "PostgreSQL": plain_postgres.plain}


def _timed(connection: sqlite3.Connection, statements: Sequence[str]) -> float:
    began = time.perf_counter()
    connection.execute("BEGIN")
    for statement in statements:
        connection.execute(statement)
    connection.execute("COMMIT")
    return time.perf_counter() - began


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments, __doc__ or "", pages=5000, rounds=3, fill=0)
    if options.fill:
        return fill(options.fill)
    process_limits.step_back()  # as a propagation does
    with folder() as work:
        template = work / "template"
        ground.found(template)
        manage(template, "prepare")
        command = [PYTHON, "-m", "tests.bench.propagation", "--fill", str(options.pages)]
        subprocess.run(command, env=environment(template), check=True, cwd=machine.BASE)
        rounds = [_round(work, template) for _ in range(options.rounds)]
    report(rounds, options.pages)
    return None


def _round(work: Path, template: Path) -> dict[tuple[str, str], float]:
    var = work / "round"
    ground.copy(template, var)
    found = ours(var)
    found[("load", "plain")], found[("index", "plain")] = PEERS[_server()](var, template)
    shutil.rmtree(var)
    return found


def report(rounds: list[dict[tuple[str, str], float]], pages: int) -> None:
    """The ratio of each round, and of these the median: what slows the machine down slows both."""
    rows: list[tuple[object, ...]] = []
    for step, name, budget in (("load", "copying", COPYING), ("index", "indexing", INDEXING)):
        peer = median(one[(step, "plain")] for one in rounds)
        rows.append((name, "plain", f"{peer:.2f}", f"{pages / peer:,.0f}", "", ""))
        for target in TARGETS:
            rows.append((name, target, *_figures(rounds, step, target, pages), ""))
        ratio = median(3 * one[(step, "plain")] / _all(one, step) for one in rounds)
        took = median(_all(one, step) for one in rounds)
        kept = f"≥ {budget:g} × {machine.kept(ratio >= budget)}"
        rows.append((name, "all three", f"{took:.2f}", f"{3 * pages / took:,.0f}", f"{ratio:.2f} ×", kept))
    took = median(sum(one[("verify", target)] for target in TARGETS) for one in rounds)
    rows.append(("verifying", "all three", f"{took:.2f}", f"{3 * pages / took:,.0f}", "", ""))
    title = f"First propagation on {_server()}: {pages} pages of about 25 KB, {len(rounds)} rounds, medians"
    machine.table(title, ("what", "where", "seconds", "pages/s", "of the peer's speed", "budget"), rows)


def _all(one: dict[tuple[str, str], float], step: str) -> float:
    return sum(one[(step, target)] for target in TARGETS)


def _figures(rounds: list[dict[tuple[str, str], float]], step: str, target: str, pages: int) -> tuple[str, str, str]:
    took = median(one[(step, target)] for one in rounds)
    ratio = median(one[(step, "plain")] / one[(step, target)] for one in rounds)
    return f"{took:.2f}", f"{pages / took:,.0f}", f"{ratio:.2f} ×"


if __name__ == "__main__":
    main(sys.argv[1:])
