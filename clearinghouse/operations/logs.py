"""Owns: how a line of the log looks. Does not: decide what is logged. Called by: Django's logging, by the settings.

What sites say ends in logs too: in an address, in the text of an error. No sign of it may begin a line of its own or
speak to the terminal it is read on.
"""

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType

from ..database import full_disk

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_LOGINS = re.compile(r"(?<=://)[^/\s@]+@")
_SECRETS = re.compile(
    r"""(?i)((?:password|passwd|secret|token|api_?key|_pw\w{0,30})["']?\s*[=:]\s*)("[^"]*"|'[^']*'|\S*[^\s,;)])"""
)
_KEYS = re.compile(r"(?i)((?:bearer|basic|negotiate)\s+)[\w.~+/=-]{8,}")
_about: ContextVar[dict[str, object] | None] = ContextVar("about", default=None)


@contextmanager
def about(**known: object) -> Iterator[None]:
    """What is logged inside carries these: the request, the run, the propagation."""
    token = _about.set((_about.get() or {}) | known)
    try:
        yield
    finally:
        _about.reset(token)


def begin_about(**known: object) -> None:
    """The same for all that follows in this thread: Django logs what it answered after every middleware has ended."""
    _about.set(known)


def known() -> dict[str, object]:
    """What the lines of this thread carry now."""
    return dict(_about.get() or {})


class Brief(logging.Filter):
    """What visitors cause at will (a forged host, too many fields) is one line: where our code noticed is no news.

    So is a full disk.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security"):
            record.exc_info = record.exc_text = None
        if record.exc_info and full_disk.is_full(record.exc_info[1]):
            record.msg, record.args = f"{full_disk.SENTENCE} ({record.getMessage()})", ()
            record.exc_info, record.exc_text = None, None
        return True


class OneLine(logging.Formatter):
    """Control signs are written as escapes; a traceback keeps its lines, each set in."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return escaped(without_secrets(super().formatMessage(record)))

    def formatException(self, ei: object) -> str:
        return _set_in(without_secrets(super().formatException(ei)))  # type: ignore[arg-type]

    def formatStack(self, stack_info: str) -> str:
        return _set_in(stack_info)


class OneObject(logging.Formatter):
    """One JSON object a line, in ASCII: time (UTC), level, logger, message, trace, and what it is about."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"time": at, "level": record.levelname, "logger": record.name, "process": record.process}
        told |= (_about.get() or {}) | {"message": without_secrets(record.getMessage())}
        if record.exc_info:
            told["trace"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(told, default=str)


def without_secrets(text: str) -> str:
    """What stands where a password, a key or a token would stand is left out."""
    return _KEYS.sub(r"\1…", _SECRETS.sub(r"\1…", _LOGINS.sub("…@", text)))


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
