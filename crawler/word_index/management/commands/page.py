"""manage.py page URL: what the word index knows of a page: words, links in and out, meta tags, versions."""

from argparse import ArgumentParser
from typing import Any

from clearinghouse.database.aliases import TARGETS
from clearinghouse.operations.command_base import WRONG_USE, Stop, whole
from clearinghouse.operations.command_base import Command as Base
from clearinghouse.published.models import PublishedVersion
from clearinghouse.search.public_target import live_generation
from clearinghouse.web.plurals import plural
from crawler.word_index import indexed_page, page_counts, parents_children, word_json

_LONGEST_ID = 18  # digits; what is longer is an address


class Command(Base):
    help = "Print the words of a page with frequency and positions, its links in and out, meta tags and versions."

    def options(self, parser: ArgumentParser) -> None:
        parser.add_argument("page", help="its address, or its id")
        parser.add_argument("--target", choices=list(TARGETS), default="primary", help="of this server")
        parser.add_argument("--doc", type=whole(1), metavar="ID", help="the document, where several have the address")
        parser.add_argument("--limit", type=whole(), default=100, metavar="N", help="rows of each list; 0: all")

    def work(self, **options: Any) -> dict[str, Any]:
        alias = TARGETS[options["target"]]
        generation = live_generation(alias)
        page, others = self._page(alias, generation, options)
        page_counts.follow(alias)
        most = options["limit"] or None
        words = indexed_page.words_on(page)
        children = parents_children.children(alias, generation, page)
        parents = parents_children.parents(alias, generation, page)
        result = {
            **word_json.facts(page),
            "target": options["target"],
            "generation": generation,
            "also_in": others,
            "different_words": len(words),
            "words": word_json.words(alias, words[:most]),
            "links": None if children is None else len(children),
            "children": [word_json.child(one) for one in (children or [])[:most]],
            "backlinks": len(parents.ids),
            "parents": [word_json.parent(one) for one in parents_children.named(alias, page, parents.ids[:most])],
            "metas": [{"name": one.name, "content": one.content} for one in indexed_page.metas_of(alias, page)],
            "versions": word_json.versions(page)[:most],
        }
        self._print(result)
        return result

    def _page(self, alias: str, generation: int, options: dict[str, Any]) -> tuple[PublishedVersion, list[int]]:
        """The page, and the other documents that have its address."""
        asked, target = options["page"].strip(), options["target"]
        if not asked:
            raise Stop("Name the page by its address or its id.", WRONG_USE)
        if asked.isdecimal() and len(asked) <= _LONGEST_ID:
            one = indexed_page.by_id(alias, generation, int(asked))
            found = [one] if one else []
        else:
            found = indexed_page.by_url(alias, generation, asked)
        chosen = [one for one in found if options["doc"] in (None, one.doc_id)]
        if not chosen:
            raise Stop(f"Generation {generation} of {target} has no page {asked}.")
        return chosen[0], [one.doc_id for one in found if one.doc_id != chosen[0].doc_id]

    def _print(self, found: dict[str, Any]) -> None:
        self.say(f"Page {found['page_id']} of document {found['doc_id']}: {found['title'] or '(no title)'}")
        self.say(f"  {found['url']}")
        self.say(f"  {found['type']}, last modified {found['last_modified'] or 'not known'}")
        if found["also_in"]:
            self.say(f"  also in the documents {', '.join(map(str, found['also_in']))}")
        self.say(f"{plural(found['different_words'], 'word')}:")
        for one in found["words"]:
            self.say(f"  {one['word']} (id {one['word_id']}): {one['frequency']} × at {one['positions']}")
        self.say("Links are not known." if found["links"] is None else f"{plural(found['links'], 'link')}:")
        for one in found["children"]:
            where = f"page {one['page_id']}" if one["page_id"] else "no page"
            self.say(f"  {where}  {one['url']}  {one['anchor']}".rstrip())
        self.say(f"{plural(found['backlinks'], 'page links,pages link')} here:")
        for one in found["parents"]:
            self.say(f"  page {one['page_id']}  {one['url']}  {', '.join(one['anchors'])}".rstrip())
        for one in found["metas"]:
            self.say(f"Meta tag {one['name']}: {one['content']}")
        for one in found["versions"]:
            self.say(f"Version {one['version']} of run {one['run']}, {one['found_at']}, {plural(one['size'], 'byte')}")
