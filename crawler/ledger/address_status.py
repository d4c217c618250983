"""Owns: where an address stands on its way into the public search: crawl points, ledger, targets. Does not: word it.

Called by: the screen Why is this page not in search?
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import DatabaseError
from django.db.models import Q

from clearinghouse.addresses.address import Address, Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.addresses.roots import begins_with
from clearinghouse.database.aliases import TARGETS
from clearinghouse.database.digests import digest_of
from clearinghouse.library.models import Document
from clearinghouse.published.models import OPEN, PublishedDocument, PublishedInterval, PublishedVersion
from clearinghouse.search import public_target
from clearinghouse.search.backends import UnknownServer, backend
from clearinghouse.search.query import parse as read_query
from clearinghouse.search.words import words_of
from crawlpoints.models import CrawlPointLink

from ..models import Excursion, LedgerEntry, PageVersion
from ..policy.judge import CrawlRules
from ..runs.latest_crawls import COMPLETE
from ..runs.run_counts import Docs
from ..values import Snapshot

MOST_DOCUMENTS = 5
MOST_ALIKE = 100


@dataclass(frozen=True, slots=True)
class NewestCrawl:
    """The newest crawl of a document, and what it decided on the address."""

    excursion: Excursion
    entry: LedgerEntry | None
    flags: tuple[str, ...] = ()
    left_out: Excursion | None = None  # a newer one that counts nowhere


@dataclass(frozen=True, slots=True)
class OnTarget:
    name: str
    answers: bool = True
    generation: int = 0  # that it shows
    published_id: int | None = None  # the page, as that generation shows it
    left_in: int | None = None  # the generation in which it was taken away
    found: bool = True  # whether a search for a word of it finds it


@dataclass(frozen=True, slots=True)
class Whereabouts:
    targets: dict[str, OnTarget] = field(default_factory=dict)
    crawl: NewestCrawl | None = None


def documents_around(url: Address, docs: Docs) -> list[Document]:
    """Those with a crawl point whose root this address begins with; if there are none, with one on its site."""
    links = CrawlPointLink.objects.select_related("crawl_point").exclude(crawl_point__deleted=1)
    inside, beside = set(), set()
    for link in links:
        if link.crawl_point is None or link.document_id is None or (docs is not None and link.document_id not in docs):
            continue
        if begins_with(url.href, link.crawl_point.root):
            inside.add(link.document_id)
        start = parse(link.crawl_point.url)
        if not isinstance(start, Refusal) and start.host == url.host:
            beside.add(link.document_id)
    wanted = Document.objects.select_related("sheet__project").filter(pk__in=inside or beside)
    return list(wanted.order_by("pk")[:MOST_DOCUMENTS])


def whereabouts(document: Document, snapshot: Snapshot, url: str) -> Whereabouts:
    key = digest_of(CrawlRules(snapshot).verdicts(url).url)
    targets = {name: _on_target(name, alias, document.pk, key) for name, alias in TARGETS.items()}
    return Whereabouts(targets, _crawl(document.pk, key))


def _crawl(doc_id: int, key: bytes) -> NewestCrawl | None:
    crawls = Excursion.objects.exclude(run__origin="preview").filter(doc_id=doc_id).defer("snapshot").order_by("-id")
    complete = Q(state__in=COMPLETE, part="", left_out_at=None)
    # One that goes on tells what will be; one that was stopped or cancelled tells nothing, unless there is no other.
    newest = crawls.filter(complete | Q(unfinished=True)).first() or crawls.first()
    if newest is None:
        return None
    entry = LedgerEntry.objects.filter(excursion=newest, url_key=key).first()
    version = entry.version_id if entry else None
    flags = PageVersion.objects.filter(pk=version).values_list("flags", flat=True).first() if version else ""
    left_out = crawls.filter(id__gt=newest.pk).exclude(left_out_at=None).first()
    return NewestCrawl(newest, entry, tuple((flags or "").split()), left_out)


def _on_target(name: str, alias: str, doc_id: int, key: bytes) -> OnTarget:
    try:
        generation = public_target.live_generation(alias)
        ids = PublishedVersion.objects.using(alias).filter(doc_id=doc_id, url_key=key).values_list("id", flat=True)
        rows = PublishedInterval.objects.using(alias).filter(published_id__in=list(ids))
        intervals = list(rows.values_list("published_id", "gen_from", "gen_to"))
        shown = next((page for page, start, end in intervals if start <= generation < end), None)
        found = shown is None or _is_found(alias, generation, shown)
    except (DatabaseError, UnknownServer):
        return OnTarget(name, answers=False)
    return OnTarget(name, True, generation, shown, _left_in(generation, (end for _, _, end in intervals)), found)


def alike(one: OnTarget) -> list[tuple[str, str]]:
    """Address and document of the other pages that results fold together with this one."""
    if one.published_id is None:
        return []
    alias = TARGETS[one.name]
    ids = backend(alias).alike(one.generation, one.published_id)[:MOST_ALIKE]
    titles = PublishedDocument.objects.using(alias).filter(gen_from__lte=one.generation, gen_to__gt=one.generation)
    names = dict(titles.values_list("doc_id", "title"))
    pages = PublishedVersion.objects.using(alias).filter(pk__in=ids).order_by("pk").values_list("url", "doc_id")
    return [(url, names.get(doc_id, f"Document {doc_id}")) for url, doc_id in pages]


def _left_in(generation: int, ends: Iterable[int]) -> int | None:
    return max((end for end in ends if end <= generation < OPEN), default=None)


def _is_found(alias: str, generation: int, published_id: int) -> bool:
    """By a search for the first word of its title or text; a page without any cannot be looked for."""
    row = PublishedVersion.objects.using(alias).only("title", "text").get(pk=published_id)
    words = words_of(row.title) or words_of(row.text[:200])
    return not words or backend(alias).finds(read_query(words[0]), generation, published_id)
