"""manage.py tick: the process that looks after everything every five seconds."""

import signal
import threading
from typing import Any

from django.core.management.base import CommandParser

from clearinghouse.database.adoption.usable import unusable_files
from clearinghouse.database.aliases import DEFAULT, WEBCRAWL
from clearinghouse.operations.command_base import Command, Stop
from crawler.upkeep import tick


class Command(Command):
    help = "Every five seconds: start what is due, wake workers, take over from dead processes. Runs until stopped."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="one round, then end")

    def work(self, **options: Any) -> dict[str, Any]:
        if unusable := unusable_files(DEFAULT, WEBCRAWL):
            raise Stop(unusable)
        end, looks, rounds, failed = threading.Event(), tick.Tick(), 0, []
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: end.set())
        while not end.is_set():
            failed = looks.round()
            rounds += 1
            if options["once"]:
                break
            end.wait(tick.SECONDS)
        return {"rounds": rounds, "failed": failed}
