"""Owns: what all commands share: plain output for people, one JSON object for machines, exit codes.

Exit 0 only on success, 1 failed, 2 wrong use, 4 needs a decision; errors are one clear line on stderr.
Called by: every management command.
"""

import getpass
import json
import os
import re
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import OperationalError, ProgrammingError

from .logs import log_uncaught
from .records import acting_as

_UNPREPARED = re.compile(r"no such table|does not exist")
OK, FAILED, WRONG_USE, NEEDS_DECISION = 0, 1, 2, 4


class Stop(CommandError):
    """Ends a command with one line on stderr and an exit code; `result` is what --json prints nevertheless."""

    def __init__(self, sentence: str, code: int = FAILED, result: dict[str, Any] | None = None) -> None:
        super().__init__(sentence, returncode=code)
        self.result = result


class Command(BaseCommand):
    """Subclasses write options() and work(); work() returns the JSON object, say() prints for people."""

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
        self.options(parser)

    def options(self, parser: CommandParser) -> None:
        """The command's own arguments."""

    def work(self, **options: Any) -> dict[str, Any]:
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        self.plain = not options["json"]
        try:
            with acting_as(self.signature):
                self._answer(self.work(**options))
        except Stop as stop:
            if stop.result is not None:
                self._answer(stop.result)
            raise

    def _answer(self, result: dict[str, Any]) -> None:
        if not self.plain:
            self.stdout.write(json.dumps(result, ensure_ascii=False, default=str))

    def execute(self, *args: Any, **options: Any) -> str | None:
        if self._called_from_command_line:
            sys.excepthook = log_uncaught
        try:
            return super().execute(*args, **options)
        except Stop as stop:
            if not self._called_from_command_line:
                raise
            self.stderr.write(str(stop))  # Django would put the name of the class before the sentence
            sys.exit(stop.returncode)
        except (OperationalError, ProgrammingError) as error:
            if not self._called_from_command_line or not _UNPREPARED.search(str(error)):
                raise
            self.stderr.write("The databases are not prepared here. Run: manage.py prepare")
            sys.exit(FAILED)

    @property
    def name(self) -> str:
        return type(self).__module__.rsplit(".", 1)[-1]

    @property
    def signature(self) -> str:
        return f"command {self.name}"

    @property
    def person(self) -> str:
        """Who gives the order, for what is done in somebody's name: the user of the operating system."""
        try:
            return f"{getpass.getuser()}, {self.signature}"
        except (OSError, KeyError, ImportError):  # a user without a name, as in some containers
            return f"user {os.getuid()}, {self.signature}"

    def say(self, line: str) -> None:
        if self.plain:
            self.stdout.write(line)

    def warn(self, line: str) -> None:
        self.stderr.write(line)
