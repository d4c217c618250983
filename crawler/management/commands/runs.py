"""manage.py runs: the runs, newest first."""

from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.operations.command_base import Command, whole
from clearinghouse.web.plurals import plural
from crawler.models import Run
from crawler.runs.run_json import run_result


class Command(Command):
    help = "List the runs, newest first."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("--limit", type=whole(1), default=20, metavar="N", help="how many (default 20)")

    def work(self, **options: Any) -> dict[str, Any]:
        results = [run_result(run) for run in Run.objects.order_by("-id")[: options["limit"]]]
        for row in results:
            failed = sum(row["failed"].values())
            self.say(
                f"{row['run']:>5}  {row['state']:<18} {plural(row['crawled'] + row['unchanged'], 'page'):>14} "
                f"{row['queued']:>7} queued {failed:>5} failed {row['seconds']:>9} s"
            )
        if not results:
            self.say("No run yet. Launch one: manage.py launch")
        return {"runs": results}
