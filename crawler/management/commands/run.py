"""manage.py run: look at a run, control it, or leave its results out of what is published."""

from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.operations.command_base import WRONG_USE, Command, Stop, whole
from clearinghouse.web.plurals import plural
from crawler.errors import WrongMoment
from crawler.launching import control
from crawler.models import Run
from crawler.propagation import left_out
from crawler.runs.run_json import run_result
from crawler.sites.speeds import SPEEDS
from crawlpoints.point_checks import Invalid

ORDERS = {"pause": control.pause, "resume": control.resume, "stop": control.stop, "cancel": control.cancel}
LEAVE_OUT, TAKE_IN = PUBLISHED = ("leave-out", "take-in")


class Command(Command):
    help = (
        "Show a run, or pause, resume, stop (keep results), cancel (discard results) it, or set its speed; of one that "
        "has ended, leave its results out of what is published, or take them in again."
    )

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=whole(1), metavar="RUN", help="number of the run; alone it is shown")
        parser.add_argument("order", nargs="?", choices=[*ORDERS, "speed", *PUBLISHED], help="what to do with it")
        parser.add_argument("speed", nargs="?", choices=SPEEDS, help="after speed: which one")
        parser.add_argument(
            "--doc", action="append", type=whole(1), default=[], metavar="DOC",
            help="with leave-out and take-in: only this document (repeatable)",
        )  # fmt: skip
        parser.add_argument("--reason", default="", help="with leave-out: why")

    def work(self, **options: Any) -> dict[str, Any]:
        run = Run.objects.filter(pk=options["run"]).first()
        if run is None:
            raise Stop(f"There is no run {options['run']}.", WRONG_USE)
        try:
            if options["order"] in PUBLISHED:
                self._count(run, options)
            else:
                self._obey(run, options["order"], options["speed"])
        except Invalid as error:
            raise Stop(f"{error}: --reason TEXT", WRONG_USE)
        except WrongMoment as error:
            raise Stop(str(error))
        run.refresh_from_db()
        result = run_result(run)
        pages = plural(result["crawled"] + result["unchanged"], "page")
        self.say(f"Run {run.pk} {run.get_state_display().lower()}: {pages}, "
                 f"{result['queued']} queued, {sum(result['failed'].values())} failed")  # fmt: skip
        return result

    def _count(self, run: Run, options: dict[str, Any]) -> None:
        excursions = left_out.of_run(run.pk, options["doc"])
        if options["order"] == TAKE_IN:
            count = left_out.take_in(excursions, by=self.person)
            done = "count again"
        else:
            count = left_out.leave_out(excursions, options["reason"], by=self.person)
            done = "left out"
        self.say(f"Results of {plural(count, 'document')} {done}; the next propagation brings that to the public.")

    def _obey(self, run: Run, order: str | None, speed: str | None) -> None:
        if order == "speed":
            if speed is None:
                raise Stop("Name the speed: polite, medium or fast.", WRONG_USE)
            control.set_speed(run, speed, self.person)
        elif speed is not None:
            raise Stop(f"{order} takes no speed; ask for it by itself: run {run.pk} speed {speed}", WRONG_USE)
        elif order:
            ORDERS[order](run, self.person)
