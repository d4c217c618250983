"""A library and crawled results as rows: what a propagation starts from, without a crawl.

`World` writes what the crawler would have written: runs, excursions, ledger rows, versions, bodies, heads.
"""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from clearinghouse.database.aliases import TARGETS
from clearinghouse.database.digests import digest_of
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from clearinghouse.published.models import PublishedInterval, PublishedVersion
from clearinghouse.published.types import HTML
from crawler.extract import pack_links
from crawler.models import Excursion, LedgerEntry, PageBody, PageHead, PageVersion, Run
from crawler.propagation import services
from crawler.propagation.loading import load
from crawler.propagation.switching import switch
from crawler.values import Link
from crawlpoints.models import CrawlPoint, CrawlPointLink

ROOT = "https://quality.example.org/"
START = datetime(2026, 11, 12, 8, 0, tzinfo=UTC)
Ledger = dict[str, Any]


def key(path: str) -> bytes:
    return digest_of(ROOT + path)


def add_document(
    title: str = "Measures of hospital quality", *, project: str = "Measures", public: bool = True
) -> Document:
    document = library.add_document(title, project=project, public=public)
    add_root(document, ROOT)
    return document


def add_root(document: Document, root: str) -> CrawlPoint:
    point = CrawlPoint.objects.create(url=root, root=root, depth=9)
    CrawlPointLink.objects.create(document=document, crawl_point=point)
    return point


class World:
    """Writes runs. A page is a path and its text; a text that did not change is `unchanged`."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self, document: Document, pages: dict[str, str], *, state: str = "finished", **more: Any) -> Excursion:
        """`also` holds ledger rows beside the stored pages: path -> (outcome, reason, status)."""
        also: Ledger = more.get("also", {})
        links: dict[str, list[tuple[str, str]]] = more.get("links", {})
        self.runs += 1
        at = START + timedelta(days=self.runs)
        run = Run.objects.create(
            state=state, requested_by="tester", origin=more.get("origin", "command"), created_at=at, finished_at=at
        )
        excursion = Excursion.objects.create(
            run=run, doc_id=document.pk, title=document.title, state=state, unfinished=False, finished_at=at
        )
        for path, text in pages.items():
            self._page(excursion, path, text, links.get(path, []), at)
        for path, (outcome, reason, status) in also.items():
            LedgerEntry.objects.create(
                excursion=excursion, doc_id=document.pk, url_key=key(path), url=ROOT + path, outcome=outcome,
                reason=reason, status=status, at=at,
            )  # fmt: skip
        return excursion

    def _page(self, excursion: Excursion, path: str, text: str, links: list[tuple[str, str]], at: datetime) -> None:
        body = f"<html><title>{path}</title><p>{text}</p></html>".encode()
        digest = digest_of(body + repr(links).encode())
        newest = PageVersion.objects.filter(doc_id=excursion.doc_id, url_key=key(path)).order_by("-id").first()
        outcome = "unchanged" if newest is not None and newest.digest == digest else "crawled"
        if outcome == "crawled":
            newest = self._version(excursion, path, text, at)
            newest.digest = digest
            newest.links = pack_links([Link(ROOT + to, anchor) for to, anchor in links])
            newest.save()
            PageBody.objects.get_or_create(digest=digest, defaults={"content": body})
            PageHead.objects.update_or_create(
                doc_id=excursion.doc_id, url_key=key(path), defaults={"version_id": newest.pk}
            )
        LedgerEntry.objects.create(
            excursion=excursion, doc_id=excursion.doc_id, url_key=key(path), url=ROOT + path, outcome=outcome,
            status=200, version_id=newest.pk, at=at,
        )  # fmt: skip

    def _version(self, excursion: Excursion, path: str, text: str, at: datetime) -> PageVersion:
        metas = json.dumps([["description", f"about {path}"]])
        return PageVersion(
            run_id=excursion.run_id, doc_id=excursion.doc_id, url_key=key(path), url=ROOT + path, type_id=HTML,
            extension=".htm", title=f"Page {path}", metas=metas, headings="Heading",
            text=text, language="en", last_modified="Wed, 11 Nov 2026 10:00:00 GMT", size=len(text), found_at=at,
        )  # fmt: skip


def adopt(target: str, document: Document, ids: Any) -> None:
    """Pages of an adopted library, as generation 1."""
    alias = TARGETS[target]
    for number in ids:
        PublishedVersion.objects.using(alias).create(
            id=number, doc_id=document.pk, page_id=number, digest=digest_of(f"adopted {number}"),
            url_key=digest_of(f"{ROOT}adopted/{number}"), url=f"{ROOT}adopted/{number}", host="quality.example.org",
            type_id=HTML, title=f"Adopted {number}", text="adopted text", crawled_at=START, created_at=START,
            updated_by="adoption",
        )  # fmt: skip
        PublishedInterval.objects.using(alias).create(published_id=number, doc_id=document.pk, gen_from=1)
    switch.show(alias, 1)


def propagate(**options: Any) -> Any:
    row = services.ask(by="tester", **options)
    return services.carry_out(row.pk)


def shown(target: str = "primary", generation: int | None = None) -> dict[str, str]:
    """Path -> text of what a target shows."""
    alias = TARGETS[target]
    generation = load.live(alias) if generation is None else generation
    intervals = PublishedInterval.objects.using(alias).filter(gen_from__lte=generation, gen_to__gt=generation)
    ids = list(intervals.values_list("published_id", flat=True))
    rows = PublishedVersion.objects.using(alias).filter(id__in=ids).values_list("url", "text")
    assert len(ids) == len(rows)
    return {url.removeprefix(ROOT): text for url, text in rows}


def everything(target: str) -> list[tuple[Any, ...]]:
    """All that the views show of a target, as comparable rows."""
    alias = TARGETS[target]
    generation = load.live(alias)
    sql = (
        "SELECT v.* FROM published_version v JOIN published_interval i ON i.published_id = v.published_id "
        "WHERE i.gen_from <= %s AND i.gen_to > %s ORDER BY v.published_id"
    )
    rows = load.execute(alias, sql, [generation, generation])
    metas = load.execute(
        alias,
        "SELECT m.* FROM published_meta m JOIN published_interval i ON i.published_id = m.published_id "
        "WHERE i.gen_from <= %s AND i.gen_to > %s ORDER BY m.published_meta_id",
        [generation, generation],
    )
    return [tuple(map(bytes_of, row)) for row in [*rows, *metas]]


def digest(target: str) -> str:
    """Over all that the views of a target show, and the names of its documents."""
    alias, found = TARGETS[target], hashlib.sha256()
    tables = (  # the ids of adopted pages are not kept apart from ours in these tests: the address decides the order
        "SELECT * FROM doc_crawl_page ORDER BY doc_crawl_page_id, crawl_page_url",
        "SELECT * FROM crawl_page_meta ORDER BY crawl_page_meta_id",
        "SELECT d.doc_id, d.title, d.project FROM published_document d, live_generation g "
        "WHERE d.gen_from <= g.generation AND d.gen_to > g.generation ORDER BY d.doc_id",
    )
    for sql in tables:
        for row in load.execute(alias, sql):
            found.update(repr(tuple(map(bytes_of, row))).encode())
    return found.hexdigest()


def bytes_of(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value
