"""manage.py launch: ask for a run; RQ workers crawl it."""

from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.addresses import networks
from clearinghouse.operations.command_base import NEEDS_DECISION, WRONG_USE, Command, Stop, whole
from clearinghouse.web.plurals import plural
from crawler.errors import AllBusy, NothingToCrawl
from crawler.launching.launch import LaunchRequest, launch
from crawler.sites.speeds import SPEEDS


class Command(Command):
    help = "Launch a run over some or all documents; the workers crawl it."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--doc", type=whole(1), action="append", metavar="ID", help="only this document; may be repeated"
        )
        parser.add_argument("--speed", choices=SPEEDS, help="default: as the settings say")
        parser.add_argument(
            "--ignore-robots", action="store_true", help="do not ask robots.txt; recorded with your name"
        )
        parser.add_argument("--note", default="", help="why; shown with the run")
        parser.add_argument("--label", default="", help="a word by which the run is found again")

    def work(self, **options: Any) -> dict[str, Any]:
        self.know(options["doc"])
        networks.read_settings()
        try:
            run = launch(
                LaunchRequest(
                    options["doc"], by=self.person, speed=options["speed"] or "", origin="command",
                    ignore_robots=options["ignore_robots"], note=options["note"], label=options["label"],
                )
            )  # fmt: skip
        except NothingToCrawl as error:
            raise Stop(str(error), WRONG_USE)
        except AllBusy as error:
            raise Stop(str(error), NEEDS_DECISION)
        held = " It is held back: quiet hours, or all crawls are paused." if run.control else ""
        self.say(f"Run {run.pk} is waiting for a worker: {plural(run.excursions.count(), 'document')}.{held}")
        if run.left_out:
            self.say(f"Left out, because another run is crawling them: {', '.join(map(str, run.left_out))}")
        return {"run": run.pk, "state": run.state, "left_out": run.left_out}
