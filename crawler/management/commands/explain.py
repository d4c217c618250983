"""manage.py explain DOC URL: would this address be crawled, and why?"""

from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.library.models import Document
from clearinghouse.operations.command_base import WRONG_USE, Command, Stop, whole
from crawler.errors import TimeUsedUp
from crawler.launching.launch import snapshot_of
from crawler.ledger.explain import explain, sentence_of


class Command(Command):
    help = "Would this address be crawled for this document? Each check, in order, with its result."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("doc", type=whole(1), metavar="DOC", help="number of the document")
        parser.add_argument("url", metavar="URL", help="the address in question")
        parser.add_argument(
            "--found-on", default="", metavar="URL", help="the page that links to it: decides the depth"
        )

    def work(self, **options: Any) -> dict[str, Any]:
        document = Document.objects.filter(pk=options["doc"]).first()
        if document is None:
            raise Stop(f"There is no document {options['doc']}.", WRONG_USE)
        if options["found_on"] and isinstance(parse(options["found_on"]), Refusal):
            raise Stop(f"--found-on takes the address of a page; {options['found_on'][:100]!r} is not one.", WRONG_USE)
        snapshot = snapshot_of(document)
        try:
            answer = explain(snapshot, options["url"], options["found_on"])
        except TimeUsedUp as late:
            raise Stop(str(late)) from None
        self.say(f"{sentence_of(answer)}: {answer['url']}")
        points = {point.id: point.url for point in snapshot.points if point.active}
        if len(points) > 1 and answer["crawl_point_id"]:
            self.say(f"For the crawl point {points[answer['crawl_point_id']]}")
        for line in answer["trace"]:
            self.say(f"  {line['result']:<5} {line['check']:<13} {line['detail']}".rstrip())
        return answer
