"""Owns: which published pages the addresses of best bets are. Does not: decide which bets count (rules).

An answer holds for a whole generation of a target, so it is kept; the oldest answers go first. Called by: the
public search.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.database.digests import digest_of
from clearinghouse.published.models import PublishedDocument, PublishedInterval, PublishedVersion

MOST_KEPT = 2000

Key = tuple[str, int, str, str]  # target, generation, address, project
_kept: OrderedDict[Key, int | None] = OrderedDict()
_lock = Lock()


def pages_of(alias: str, generation: int, bets: Sequence[tuple[str, str]]) -> list[int]:
    """The ids of these addresses (each with the project it must belong to), in order; unknown ones are left out."""
    found = [_page(alias, generation, url, project) for url, project in bets]
    return list(dict.fromkeys(page for page in found if page is not None))


def forget() -> None:
    """Another library stands behind the targets: for tests."""
    with _lock:
        _kept.clear()


def _page(alias: str, generation: int, url: str, project: str) -> int | None:
    key = (alias, generation, url, project)
    with _lock:
        if key in _kept:
            return _kept[key]
    page = _look(alias, generation, url, project)
    with _lock:
        _kept[key] = page
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return page


def _look(alias: str, generation: int, url: str, project: str) -> int | None:
    read = parse(url)
    keys = {digest_of(url)} | (set() if isinstance(read, Refusal) else {digest_of(read.href)})
    documents = PublishedDocument.objects.using(alias).filter(gen_from__lte=generation, gen_to__gt=generation)
    documents = documents.filter(project=project) if project else documents
    versions = PublishedVersion.objects.using(alias).filter(url_key__in=keys, doc_id__in=documents.values("doc_id"))
    live = PublishedInterval.objects.using(alias).filter(
        published_id__in=versions.values("id"), gen_from__lte=generation, gen_to__gt=generation
    )
    return live.order_by("published_id").values_list("published_id", flat=True).first()
