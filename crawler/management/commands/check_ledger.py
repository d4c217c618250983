"""manage.py check_ledger [RUN]: count everything again and say what does not fit."""

from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.operations.command_base import FAILED, WRONG_USE, Command, Stop, whole
from clearinghouse.web.plurals import plural
from crawler.ledger.ledger_check import faults
from crawler.models import Run


class Command(Command):
    help = "Prove from the rows that the ledger of a run (default: of every run) balances."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=whole(1), nargs="?", metavar="RUN", help="number of the run")

    def work(self, **options: Any) -> dict[str, Any]:
        runs = Run.objects.order_by("id")
        if options["run"] is not None:
            runs = runs.filter(pk=options["run"])
            if not runs.exists():
                raise Stop(f"There is no run {options['run']}.", WRONG_USE)
        found = {run.pk: faults(run) for run in runs}
        broken = {number: sentences for number, sentences in found.items() if sentences}
        result = {"runs": len(found), "faults": broken}
        if broken:
            self._tell(broken)
            those = plural(len(found), "run does not balance,runs do not balance")
            raise Stop(f"{len(broken)} of {those}.", FAILED, result)
        self.say(f"{plural(len(found), 'run balances,runs balance')}.")
        return result

    def _tell(self, broken: dict[int, list[str]]) -> None:
        """Sentence by sentence, for people; programs get them with the result."""
        for number, sentences in broken.items() if self.plain else ():
            for sentence in sentences:
                self.warn(f"Run {number}, {sentence}")
