"""Owns: the JSON API of the word index: a word with the pages that hold it, a page with its words and links.

Does not: split or count words. Called by: crawler.api.
"""

from typing import Any

from clearinghouse.accounts.policies import Action, require
from clearinghouse.database.aliases import TARGETS
from clearinghouse.search.public_target import live_generation

from ..api.contract import PAGING, PER_PAGE, ApiRequest, Json, router
from ..api.request_fields import MOST_ROWS, WrongRequest, choice, number, text
from ..api.response_fields import FLAG, INT, INT_OR_NOTHING, MOMENT, TEXT, JsonObject, list_of, shape_of
from . import indexed_page, parents_children, words_in_text
from . import word_json as index_shapes
from .postings import Postings, candidates, some
from .stopwords import STOPWORDS
from .views import LINKING, LOOKED_AT, counted, docs_of, page_or_404

_FACTS = {
    "page_id": INT, "doc_id": INT, "url": TEXT, "title": TEXT, "type": TEXT, "language": TEXT,
    "last_modified": MOMENT, "crawled_at": MOMENT,
}  # fmt: skip
_POSTING = shape_of(page_id=INT, doc_id=INT, url=TEXT, title=TEXT, frequency=INT, positions=list_of(INT))
WORD = JsonObject(
    "Word", word=TEXT, word_id=INT_OR_NOTHING, target=TEXT, generation=INT, pages=INT_OR_NOTHING,
    postings=list_of(_POSTING), next=INT_OR_NOTHING,
)  # fmt: skip
INDEXED_PAGE = JsonObject(
    "IndexedPage", **_FACTS, target=TEXT, generation=INT, different_words=INT,
    words=list_of(shape_of(word=TEXT, word_id=INT_OR_NOTHING, frequency=INT, positions=list_of(INT))),
    links=INT_OR_NOTHING, children=list_of(shape_of(url=TEXT, anchor=TEXT, page_id=INT_OR_NOTHING)),
    backlinks=INT, backlinks_complete=FLAG,
    parents=list_of(shape_of(page_id=INT, url=TEXT, title=TEXT, anchors=list_of(TEXT))),
)  # fmt: skip
TARGET = {"target": choice("The server; primary unless named", *TARGETS)}
WORD_QUERY = TARGET | {
    "word": text("One word; capitals and accents make no difference", 200),
    "after": number("Go on where `next` of an answer says"),
    "rows": number("Pages listed", least=1, most=MOST_ROWS),
}


@router.get("index/word/", "api-index-word", "A word of the index with the pages that hold it", WORD, query=WORD_QUERY)
def word(asked: ApiRequest) -> Json:
    """`pages` is null while the pages of a new generation are being counted, and with `word_id` on content development
    for who does not see every document there; only pages you may see are listed."""
    require(asked.user, Action.VIEW)
    words = words_in_text.words_asked(asked.query.get("word", ""))
    if len(words) != 1:
        raise WrongRequest({"word": [f"One word is asked for; this has {len(words)}"]})
    target = asked.query.get("target", "primary")
    alias, one = TARGETS[target], words[0]
    generation = live_generation(alias)
    found, docs = Postings(), docs_of(asked.request)
    if one not in STOPWORDS:
        rows = candidates(alias, generation, one, after=asked.query.get("after", 0), docs=docs)
        found = some(rows, asked.query.get("rows", PER_PAGE), LOOKED_AT)
    known = counted(alias, generation, one, docs)
    return {
        "word": one,
        "word_id": known["word_id"],
        "target": target,
        "generation": generation,
        "pages": known["pages"],
        "postings": [index_shapes.posting(row) for row in found.rows],
        "next": found.after or None,
    }


@router.get(
    "index/pages/<int:page_id>/", "api-index-page", "A page of the index: its words, its links both ways", INDEXED_PAGE,
    query=PAGING | TARGET,
)  # fmt: skip
def page(asked: ApiRequest, page_id: int) -> Json:
    """The same page of each of its lists; backlinks are those of the first 5,000 pages of the document."""
    target = asked.query.get("target", "primary")
    alias = TARGETS[target]
    generation, row = page_or_404(asked.request, alias, page_id)
    words = indexed_page.words_on(row)
    children = parents_children.children(alias, generation, row)
    parents = parents_children.parents(alias, generation, row, LINKING)
    shown = _slice(asked)
    return {
        **index_shapes.facts(row),
        "target": target,
        "generation": generation,
        "different_words": len(words),
        "words": index_shapes.words(alias, words[shown]),
        "links": None if children is None else len(children),
        "children": [index_shapes.child(one) for one in (children or [])[shown]],
        "backlinks": len(parents.ids),
        "backlinks_complete": parents.complete,
        "parents": [index_shapes.parent(one) for one in parents_children.named(alias, row, parents.ids[shown])],
    }


def _slice(asked: ApiRequest) -> Any:
    rows = asked.query.get("rows", PER_PAGE)
    start = (asked.query.get("page", 1) - 1) * rows
    return slice(start, start + rows)
