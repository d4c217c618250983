"""manage.py backup FOLDER: a copy of the whole house as it is at this moment."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.operations.command_base import NEEDS_DECISION, Command, Stop
from crawler.upkeep.backup import take_backup
from crawler.upkeep.backup.manifest import KEYS


class Command(Command):
    help = "Copy all four databases and the keys, as they are at one moment, into a new folder; crawls go on."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="where to; it must not exist yet, or be empty")
        parser.add_argument("--without-keys", action="store_true", help="leave out the keys of stored passwords")

    def work(self, **options: Any) -> dict[str, Any]:
        folder = options["folder"].absolute()
        if by_hand := take_backup.commands_for_others(folder):
            sentence = "Nothing was saved: this machine cannot save every database. Stop all processes and run: "
            raise Stop(sentence + "; ".join(by_hand), NEEDS_DECISION, {"run": by_hand})
        try:
            made = take_backup.take(folder, keys=not options["without_keys"])
        except take_backup.CannotTake as problem:
            raise Stop(f"No backup was taken. {problem}")
        for name, part in made.parts.items():
            self.say(f"{name:<9} {part.size / 1e6:>10,.1f} MB")
        moment = "all of one moment" if made.exact else "WebCrawl first, then what it names"
        self.say(f"Saved to {folder}, {moment}: {made.taken_at}")
        if KEYS in made.parts:
            self.say(f"{KEYS} opens every stored password: keep this folder as safe as the passwords themselves.")
        else:
            self.say("The keys are not in it: without them the stored passwords of this backup cannot be opened.")
        sizes = {name: part.size for name, part in made.parts.items()}
        return {"folder": str(folder), "taken_at": made.taken_at, "exact": made.exact, "bytes": sizes}
