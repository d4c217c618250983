"""Owns: faults of ours that are logged, kept as rows that administrators read in the error log. The only writer,
but for the steps of the tick that fail now (tick_report).

Bounded: a fault that comes again is counted, and only the newest kinds are kept. Never raises, and keeps no password:
tracebacks have names and lines of code, addresses lose what stands before their @. Does not: decide what is a fault.
Called by: Python's logging (settings.LOGGING), for every line of level ERROR and above.
"""

import logging
import sys
import traceback
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import Error, InterfaceError, OperationalError, connections, transaction
from django.db.models import F
from django.utils import timezone

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.database.digests import digest_of
from clearinghouse.database.full_disk import is_full
from clearinghouse.operations.logs import escaped, without_secrets

MOST = 500
_SENTENCE, _TRACE = 500, 8_000
# What visitors can cause at will is no fault of ours; what the database says cannot be kept in it.
_NOT_OURS = ("django.security",)
_DATABASE_AWAY = (OperationalError, InterfaceError)
_REDIS_AWAY = "could not connect to Redis"  # RQ's own line; nothing is lost, and System status tells of it
_MAY_HAPPEN = (Error, OSError, RuntimeError, ValueError, TypeError, LookupError)


class Keeper(logging.Handler):
    """Writes each line as a row, or counts the row there is."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if not apps.ready or record.name.startswith(_NOT_OURS) or isinstance(error, _DATABASE_AWAY):
            return
        if is_full(error):
            return
        if _REDIS_AWAY in str(record.msg):
            return
        connection = connections[WEBCRAWL]
        silent = connection.connection is None
        try:
            keep(*told(record, error))
        except _MAY_HAPPEN:  # it stands on stderr, too
            return
        finally:
            if silent:
                connection.close()  # a worker that forks must not hand an open connection to its children


def told(record: logging.LogRecord, error: BaseException | None) -> tuple[bytes, str, str]:
    """Key, sentence and traceback of a line of the log. Pure."""
    lines = record.getMessage().strip().splitlines()
    if error is None:  # RQ writes the traceback into the message
        sentence, trace = (lines[-1] if lines else ""), "\n".join(lines[:-1])
        place = record.msg if not record.args else f"{record.msg} {lines[0][-200:] if lines else ''}"
        return digest_of(f"{record.name}\n{place}"), plain(sentence), _plain_lines(trace)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    sentence = f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error))
    key = digest_of(f"{record.name}\n{type(error).__name__}\n{place}")
    return key, plain(f"{lines[0] if lines else record.name}: {sentence}"), _plain_lines(trace)


def plain(text: str) -> str:
    """One line without passwords and signs that move a cursor."""
    return escaped(without_secrets(text))


def _plain_lines(text: str) -> str:
    return "\n".join(plain(line) for line in text.splitlines())[-_TRACE:]


def keep(key: bytes, sentence: str, trace: str) -> None:
    """In a savepoint: a row that cannot be written must not doom the work around it."""
    from ..models import Fault

    now = timezone.now()
    with transaction.atomic(using=WEBCRAWL):
        if Fault.objects.filter(key=key).update(times=F("times") + 1, at=now, sentence=sentence[:_SENTENCE]):
            return
        values: dict[str, Any] = {"first_at": now, "at": now, "process": process(), "trace": trace}
        Fault.objects.create(key=key, sentence=sentence[:_SENTENCE], **values)
        oldest = Fault.objects.order_by("-at", "-pk").values_list("at", flat=True)[MOST : MOST + 1]
        for at in oldest:
            Fault.objects.filter(at__lte=at).delete()


def process() -> str:
    """The command of ours this is, or the program that serves."""
    name = Path(sys.argv[0]).name
    command = sys.argv[1] if name == "manage.py" and len(sys.argv) > 1 else name
    return command[:60] if command.replace("_", "").replace("-", "").replace(".", "").isalnum() else name[:60]
