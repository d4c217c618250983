"""manage.py restore FOLDER: a backup in the place of what is here; what is here is set aside."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.commands import NEEDS_DECISION, Command, Stop
from crawler.backup import bring_back, running


class Command(Command):
    help = "Put a backup in the place of the databases here. Refuses a damaged one, and while processes run."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder that backup made")
        parser.add_argument("--although-running", action="store_true", help="do not look whether processes run here")

    def work(self, **options: Any) -> dict[str, Any]:
        folder = options["folder"].absolute()
        try:
            found = bring_back.check(folder)
        except bring_back.CannotRestore as problem:
            raise Stop(f"Nothing was changed. {problem}")
        if not options["although_running"] and (working := running.at_work()):
            said = f"Nothing was changed: {'; '.join(working)}. Stop all processes first, or say --although-running."
            raise Stop(said, NEEDS_DECISION, {"running": working})
        done = bring_back.bring_back(folder, found)
        self.say(f"Restored everything as it was at {done.taken_at}.")
        if done.aside:
            self.say(f"What was here before is kept in {done.aside}")
        for note in done.notes:
            self.say(note)
        self.say("Next: manage.py prepare, manage.py check_ledger, then start the processes.")
        return {"taken_at": done.taken_at, "aside": done.aside, "notes": done.notes}
