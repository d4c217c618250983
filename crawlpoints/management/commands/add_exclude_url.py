"""manage.py add_exclude_url DOC PATTERN"""

from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.library.models import Document
from clearinghouse.operations import command_base
from clearinghouse.operations.command_base import WRONG_USE, Stop, whole
from crawlpoints.point_checks import Invalid
from crawlpoints.services import add_exclude_url


class Command(command_base.Command):
    help = "Excludes addresses from every crawl point of a document."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("doc", type=whole(1), metavar="DOC", help="number of the document")
        parser.add_argument(
            "pattern",
            metavar="PATTERN",
            help="an address; a * at the end: all that begins with it; * elsewhere: anything; regex: an expression",
        )

    def work(self, **options: Any) -> dict[str, Any]:
        document = Document.objects.filter(pk=options["doc"]).first()
        if document is None:
            raise Stop(f"There is no document {options['doc']}", WRONG_USE)
        try:
            exclude = add_exclude_url(document, options["pattern"])
        except Invalid as wrong:
            raise Stop(str(wrong), WRONG_USE) from None
        self.say(f"Added exclude URL {exclude.pk} to {document.title}: {exclude.pattern}")
        return {"exclude_url_id": exclude.pk}
