"""manage.py launch: ask for a run; RQ workers crawl it."""

from typing import Any

from django.core.management.base import CommandParser

from clearinghouse import env
from clearinghouse.commands import NEEDS_DECISION, WRONG_USE, Command, Stop
from crawler import control, intake
from crawler.errors import AllBusy, NothingToCrawl
from crawler.speeds import SPEEDS


class Command(Command):
    help = "Launch a run over some or all documents; the workers crawl it."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--doc", type=int, action="append", metavar="ID", help="only this document; may be repeated"
        )
        parser.add_argument("--speed", choices=SPEEDS, default=env.text("SPEED"))
        parser.add_argument(
            "--ignore-robots", action="store_true", help="do not ask robots.txt; recorded with your name"
        )
        parser.add_argument("--note", default="")

    def work(self, **options: Any) -> dict[str, Any]:
        try:
            run = intake.launch(
                options["doc"], by="command launch", speed=options["speed"],
                ignore_robots=options["ignore_robots"], note=options["note"],
            )  # fmt: skip
        except NothingToCrawl as error:
            raise Stop(str(error), WRONG_USE)
        except AllBusy as error:
            raise Stop(str(error), NEEDS_DECISION)
        control.call_for_help(run)
        self.say(f"Run {run.pk} is waiting for a worker: {run.excursions.count()} documents.")
        if run.left_out:
            self.say(f"Left out, because another run is crawling them: {', '.join(map(str, run.left_out))}")
        return {"run": run.pk, "state": run.state, "left_out": run.left_out}
