"""manage.py add_document TITLE [--project P]"""

from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.library import services
from clearinghouse.library.document_csv import web_address_problem
from clearinghouse.operations import command_base


class Command(command_base.Command):
    help = "Adds a document to the library; the project is made when it is new."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("title", metavar="TITLE", help="up to 255 characters")
        parser.add_argument("--project", default="", help="name of the project")
        parser.add_argument("--status", default="", help="name of the status; made when it is new")
        parser.add_argument("--web-address", default="", help="where the document itself stands on the web")
        parser.add_argument("--not-public", action="store_true", help="propagate it to content development only")

    def work(self, **options: Any) -> dict[str, Any]:
        title = options["title"].strip()
        for name, limit in (("title", 255), ("project", 100), ("status", 50)):
            if len(options[name]) > limit:
                raise command_base.Stop(f"The {name} must be {limit} characters or fewer.", command_base.WRONG_USE)
        if not title:
            raise command_base.Stop("Enter the title.", command_base.WRONG_USE)
        if problem := web_address_problem(options["web_address"]):
            raise command_base.Stop(f"{problem}.", command_base.WRONG_USE)
        document = services.add_document(
            title,
            project=options["project"],
            public=not options["not_public"],
            status=options["status"],
            web_address=options["web_address"],
        )
        self.say(f"Added document {document.pk}: {title}")
        return {"doc_id": document.pk}
