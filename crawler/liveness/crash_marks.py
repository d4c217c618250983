"""Owns: pages that brought a crawler process down: who is to blame is counted before anything is fetched again.

A page is blamed when its bytes were being unpacked as the process died; every other death was nobody's fault but
the machine's. Its message carries the count; after the third it is quarantined (design rule 9). Pages that hurt
whoever reads them are the parsers' matter. Called by: the instance.
"""

import struct
from pathlib import Path

from django.conf import settings
from django.db.models import F

from ..fetch import crash_note
from ..models import Excursion, Instance, Message
from . import instances

_MARK = struct.Struct(">Q32s")  # excursion and key of a message


def mark(excursion_id: int, url_key: bytes) -> bytes:
    return _MARK.pack(excursion_id, url_key)


def _folder() -> Path:
    return Path(settings.VAR) / "notes"


def watch(row: Instance) -> None:
    """Count what dead processes left behind, then keep notes of this one."""
    folder = _folder()
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        _count(path)
    crash_note.keep_in(folder / str(row.pk))


def forget(row: Instance) -> None:
    """An orderly end leaves nothing."""
    (_folder() / str(row.pk)).unlink(missing_ok=True)


def _count(path: Path) -> None:
    owner = Instance.objects.filter(pk=int(path.name)).first() if path.name.isdigit() else None
    if owner is not None and owner.alive and not instances.gone(owner):
        return
    taken = path.with_name(f"{path.name}.counted")
    try:
        path.rename(taken)  # of two processes that start at once, one counts
        left = crash_note.left_in(taken)
        taken.unlink()
    except FileNotFoundError:
        return
    if owner is not None and len(left) > _MARK.size - 32:
        excursion_id, key = _MARK.unpack(left.ljust(_MARK.size, b"\0"))
        message = Message.objects.filter(excursion_id=excursion_id, url_key=key)
        if not message.update(attempts=F("attempts") + 1):
            # Found and fetched within one batch: its document is served with care, so that the next one is counted.
            Excursion.objects.filter(pk=excursion_id, crashes=0).update(crashes=1)
