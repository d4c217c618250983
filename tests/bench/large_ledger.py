"""A run of thousands of documents and a million ledger rows, written straight into the databases of a house.

python -m tests.bench.large_ledger [--documents 5000] [--rows 200] [--house FOLDER] [--only TEXT]

Fills a house of its own, then asks every tab of the largest run for its answer and its queries, as an administrator.
"""

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# Of each 100 addresses: outcome, reason, status, how many.
MIX = (
    ("crawled", "", 200, 15),
    ("unchanged", "", 304, 8),
    ("redirected", "", 301, 1),
    ("failed", "http_4xx", 404, 2),
    ("failed", "timeout", 0, 1),
    ("skipped", "outside_root", 0, 48),
    ("skipped", "excluded", 0, 7),
    ("skipped", "too_deep", 0, 15),
    ("skipped", "robots_disallowed", 0, 2),
    ("skipped", "page_limit", 0, 1),
)
TAKEN = {"robots_disallowed", "page_limit"}
AT_ONCE = 20_000
BUDGET = 200  # milliseconds of an answer
BEGAN = datetime(2026, 11, 1, 2, tzinfo=UTC)
LEDGER = (
    "INSERT INTO ledger (id, excursion_id, doc_id, url_key, url, outcome, reason, detail, status, depth, hop, "
    "crawl_point_id, found_on, redirect_url, version_id, previous_version_id, backlinks, size, milliseconds, at) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 0, %s, %s, '', %s, %s, 0, %s, %s, %s)"
)
VERSION = (
    "INSERT INTO page_version (id, run_id, doc_id, url_key, url, digest, type_id, extension, title, metas, headings, "
    "text, language, links, canonical, content_type, charset, etag, last_modified, size, flags, extractor, found_at) "
    "VALUES (%s, %s, %s, %s, %s, %s, 1, '', %s, '[]', '', 'Text', '', %s, '', 'text/html', 'utf-8', '', '', 23000, "
    "'', 1, %s)"
)


def fill(documents: int, rows: int) -> int:
    """Two ended runs over as many documents; the key of the second, which has `rows` addresses of each."""
    from crawler.findings.diagnosis import diagnose_due
    from crawler.models import Run, State

    doc_ids = list(_documents(documents))
    runs = []
    for number, count in enumerate((max(rows // 4, 20), rows)):
        began = BEGAN + timedelta(days=7 * number)
        run = Run.objects.create(
            state=State.FINISHED_AT_LIMIT, speed="polite", requested_by="administrator", created_at=began,
            started_at=began, finished_at=began + timedelta(hours=5), initialized=True,
        )  # fmt: skip
        _run(run, doc_ids, count)
        runs.append(run)
    while diagnose_due():
        pass
    return runs[-1].pk


def _documents(count: int) -> Iterator[int]:
    """Documents with two crawl points each."""
    from clearinghouse.library import services
    from clearinghouse.library.models import Document, Sheet
    from crawlpoints.models import CrawlPoint, CrawlPointLink

    project = services.project_named("Large")
    made = Document.objects.bulk_create([Document() for _ in range(count)], batch_size=500)
    Sheet.objects.bulk_create(
        [Sheet(document=one, title=f"Document {one.pk} of a large house", project=project) for one in made],
        batch_size=500,
    )
    points = [
        CrawlPoint(url=f"{root_of(one.pk)}{name}", root=root_of(one.pk), depth=3, max_pages=500, active=active)
        for one in made
        for name, active in (("", 1), ("archive/", 0))
    ]
    for point in points:
        if hasattr(point, "url_key"):
            point.url_key = sha256(point.url.encode()).digest()
    points = CrawlPoint.objects.bulk_create(points, batch_size=500)
    links = [CrawlPointLink(document=made[k // 2], crawl_point=point) for k, point in enumerate(points)]
    CrawlPointLink.objects.bulk_create(links, batch_size=500)
    for one in made:
        yield one.pk


def root_of(doc_id: int) -> str:
    """Twenty documents share a site."""
    return f"https://site{doc_id // 20}.example.gov/d{doc_id}/"


def _run(run: Any, doc_ids: Sequence[int], count: int) -> None:
    from django.db import connections, transaction

    from clearinghouse.database.aliases import WEBCRAWL
    from crawler.models import Event, Excursion, LedgerEntry, PageVersion

    entry = (LedgerEntry.objects.order_by("-id").values_list("id", flat=True).first() or 0) + 1
    version = (PageVersion.objects.order_by("-id").values_list("id", flat=True).first() or 0) + 1
    excursions = [_excursion(run, doc_id, count) for doc_id in doc_ids]
    Excursion.objects.bulk_create(excursions, batch_size=500)
    at = run.started_at
    told = ((one.doc_id, f"{one.title}: finished") for one in excursions)
    Event.objects.bulk_create(
        [Event(run=run, doc_id=doc_id, at=at, kind="excursion", text=text) for doc_id, text in told], batch_size=1000
    )
    before = _before(run)
    ledger: list[tuple[Any, ...]] = []
    versions: list[tuple[Any, ...]] = []
    with transaction.atomic(using=WEBCRAWL), connections[WEBCRAWL].cursor() as cursor:
        for one in excursions:
            for row, page in _rows(run, one, count, entry, version, before):
                ledger.append(row)
                versions += [page] if page else []
                entry, version = entry + 1, version + bool(page)
            if len(ledger) > AT_ONCE:
                cursor.executemany(LEDGER, ledger)
                cursor.executemany(VERSION, versions)
                ledger, versions = [], []
        cursor.executemany(LEDGER, ledger)
        cursor.executemany(VERSION, versions)


def _before(run: Any) -> dict[tuple[int, bytes], int]:
    from crawler.models import PageVersion

    rows = PageVersion.objects.exclude(run_id=run.pk).values_list("doc_id", "url_key", "id")
    return {(doc_id, bytes(key)): pk for doc_id, key, pk in rows.iterator(20_000)}


def _share(count: int) -> list[tuple[str, str, int, int]]:
    shares = [(outcome, reason, status, max(count * part // 100, 1)) for outcome, reason, status, part in MIX]
    first = shares[0]
    return [(*first[:3], count - sum(share[3] for share in shares[1:])), *shares[1:]]


def _excursion(run: Any, doc_id: int, count: int) -> Any:
    from crawler.models import Excursion, State

    outcomes: Counter[str] = Counter()
    tallies: dict[str, Any] = {"reason": Counter(), "depth": {}, "status": Counter(), "type": Counter()}
    number = 0
    for outcome, reason, status, part in _share(count):
        outcomes[outcome] += part
        if reason:
            tallies["reason"][reason] += part
        if status:
            tallies["status"][str(status)] += part
        for _ in range(part):
            if outcome != "skipped" or reason in TAKEN:
                done = tallies["depth"].setdefault(str(_depth(number)), [0, 0])
                done[0] += 1
            number += 1
    tallies["type"]["1"] = outcomes["crawled"] + outcomes["unchanged"]
    point = {"id": doc_id, "url": root_of(doc_id), "root": root_of(doc_id), "depth": 3, "max_pages": 500}
    return Excursion(
        run=run, doc_id=doc_id, title=f"Document {doc_id} of a large house", project="Large",
        state=State.FINISHED_AT_LIMIT, unfinished=False, opened=True, found=count, bytes=23_000 * outcomes["crawled"],
        snapshot={"doc_id": doc_id, "points": [point], "excludes": [f"{root_of(doc_id)}print/*"]},
        tallies=tallies, started_at=run.started_at, finished_at=run.finished_at, **outcomes,
    )  # fmt: skip


def _depth(number: int) -> int:
    return min(number, 1 + number % 3)


def _rows(
    run: Any, one: Any, count: int, entry: int, version: int, before: dict[tuple[int, bytes], int]
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...] | None]]:
    root, start, number = root_of(one.doc_id), sha256(root_of(one.doc_id).encode()).digest(), 0
    at = run.started_at.replace(tzinfo=None)
    for outcome, reason, status, part in _share(count):
        for place in range(part):
            url = _address(root, outcome, reason, place) if number else root
            key, depth = sha256(url.encode()).digest(), _depth(number)
            old = before.get((one.doc_id, key))
            page, named = None, None
            if outcome == "crawled" or (outcome == "unchanged" and old is None):
                digest = sha256(f"{run.pk} {url}".encode()).digest()
                page = (version, run.pk, one.doc_id, key, url, digest, f"Page {number}", b"", at)
                named, version = version, version + 1
            elif outcome == "unchanged":
                named = old
            yield (entry, one.pk, one.doc_id, key, url, outcome, reason, root if reason == "outside_root" else "",
                   status, depth, one.doc_id, start if number else None, named, old, 23_000 if named else 0,
                   (number * 37) % 900 + 20 if status else 0, at), page  # fmt: skip
            entry, number = entry + 1, number + 1


def _address(root: str, outcome: str, reason: str, place: int) -> str:
    if reason == "outside_root":
        return f"https://other{place % 7}.example.org/{root.split('/')[3]}/{place}.html"
    if reason == "excluded":
        return f"{root}print/{place}.html"
    return f"{root}{reason or outcome}/{place // 20}/{place}.html"


# -- asking ---------------------------------------------------------------------------------------------------------


def addresses(run_id: int, doc_id: int) -> list[str]:
    """Every tab, each reason, each sort word, the last page."""
    from crawler.ledger.queries import SORTS

    reasons = sorted({reason for _, reason, _, _ in MIX if reason})
    site, last = "https://site9.example.gov/", "page=999999"
    tabs = [
        "", "?page=100", "?sort=-pages", "live?since=x", "findings/",
        "pages/", f"pages/?{last}", "pages/?fresh=new", "pages/?fresh=changed", "pages/?outcome=unchanged",
        f"pages/?doc={doc_id}", *(f"pages/?sort={name}" for name in ("url", "depth", "status")),
        "urls/", f"urls/?{last}", "urls/?outcome=skipped", f"urls/?outcome=skipped&{last}",
        *(f"urls/?reason={reason}" for reason in reasons), *(f"urls/?reason={reason}&{last}" for reason in reasons),
        *(f"urls/?sort={sign}{name}" for name in SORTS for sign in ("", "-")),
        "urls/?taken=1&depth=1", f"urls/?taken=1&depth=2&{last}", "urls/?status=2", "urls/?status=4",
        "urls/?q=nowhere", f"urls/?doc={doc_id}", f"urls/?site={site}",
        f"urls/?site={site}&outcome=crawled&outcome=unchanged",
        "hosts/", "hosts/?page=3", "hosts/?sort=median", f"hosts/?doc={doc_id}", "tree/", f"tree/?open={site}",
        f"tree/?folder={site}d{doc_id}/", "errors/", "errors/?list=all", f"errors/?list=all&{last}",
        "errors/?reason=timeout", "changes/", "changes/?page=100", f"changes/?doc={doc_id}", "log/", f"log/?{last}",
        "log/?q=4711", "settings/", "settings/?compare=1",
    ]  # fmt: skip
    return ["/", "/crawls/?tab=finished", "/crawls/launch/", *(f"/crawls/{run_id}/{tab}" for tab in tabs)]


def ask(run_id: int, doc_id: int, only: str = "") -> Iterator[tuple[str, float, int, str]]:
    """Address, milliseconds of the processor for the second of two answers, queries, and the slowest of them."""
    from django.contrib.auth import get_user_model
    from django.db import connections
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    browser = Client(HTTP_HOST="127.0.0.1")
    browser.force_login(get_user_model().objects.get(username="administrator"))
    for address in addresses(run_id, doc_id):
        if only and only not in address:
            continue
        first = time.process_time()
        browser.get(address)
        began = time.process_time()
        answer = browser.get(address)
        took = (time.process_time() - began) * 1000
        with CaptureQueriesContext(connections["webcrawl"]) as crawl:
            browser.get(address)
        slowest = max(crawl.captured_queries, key=lambda one: float(one["time"]), default={"time": "0", "sql": ""})
        note = f"{answer.status_code} first {1000 * (began - first):.0f} ms; slowest {slowest['time']} {slowest['sql']}"
        yield address, took, len(crawl), note


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--house", type=Path, help="a folder that is kept; filled when it is empty")
    parser.add_argument("--only", default="", help="addresses that contain this")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as empty:
        _measure(options, options.house or Path(empty))


def _measure(options: Namespace, house: Path) -> None:
    house.mkdir(parents=True, exist_ok=True)
    os.environ |= {"CLEARINGHOUSE_VAR": str(house), "DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    import django

    django.setup()
    from django.core.management import call_command

    known = house / "large.json"
    if not known.exists():
        call_command("prepare", verbosity=0)
        call_command("load_demo", verbosity=0)
        began = time.perf_counter()
        run_id = fill(options.documents, options.rows)
        known.write_text(json.dumps({"run": run_id, "seconds": time.perf_counter() - began}))
    from crawler.models import Excursion

    run_id = json.loads(known.read_text())["run"]
    doc_id = Excursion.objects.filter(run=run_id).order_by("id").values_list("doc_id", flat=True)[180]
    for address, took, queries, note in ask(run_id, doc_id, options.only):
        print(
            f"{took:8.0f} ms {queries:3} queries  {address}\n      {note[:300] if took > BUDGET else note[:20]}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
