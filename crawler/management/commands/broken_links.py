"""manage.py broken_links: dead links, with the pages that refer to them."""

from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.operations.command_base import WRONG_USE, Command, Stop, whole
from clearinghouse.web.plurals import plural
from crawler.ledger.links_between_pages import broken_result, newest_finished
from crawler.models import Excursion
from crawler.reasons import reason_of


class Command(Command):
    help = "List the dead links of the newest finished crawl of each document, with the pages that refer to them."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("--doc", type=whole(1), metavar="ID", help="only this document")
        parser.add_argument(
            "--limit", type=whole(), default=100, metavar="N", help="referring pages listed for each link"
        )

    def work(self, **options: Any) -> dict[str, Any]:
        doc_id = options["doc"]
        excursions = newest_finished(None if doc_id is None else {doc_id})
        self.know(doc_id if doc_id is None else [doc_id])
        if doc_id is not None and not excursions:
            crawled = Excursion.objects.filter(doc_id=doc_id).exists()
            why = "no crawl of it has finished yet" if crawled else "it was never crawled"
            raise Stop(f"Document {doc_id} has no dead links to list: {why}.", WRONG_USE)
        documents = broken_result(excursions, options["limit"])
        for document in documents:
            self._print(document)
        count = sum(len(document["links"]) for document in documents)
        self.say(f"{plural(count, 'dead link')} in {plural(len(documents), 'document')}.")
        return {"broken": count, "documents": documents}

    def _print(self, document: dict[str, Any]) -> None:
        if document["links"]:
            self.say(f"{document['title']} (document {document['doc_id']}, run {document['run']})")
        for link in document["links"]:
            self.say(f"  {link['url']}  {reason_of(link['reason'], link['status']).label}")
            for page in link["found_on"]:
                via = f", via {page['via']}" if "via" in page else ""
                self.say(f"    on {page['url']}: {', '.join(page['anchors']) or '(no text)'}{via}")
            if link["pages"] == 0:
                self.say("    on no page: a crawl point, or linked with a redirect only")
