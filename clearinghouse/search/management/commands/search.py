"""manage.py search QUERY: what the public (or one target) finds."""

from argparse import ArgumentParser
from typing import Any

from clearinghouse.commands import Command as Base
from clearinghouse.databases import TARGETS
from clearinghouse.search import engine, serving


class Command(Base):
    help = "Search the published pages; without --target, of the server that serves the public."

    def options(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", help='words, "a phrase", -not, OR, beginning*, title:, site:, type:, after: …')
        parser.add_argument("--target", choices=list(TARGETS), help="ask this server instead")
        parser.add_argument("--limit", type=int, default=10, help="how many results (at most 100)")

    def work(self, **options: Any) -> dict[str, Any]:
        target = options["target"] or serving.public_target()
        results = engine.search(options["query"], alias=TARGETS[target], limit=options["limit"])
        for note in results.query.notes:
            self.say(note)
        self.say(f"{results.total} pages in {results.seconds:.3f} s; generation {results.generation} on {target}")
        for number, hit in enumerate(results.hits, 1):
            self.say(f"{number}. {hit.title}\n   {hit.url}\n   {hit.snippet}")
        return {
            "total": results.total,
            "seconds": round(results.seconds, 4),
            "generation": results.generation,
            "results": [
                {"url": h.url, "title": h.title, "snippet": h.snippet, "doc_id": h.doc_id, "score": h.score}
                for h in results.hits
            ],
        }
