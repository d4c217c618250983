"""Owns: the pin of a propagation: which documents, under which settings, up to which excursions.

Taken once and kept in the step `plan`: all targets get the same generation although crawls go on and people edit.
Does not: read pages. Called by: services, collect.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from clearinghouse.library.models import Document
from crawler.models import Excursion, PropagationStep, State
from crawlpoints.models import CrawlPointLink, ExcludeUrl

from . import plan

COUNT = (State.FINISHED, State.FINISHED_AT_LIMIT)
COUNT_WHEN_ASKED = (*COUNT, State.STOPPED)


@dataclass(frozen=True, slots=True)
class PointRoot:
    """What decides whether a stored page still belongs to a crawl point."""

    root: str
    merge_schemes: bool = False


@dataclass(frozen=True, slots=True)
class DocumentScope:
    """One document as this propagation sees it. Without excursions it was never crawled by us: it stays as it is."""

    doc_id: int
    title: str
    project: str
    public: bool
    excursions: tuple[tuple[int, str], ...]  # id and state, newest first
    roots: tuple[PointRoot, ...]
    excludes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    documents: tuple[DocumentScope, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Scope":
        return cls(tuple(_document(row) for row in data["documents"]))


def _document(row: dict[str, Any]) -> DocumentScope:
    return DocumentScope(
        doc_id=row["doc_id"],
        title=row["title"],
        project=row["project"],
        public=row["public"],
        excursions=tuple((number, state) for number, state in row["excursions"]),
        roots=tuple(PointRoot(**root) for root in row["roots"]),
        excludes=tuple(row["excludes"]),
    )


def pin(*, include_stopped: bool = False, runs: Iterable[int] | None = None) -> Scope:
    """Everything a generation depends on, as of now.

    What the last propagation took stays taken; of the runs since, those that count, or those that were chosen.
    """
    excursions = _excursions(include_stopped, None if runs is None else set(runs))
    roots = _roots()
    excludes = _excludes()
    documents = Document.objects.select_related("sheet__project").order_by("id")
    return Scope(
        tuple(
            DocumentScope(
                doc_id=document.pk,
                title=document.title,
                project=_project(document),
                public=_public(document),
                excursions=tuple(excursions.get(document.pk, ())),
                roots=tuple(sorted(roots.get(document.pk, ()), key=lambda root: (root.root, root.merge_schemes))),
                excludes=tuple(sorted(excludes.get(document.pk, ()))),
            )
            for document in documents
        )
    )


def taken() -> set[int]:
    """The excursions the last propagation that was completed was made of."""
    steps = PropagationStep.objects.filter(name=plan.PLAN, propagation__state="done").order_by("-propagation_id")
    counts = steps.values_list("counts", flat=True).first() or {}
    documents = counts.get("scope", {}).get("documents", ())
    return {number for document in documents for number, _ in document["excursions"]}


def counting(*, include_stopped: bool) -> dict[int, list[tuple[int, str]]]:
    """For each document the excursions a propagation would look at now, newest first: id and state."""
    return _excursions(include_stopped, None)


def _excursions(include_stopped: bool, runs: set[int] | None) -> dict[int, list[tuple[int, str]]]:
    """The excursions whose results count, newest first; a preview's never do, nor those that somebody left out.

    One that was sent to a part of its document counts like a stopped one: nothing is missing because of it.
    """
    kept = taken()
    states = COUNT_WHEN_ASKED if include_stopped else COUNT
    rows = Excursion.objects.filter(state__in=COUNT_WHEN_ASKED, left_out_at=None).exclude(run__origin="preview")
    found: dict[int, list[tuple[int, str]]] = {}
    for doc_id, number, state, part, run_id in rows.order_by("-run_id", "-id").values_list(
        "doc_id", "id", "state", "part", "run_id"
    ):
        if number in kept or (state in states if runs is None else run_id in runs):
            found.setdefault(doc_id, []).append((number, str(State.STOPPED) if part else str(state)))
    return found


def _roots() -> dict[int, list[PointRoot]]:
    """Inactive crawl points count: switching one off stops crawling, not showing."""
    links = CrawlPointLink.objects.select_related("crawl_point").exclude(crawl_point__deleted=1)
    found: dict[int, list[PointRoot]] = {}
    for link in links:
        if link.crawl_point is not None and link.document_id is not None:
            root = PointRoot(link.crawl_point.root, bool(link.crawl_point.merge_schemes))
            found.setdefault(link.document_id, []).append(root)
    return found


def _excludes() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for doc_id, pattern in ExcludeUrl.objects.values_list("document_id", "pattern"):
        found.setdefault(doc_id, []).append(pattern)
    return found


def _project(document: Document) -> str:
    sheet = getattr(document, "sheet", None)
    return sheet.project.name if sheet is not None and sheet.project is not None else ""


def _public(document: Document) -> bool:
    """Public unless its cover sheet says otherwise (a document without one is public)."""
    sheet = getattr(document, "sheet", None)
    return sheet is None or bool(sheet.public)
