"""Owns: what all commands share: plain output for people, one JSON object for machines, exit codes.

Exit 0 only on success, 1 failed, 2 wrong use, 4 needs a decision; errors are one clear line on stderr.
Called by: every management command.
"""

import getpass
import json
import os
import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import DatabaseError, OperationalError, ProgrammingError

from ..database import full_disk
from ..database.records import acting_as
from ..library.models import Document
from .logs import log_uncaught

_DAMAGED = re.compile(r"is not a database|malformed")
_OF_DJANGO = {"--version", "-v", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color",
              "--force-color", "--skip-checks"}  # fmt: skip
_UNPREPARED = re.compile(r"no such table|does not exist")
OK, FAILED, WRONG_USE, NEEDS_DECISION = 0, 1, 2, 4


def whole(least: int = 0, most: int | None = None) -> Callable[[str], int]:
    """The type of an argument that counts something: a number it cannot be is wrong use, not a surprise later."""

    def read(word: str) -> int:
        number = int(word) if re.fullmatch(r"-?[0-9]{1,18}", word) else least - 1
        if number < least or (most is not None and number > most):
            bounds = f"from {least} to {most}" if most is not None else f"of {least} or more"
            raise ArgumentTypeError(f"{word!r} is not a whole number {bounds}")
        return number

    return read


class OneLineParser(CommandParser):
    """Says what is wrong with the arguments in one line; how they should be, --help tells."""

    def error(self, message: str) -> NoReturn:
        if self.called_from_command_line:
            self.exit(WRONG_USE, f"{message}; see {self.prog} --help\n")
        super().error(message)


class Stop(CommandError):
    """Ends a command with one line on stderr and an exit code; `result` is what --json prints nevertheless."""

    def __init__(self, sentence: str, code: int = FAILED, result: dict[str, Any] | None = None) -> None:
        super().__init__(sentence, returncode=code)
        self.result = result


def _said(error: DatabaseError | OSError) -> str:
    """What is to be done about a database or disk; empty for a fault of ours, whose traceback tells more."""
    if full_disk.is_full(error):
        where = ", ".join(map(str, full_disk.full_folders()))
        return f"The disk is full{where and f' ({where})'}: make room, then repeat this; nothing is lost."
    words = " ".join(str(error).split())
    if isinstance(error, OperationalError | ProgrammingError) and _UNPREPARED.search(words):
        return "The databases are not prepared here. Run: manage.py prepare"
    if isinstance(error, OperationalError) or _DAMAGED.search(words):
        return f"A database failed: {words}. To see which, and what to do: manage.py doctor"
    return ""


class Command(BaseCommand):
    """Subclasses write options() and work(); work() returns the JSON object, say() prints for people."""

    requires_system_checks: list[str] = []
    suppressed_base_arguments = _OF_DJANGO  # they work, and stand between a reader of --help and what the command is

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
        self.options(parser)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = OneLineParser  # Django names the class itself and asks nobody
        return parser

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
        except (DatabaseError, OSError) as error:
            sentence = _said(error)
            if not self._called_from_command_line or not sentence:
                raise
            self.stderr.write(sentence)
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

    def know(self, doc_ids: Iterable[int] | None) -> None:
        """A number that is no document is a slip, and must not pass for one that has nothing to do."""
        asked = set(doc_ids or ())
        if unknown := sorted(asked - set(Document.objects.filter(pk__in=asked).values_list("pk", flat=True))):
            raise Stop(f"There is no document {unknown[0]}.", WRONG_USE)

    def say(self, line: str) -> None:
        if self.plain:
            self.stdout.write(line)

    def warn(self, line: str) -> None:
        self.stderr.write(line)
