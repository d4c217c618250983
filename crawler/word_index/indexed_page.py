"""Owns: one page of a generation: address <-> id, its words with frequency and positions, its meta tags.

Does not: know links (links) or runs. Called by: the commands, the screens, the tests.
"""

from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from clearinghouse.addresses.address import Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.database.digests import digest_of
from clearinghouse.published.models import PublishedDocument, PublishedInterval, PublishedMeta, PublishedVersion

from .words_in_text import positions


class WordOnPage(NamedTuple):
    word: str
    frequency: int
    positions: list[int]


@dataclass(frozen=True, slots=True)
class Meta:
    name: str
    content: str


def shown(alias: str, generation: int) -> QuerySet[PublishedVersion]:
    """The pages of a generation, without their bytes and texts until these are asked for."""
    intervals = PublishedInterval.objects.using(alias).filter(
        published_id=OuterRef("pk"), gen_from__lte=generation, gen_to__gt=generation
    )
    rows = PublishedVersion.objects.using(alias).filter(Exists(intervals))
    return rows.defer("body", "text", "headings", "metas", "anchors")


def by_id(alias: str, generation: int, page_id: int) -> PublishedVersion | None:
    return shown(alias, generation).filter(page_id=page_id).order_by("pk").first()


def document_of(alias: str, generation: int, page: PublishedVersion) -> str:
    """The title of its document, as this generation shows it."""
    rows = PublishedDocument.objects.using(alias).filter(doc_id=page.doc_id)
    titles = rows.filter(gen_from__lte=generation, gen_to__gt=generation).values_list("title", flat=True)
    return titles.first() or f"Document {page.doc_id}"


def by_url(alias: str, generation: int, url: str) -> list[PublishedVersion]:
    """The pages under an address: one for each document that has it."""
    address = parse(url)
    keys = {digest_of(url)} | (set() if isinstance(address, Refusal) else {digest_of(address.href)})
    documents = PublishedDocument.objects.using(alias).filter(gen_from__lte=generation, gen_to__gt=generation)
    rows = shown(alias, generation).filter(doc_id__in=documents.values("doc_id"), url_key__in=keys)
    return list(rows.order_by("doc_id", "pk"))


def words_on(page: PublishedVersion) -> list[WordOnPage]:
    """The words of a page, the most frequent first."""
    found = [WordOnPage(word, len(places), places) for word, places in positions(page.text).items()]
    return sorted(found, key=lambda one: (-one.frequency, one.word))


def metas_of(alias: str, page: PublishedVersion) -> list[Meta]:
    rows = PublishedMeta.objects.using(alias).filter(published_id=page.pk).order_by("pk")
    return [Meta(*row) for row in rows.values_list("name", "content")]
