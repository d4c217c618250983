"""manage.py doctor: examine everything, say what is wrong and what to do."""

from typing import Any

from clearinghouse.operations.command_base import FAILED, Command, Stop
from clearinghouse.web.plurals import plural
from crawler.upkeep.doctor import examine
from crawler.upkeep.doctor.types import TROUBLE, WARNING


class Command(Command):
    help = (
        "Examine databases, Redis, processes, disk, clock, targets, keys and files. Exit code 1 when there is trouble."
    )

    def work(self, **options: Any) -> dict[str, Any]:
        lines = []
        for line in examine():
            lines.append(line)
            self.say(f"{line.level:<8} {line.part}: {line.said}")
            if line.do:
                self.say(f"         → {line.do}")
        trouble = sum(line.level == TROUBLE for line in lines)
        warnings = sum(line.level == WARNING for line in lines)
        told = [line._asdict() for line in lines]
        result = {"well": not trouble, "trouble": trouble, "warnings": warnings, "lines": told}
        if trouble:
            rest = plural(warnings, "is a warning,are warnings")
            of = f"of {plural(len(lines), 'line')}"
            raise Stop(f"{plural(trouble, f'{of} is,{of} are')} trouble, {rest}.", FAILED, result)
        self.say(f"{plural(len(lines), 'line')}, no trouble, {plural(warnings, 'warning')}.")
        return result
