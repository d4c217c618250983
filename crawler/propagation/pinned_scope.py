"""Owns: the pin of a propagation: which documents, under which settings, up to which excursions.

Taken once and kept in the step `plan`: all targets get the same generation although crawls go on and people edit.
Does not: read pages. Called by: services, collect.
"""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from django.db.models import QuerySet

from clearinghouse.library.models import Document
from crawler.models import Excursion, PropagationStep, State
from crawlpoints.models import CrawlPointLink, ExcludeUrl

from ..engine.strands import WEB
from . import plan

COUNT = (State.FINISHED, State.FINISHED_AT_LIMIT)
COUNT_WHEN_ASKED = (*COUNT, State.STOPPED)
_FEW = 500  # documents that are asked for by their numbers


@dataclass(frozen=True, slots=True)
class PointRoot:
    """What decides whether a stored page still belongs to a crawl point."""

    root: str
    merge_schemes: bool = False


class PinnedExcursion(NamedTuple):
    """A crawl whose results count: 1 is what it stored."""

    number: int
    state: str
    result: int = 1
    strand: str = WEB


Pinned = tuple[PinnedExcursion, ...]  # newest first


@dataclass(frozen=True, slots=True)
class DocumentScope:
    """One document as this propagation sees it. Without excursions it was never crawled by us: it stays as it is."""

    doc_id: int
    title: str
    project: str
    public: bool
    development: Pinned  # what content development shows
    production: Pinned  # what primary and backup show
    roots: tuple[PointRoot, ...]
    excludes: tuple[str, ...]
    deleted: bool = False  # not in the library any more: nothing of it should be shown; never pinned

    def on(self, target: str) -> Pinned:
        return self.development if target == plan.DEVELOPMENT else self.production

    @property
    def excursions(self) -> Pinned:
        """Those of all targets."""
        return tuple(dict.fromkeys(self.development + self.production))

    def as_text(self, target: str) -> str:
        """All that decides what the target shows."""
        pinned = [tuple(one) for one in self.on(target)]
        return repr((self.doc_id, self.title, self.project, self.public, pinned, self.roots, self.excludes))


@dataclass(frozen=True, slots=True)
class PinnedScope:
    documents: tuple[DocumentScope, ...]

    def to_json(self) -> dict[str, Any]:
        return {"documents": [_stored(document) for document in self.documents]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "PinnedScope":
        return cls(tuple(_document(row) for row in data["documents"]))


def _stored(document: DocumentScope) -> dict[str, Any]:
    """By strand; what the production targets show only where it differs."""
    strands: dict[str, Any] = {}
    for strand in sorted({one.strand for one in document.excursions}):
        lists = {"development": document.development, "production": document.production}
        mine = {name: [one[:3] for one in pinned if one.strand == strand] for name, pinned in lists.items()}
        if mine["production"] == mine["development"]:
            del mine["production"]
        strands[strand] = mine
    return {
        "doc_id": document.doc_id,
        "title": document.title,
        "project": document.project,
        "public": document.public,
        "strands": strands,
        "roots": [asdict(root) for root in document.roots],
        "excludes": document.excludes,
    }


def _document(row: dict[str, Any]) -> DocumentScope:
    strands = _strands(row)
    development = _newest_first({strand: mine["development"] for strand, mine in strands.items()})
    differs = any("production" in mine for mine in strands.values())
    shown = {strand: mine.get("production", mine["development"]) for strand, mine in strands.items()}
    return DocumentScope(
        doc_id=row["doc_id"],
        title=row["title"],
        project=row["project"],
        public=row["public"],
        development=development,
        production=_newest_first(shown) if differs else development,
        roots=tuple(PointRoot(**root) for root in row["roots"]),
        excludes=tuple(row["excludes"]),
    )


def _strands(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Plans of 0.2 have one list, of the only strand there was."""
    return row["strands"] if "strands" in row else {WEB: {"development": row["excursions"]}}


def _newest_first(lists: dict[str, Any]) -> Pinned:
    found = [PinnedExcursion(*one, strand=strand) for strand, pinned in lists.items() for one in pinned]
    return tuple(found if len(lists) == 1 else sorted(found, reverse=True))


def pinned_excursions(scope: dict[str, Any]) -> frozenset[int]:
    """The numbers of those a stored scope is made of."""
    lists = (
        pinned for row in scope.get("documents", ()) for mine in _strands(row).values() for pinned in mine.values()
    )
    return frozenset(number for pinned in lists for number, *_ in pinned)


def pin(
    *, include_stopped: bool = False, runs: Iterable[int] | None = None, doc_ids: Collection[int] | None = None
) -> PinnedScope:
    """Everything a generation depends on, as of now; of all documents, or of these.

    What the last propagation took stays taken; of the runs since, those that count, or those that were chosen.
    """
    some = None if doc_ids is None or len(doc_ids) > _FEW else doc_ids
    found = _excursions(include_stopped, None if runs is None else set(runs), some)
    excursions = {doc_id: tuple(mine) for doc_id, mine in found.items()}
    roots = _roots(some)
    excludes = _excludes(some)
    columns = ("pk", "sheet__title", "sheet__public", "sheet__project__name")  # rows of models take four times as long
    documents = _of(Document.objects.order_by("id"), some, "pk").values_list(*columns)
    return PinnedScope(
        tuple(
            DocumentScope(
                doc_id=doc_id,
                title=f"Document {doc_id}" if title is None else title,
                project=project or "",
                public=public is None or bool(public),  # public, unless its cover sheet says otherwise
                development=excursions.get(doc_id, ()),
                production=excursions.get(doc_id, ()),
                roots=tuple(sorted(roots.get(doc_id, ()), key=lambda root: (root.root, root.merge_schemes))),
                excludes=tuple(sorted(excludes.get(doc_id, ()))),
            )
            for doc_id, title, public, project in documents
            if doc_ids is None or doc_id in doc_ids
        )
    )


def _of(rows: QuerySet[Any], doc_ids: Collection[int] | None, name: str) -> QuerySet[Any]:
    return rows if doc_ids is None else rows.filter(**{f"{name}__in": list(doc_ids)})


def taken() -> set[int]:
    """The excursions the last propagation that was completed was made of."""
    global _last_taken
    steps = PropagationStep.objects.filter(name=plan.PLAN, propagation__state="done").order_by("-propagation_id")
    last = steps.values_list("pk", "propagation_id", "finished_at").first()
    if last is None:
        return set()
    if _last_taken[0] != last:  # of ten thousand documents that is much to read, and it changes no more
        pinned = steps.values_list("counts__scope", flat=True).filter(pk=last[0]).first() or {}
        _last_taken = last, pinned_excursions(pinned)
    return set(_last_taken[1])


_last_taken: tuple[Any, frozenset[int]] = (None, frozenset())


def counting(*, include_stopped: bool) -> dict[int, list[PinnedExcursion]]:
    """For each document the excursions a propagation would look at now, newest first."""
    return _excursions(include_stopped, None)


def _excursions(
    include_stopped: bool, runs: set[int] | None, doc_ids: Collection[int] | None = None
) -> dict[int, list[PinnedExcursion]]:
    """The excursions whose results count, newest first; a preview's never do, nor those that somebody left out.

    One that was sent to a part of its document counts like a stopped one: nothing is missing because of it.
    """
    kept = taken()
    states = COUNT_WHEN_ASKED if include_stopped else COUNT
    rows = Excursion.objects.filter(state__in=COUNT_WHEN_ASKED, left_out_at=None).exclude(run__origin="preview")
    rows = _of(rows, doc_ids, "doc_id")
    found: dict[int, list[PinnedExcursion]] = {}
    for doc_id, number, state, part, run_id, strand in rows.order_by("-run_id", "-id").values_list(
        "doc_id", "id", "state", "part", "run_id", "strand"
    ):
        if number in kept or (state in states if runs is None else run_id in runs):
            one = PinnedExcursion(number, str(State.STOPPED) if part else str(state), strand=strand)
            found.setdefault(doc_id, []).append(one)
    return found


def _roots(doc_ids: Collection[int] | None) -> dict[int, list[PointRoot]]:
    """Inactive crawl points count: switching one off stops crawling, not showing."""
    links = CrawlPointLink.objects.exclude(crawl_point__deleted=1).exclude(crawl_point=None).exclude(document=None)
    columns = ("document_id", "crawl_point__root", "crawl_point__merge_schemes")
    found: dict[int, list[PointRoot]] = {}
    for doc_id, root, merged in _of(links, doc_ids, "document_id").values_list(*columns):
        found.setdefault(doc_id, []).append(PointRoot(root, bool(merged)))
    return found


def _excludes(doc_ids: Collection[int] | None) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for doc_id, pattern in _of(ExcludeUrl.objects.all(), doc_ids, "document_id").values_list("document_id", "pattern"):
        found.setdefault(doc_id, []).append(pattern)
    return found
