"""manage.py search QUERY: what the public (or one target) finds, with the rules of Search curation."""

from argparse import ArgumentParser
from typing import Any

from clearinghouse.database.aliases import TARGETS
from clearinghouse.operations.command_base import Command as Base
from clearinghouse.operations.command_base import whole
from clearinghouse.search import public_search, public_target
from clearinghouse.search.engine import Narrow
from clearinghouse.web.templatetags.formats import plural


class Command(Base):
    help = "Search the published pages; without --target, of the server that serves the public."

    def options(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", help='words, "a phrase", -not, +must, OR, beginning*, title:, site: …')
        parser.add_argument("--target", choices=list(TARGETS), help="ask this server instead")
        parser.add_argument("--limit", type=whole(), default=10, help="how many results (at most 100)")

    def work(self, **options: Any) -> dict[str, Any]:
        target = options["target"] or public_target.public_target()
        found = public_search.answer(options["query"], Narrow(), limit=options["limit"], alias=TARGETS[target])
        results = found.results
        for note in results.query.notes:
            self.say(note)
        if not found.typed:
            self.say("There is no word to look for.")
        if found.second.unknown:
            self.say(f"No page contains {', '.join(found.second.unknown)}.")
        if found.second.meant:
            self.say(f"Did you mean {found.second.meant}?")
        count = plural(found.total, "result")
        self.say(f"{count} in {results.seconds:.3f} s; generation {results.generation} on {target}")
        hits = [*found.best, *results.hits]
        for number, hit in enumerate(hits, 1):
            recommended = " (recommended)" if number <= len(found.best) else ""
            missing = f"\n   Missing: {', '.join(hit.missing)}" if hit.missing else ""
            self.say(f"{number}. {hit.title}{recommended}\n   {hit.url}\n   {hit.snippet}{missing}")
        return {
            "total": found.total,
            "seconds": round(results.seconds, 4),
            "generation": results.generation,
            "results": [
                {"url": h.url, "title": h.title, "snippet": h.snippet, "doc_id": h.doc_id, "score": h.score}
                for h in hits
            ],
        }
