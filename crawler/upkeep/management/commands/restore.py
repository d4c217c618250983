"""manage.py restore FOLDER: a backup in the place of what is here; what is here is set aside."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.operations.command_base import NEEDS_DECISION, Command, Stop
from crawler.upkeep.backup import restore, running_processes


class Command(Command):
    help = "Put a backup in the place of the databases here. Refuses a damaged one, and while processes run."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder that backup made")
        parser.add_argument("--although-running", action="store_true", help="do not look whether processes run here")

    def work(self, **options: Any) -> dict[str, Any]:
        folder = options["folder"].absolute()
        try:
            found = restore.check(folder)
        except restore.CannotRestore as problem:
            raise Stop(f"Nothing was changed. {problem}")
        if not options["although_running"] and (working := running_processes.at_work()):
            said = f"Nothing was changed: {'; '.join(working)}. Stop all processes first, or say --although-running."
            raise Stop(said, NEEDS_DECISION, {"running": working})
        done = restore.bring_back(folder, found)
        self.say(f"Restored everything as it was at {done.taken_at}.")
        if done.aside:
            self.say(f"What was here before is kept in {done.aside}")
        for note in done.notes:
            self.say(note)
        self.say("Next: manage.py prepare, manage.py check_ledger, then start the processes.")
        return {"taken_at": done.taken_at, "aside": done.aside, "notes": done.notes}
