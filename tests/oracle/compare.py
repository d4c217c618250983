"""One world crawled and worked out by the reference; every difference as a sentence."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from crawler.ledger.ledger_check import faults
from crawler.models import Excursion, LedgerEntry, Run
from crawler.values import Snapshot

from . import crawling
from .reference import Expected, Reference, Web, without_ids
from .site import LOG, Served, open_socket, served
from .world import World, make_world

UNFETCHED = {"robots_disallowed", "page_limit"}


@dataclass
class Result:
    world: World
    killed: int = 0
    redirects: bool = False
    urls: int = 0
    differences: list[str] = field(default_factory=list)


def examine(seed: int) -> Result:
    listening = open_socket()
    with listening:
        world = make_world(seed, f"http://127.0.0.1:{listening.getsockname()[1]}")
        with served(world, listening) as site:
            return examine_world(world, site)


def examine_world(world: World, site: Served) -> Result:
    result = Result(world, redirects=any(node.location for node in world.nodes.values()))
    world.documents = documents = crawling.store(world.documents)
    web = Web()
    expected = {document.doc_id: Reference(document, web).expected() for document in documents}
    try:
        run, result.killed = crawling.crawl(documents, world.instances, world.kills)
        for document in documents:
            found = list(_of_document(run, document, expected[document.doc_id]))
            result.differences += [f"document {document.doc_id}: {sentence}" for sentence in found]
        result.differences += [f"requests: {sentence}" for sentence in _requests(run, site)]
        result.differences += faults(run)
        if world.twice:
            result.differences += [f"second run: {sentence}" for sentence in _second(documents, expected, world)]
    except crawling.Broken as error:
        result.differences.append(str(error))
    result.urls = sum(len(one.verdicts) for one in expected.values())
    return result


def _second(documents: list[Snapshot], expected: dict[int, Expected], world: World) -> Iterator[str]:
    """Nothing changed on the site: the same ledger, with unchanged for crawled."""
    run, _ = crawling.crawl(documents, world.instances, [])
    for document in documents:
        one = expected[document.doc_id]
        verdicts = {url: "unchanged" if verdict == "crawled" else verdict for url, verdict in one.verdicts.items()}
        yield from _of_document(run, document, Expected(one.ways, verdicts, one.counted))
    yield from faults(run)


def _of_document(run: Run, document: Snapshot, expected: Expected) -> Iterator[str]:
    excursion = Excursion.objects.get(run=run, doc_id=document.doc_id)
    rows = {row.url: row for row in LedgerEntry.objects.filter(excursion=excursion)}
    if any(point.max_pages for point in document.points):
        yield from _limited(excursion, document, rows, expected)
        return
    if excursion.state != "finished":
        yield f"it ended {excursion.state}"
    for url in sorted(expected.verdicts.keys() | rows.keys()):
        row = rows.get(url)
        verdict = (row.reason or row.outcome) if row else "no row"
        if verdict != expected.verdicts.get(url, "no row"):
            yield f"{url} is {verdict}, the reference says {expected.verdicts.get(url, 'no row')}"
        elif row and url in expected.ways and (row.depth, row.hop) != expected.nearest(url):
            yield f"{url} has depth, hop {(row.depth, row.hop)}, the reference says {expected.nearest(url)}"


def _limited(
    excursion: Excursion, document: Snapshot, rows: dict[str, LedgerEntry], expected: Expected
) -> Iterator[str]:
    """With a maximum the set is not fixed: its size is, and every page of it is one of the closure."""
    fetched = {url for url, row in rows.items() if (row.status or row.version_id) and row.reason not in UNFETCHED}
    for url in sorted(fetched - expected.ways.keys()):
        yield f"{url} was accessed, no crawl point reaches it"
    cut = [url for url, row in rows.items() if row.reason == "page_limit"]
    if (excursion.state == "finished_at_limit") != bool(cut):
        yield f"it ended {excursion.state} with {len(cut)} URLs behind the maximum"
    for point in document.points:
        whole = expected.counted[point.id]
        used = excursion.tallies["point"].get(str(point.id), {}).get("used", 0)
        if not point.max_pages and not whole <= fetched:
            yield f"crawl point {point.id} has no maximum and lacks {sorted(whole - fetched)}"
        if point.max_pages and used != min(point.max_pages, len(whole)):
            yield f"crawl point {point.id} counted {used} pages of maximum {point.max_pages}, it reaches {len(whole)}"
    if len(document.points) == 1 and document.points[0].max_pages:
        point = document.points[0]
        most = min(point.max_pages, len(expected.counted[point.id]))
        attempted = len(fetched & expected.counted[point.id])
        if attempted != most:
            yield f"{attempted} pages were accessed, the maximum allows {most}"


def _requests(run: Run, site: Served) -> Iterator[str]:
    """What the site was asked for is what the ledger says was accessed."""
    seen = {url for url in site.requested() if not url.endswith(("/robots.txt", LOG))}
    rows = LedgerEntry.objects.filter(excursion__run=run, status__gt=0).exclude(reason__in=UNFETCHED)
    told = set(rows.values_list("url", flat=True))
    for url in sorted(seen ^ told):
        if url in seen and without_ids(url) in told:
            continue  # a page that its site redirected to itself
        yield f"{url} was {'asked for, the ledger is silent' if url in seen else 'never asked for'}"
