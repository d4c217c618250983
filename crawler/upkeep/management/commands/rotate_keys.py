"""manage.py rotate_keys: a new key for the stored passwords of sites; crawls go on."""

from typing import Any

from clearinghouse.operations.command_base import FAILED, NEEDS_DECISION, Command, Stop
from clearinghouse.vault import sealing
from clearinghouse.web.plurals import plural
from crawler.upkeep import key_rotation

_HOW = (
    "The keys are in CLEARINGHOUSE_CREDENTIAL_KEYS: put a new one in front of the old one there, restart all "
    "processes, and run this again."
)


class Command(Command):
    help = "Seal the stored passwords of sites with a new key and drop the old one; safe to kill and to repeat."

    def work(self, **options: Any) -> dict[str, Any]:
        if sealing.keys_file() is None and len(sealing.key_ids()) == 1:
            raise Stop(f"Nothing was changed. {_HOW}", NEEDS_DECISION)
        done = key_rotation.rotate()
        if done.added:
            self.say(f"Added the key {done.added}")
        self.say(f"Sealed {plural(done.sealed, 'password')} with {sealing.key_ids()[0]}")
        for name in done.removed:
            self.say(f"Removed the key {name}: nothing needs it. Backups taken before need the keys saved with them.")
        for name in done.unneeded:
            self.say(f"Nothing needs the key {name}: take it out of CLEARINGHOUSE_CREDENTIAL_KEYS and restart.")
        result = {"added": done.added, "sealed": done.sealed, "removed": done.removed, "unneeded": done.unneeded,
                  "shut": done.shut}  # fmt: skip
        if done.shut:
            named = ", ".join(map(str, done.shut[:10]))
            shut = plural(len(done.shut), "password")
            said = f"{shut} cannot be opened (crawl points {named}): enter again what is lost; keys stay."
            raise Stop(said, FAILED, result)
        return result
