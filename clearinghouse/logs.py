"""Owns: how a line of the log looks. Does not: decide what is logged. Called by: Django's logging, by the settings.

What sites say ends in logs too: in an address, in the text of an error. No sign of it may begin a line of its own or
speak to the terminal it is read on.
"""

import logging
import re
import sys
from types import TracebackType

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class OneLine(logging.Formatter):
    """Control signs are written as escapes; a traceback keeps its lines, each set in."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return escaped(super().formatMessage(record))

    def formatException(self, ei: object) -> str:
        return _set_in(super().formatException(ei))  # type: ignore[arg-type]

    def formatStack(self, stack_info: str) -> str:
        return _set_in(stack_info)


def log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What ends a process stands in the log like any other fault; Ctrl-C is none."""
    if issubclass(kind, Exception):
        logging.getLogger("uncaught").critical("The process ends by a fault", exc_info=(kind, error, trace))
    else:
        sys.__excepthook__(kind, error, trace)


def escaped(text: str) -> str:
    """The text without anything that moves a cursor, ends a line or turns the direction of reading."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def _set_in(lines: str) -> str:
    return "\n".join(f"    {escaped(line)}" for line in lines.split("\n"))
