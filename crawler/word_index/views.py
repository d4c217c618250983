"""The word index for staff: a word with the pages that hold it, a page with its words and its links both ways.

What a person may not see does not exist: pages of other documents are neither listed nor shown.
"""

from typing import Any

from django.core.paginator import Paginator
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, doc_ids_for, require
from clearinghouse.database.aliases import DEFAULT, TARGETS
from clearinghouse.published.models import PublishedVersion
from clearinghouse.published.types import PAGE_TYPES
from clearinghouse.search.public_target import live_generation

from ..runs.run_counts import Docs
from ..runs.views.run_access import number_in, page_size
from . import indexed_page as pages
from . import lexicon, page_counts, parents_children
from .postings import candidates, some
from .stopwords import STOPWORDS
from .words_in_text import words_asked

LOOKED_AT = 2_000  # pages read to fill one page of a list
LINKING = 5_000  # pages of a document whose links are read to find those that lead here
SHOWN = 12  # positions of a word
SERVERS = {"development": "Content development", "primary": "Primary production", "backup": "Backup production"}
_PARTS = {"words": "Words", "children": "Links out", "parents": "Links in", "metas": "Meta tags"}


@require_safe
def word(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.VIEW)
    target = target_of(request)
    typed = request.GET.get("w", "").strip()[:200]
    words = words_asked(typed)
    context: dict[str, Any] = {"target": target, "servers": SERVERS, "typed": typed, "words": words, "shown": SHOWN}
    try:
        if len(words) == 1:
            context |= _found(request, TARGETS[target], words[0])
    except DatabaseError:
        context["down"] = True
    return render(request, "word_index/word.html", context, status=503 if "down" in context else 200)


def target_of(request: HttpRequest) -> str:
    """The server asked about; primary unless another one is named."""
    target = request.GET.get("server", "")
    return target if target in TARGETS else "primary"


def _found(request: HttpRequest, alias: str, asked: str) -> dict[str, Any]:
    generation = live_generation(alias)
    docs = docs_of(request)
    found: dict[str, Any] = {"word": asked, "generation": generation, "stopword": asked in STOPWORDS}
    if not found["stopword"]:
        after = number_in(request, "after") or 0
        rows = some(candidates(alias, generation, asked, after=after, docs=docs), page_size(request), LOOKED_AT)
        found |= {"postings": rows, "after": after} | counted(alias, generation, asked, docs)
    return found


def counted(alias: str, generation: int, asked: str, docs: frozenset[int] | None) -> dict[str, Any]:
    """The id of a word and the number of its pages. They are of all documents; on content development, where not all
    are public, they are told only to who sees all of them."""
    if alias == DEFAULT and docs is not None:
        return {"word_id": None, "pages": None, "counting": False}
    counting = page_counts.counted(alias) != generation
    pages = None if counting else lexicon.pages_of(alias, asked)
    return {"word_id": lexicon.id_of(alias, asked), "pages": pages, "counting": counting}


def docs_of(request: HttpRequest) -> frozenset[int] | None:
    docs: Docs = doc_ids_for(request.user, Action.VIEW)
    return None if docs is None else frozenset(docs)


@require_safe
def page(request: HttpRequest, page_id: int) -> HttpResponse:
    target = target_of(request)
    alias = TARGETS[target]
    generation, row = page_or_404(request, alias, page_id)
    part = request.GET.get("show", "words")
    part = part if part in _PARTS else "words"
    linking = parents_children.parents(alias, generation, row, LINKING)
    context: dict[str, Any] = {
        "target": target,
        "server": SERVERS[target],
        "generation": generation,
        "row": row,
        "document": pages.document_of(alias, generation, row),
        "type": PAGE_TYPES.get(row.type_id, ""),
        "linking": linking,
        "backlinks": len(linking.ids),
        "part": part,
        "parts": _PARTS,
        "part_label": _PARTS[part],
        "shown": SHOWN,
    }
    context |= _FILL[part](request, alias, generation, row, linking)
    return render(request, "word_index/page.html", context)


def page_or_404(request: HttpRequest, alias: str, page_id: int) -> tuple[int, PublishedVersion]:
    """The generation that is live, and the page in it."""
    require(request.user, Action.VIEW)
    generation = live_generation(alias)
    row = pages.by_id(alias, generation, page_id)
    docs = docs_of(request)
    if row is None or (docs is not None and row.doc_id not in docs):
        raise Http404("No such page in the word index")
    return generation, row


def _words(
    request: HttpRequest, alias: str, generation: int, row: PublishedVersion, linking: parents_children.Parents
) -> dict[str, Any]:
    listed = Paginator(pages.words_on(row), page_size(request)).get_page(_page(request))
    ids = lexicon.ids_of(alias, {one.word for one in listed.object_list})
    return {"page": listed, "words": [(one, ids.get(one.word)) for one in listed.object_list]}


def _children(
    request: HttpRequest, alias: str, generation: int, row: PublishedVersion, linking: parents_children.Parents
) -> dict[str, Any]:
    found = parents_children.children(alias, generation, row)
    return {"known": found is not None, "page": Paginator(found or [], page_size(request)).get_page(_page(request))}


def _parents(
    request: HttpRequest, alias: str, generation: int, row: PublishedVersion, linking: parents_children.Parents
) -> dict[str, Any]:
    listed = Paginator(linking.ids, page_size(request)).get_page(_page(request))
    return {"page": listed, "parents": parents_children.named(alias, row, listed.object_list)}


def _metas(
    request: HttpRequest, alias: str, generation: int, row: PublishedVersion, linking: parents_children.Parents
) -> dict[str, Any]:
    return {"metas": pages.metas_of(alias, row)}


def _page(request: HttpRequest) -> str | None:
    return request.GET.get("page")


_FILL = {"words": _words, "children": _children, "parents": _parents, "metas": _metas}
