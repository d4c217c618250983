"""Owns: putting a backup in the place of what is here. What was here is set aside, never overwritten.

Called by: the command restore, which has made sure that nobody works here.
"""

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import connections
from django.utils import timezone

from clearinghouse import env
from clearinghouse.operations.health import database_check
from clearinghouse.vault import sealing
from crawler.liveness import instances
from crawler.models import Instance

from . import manifest, postgres_dump, sqlite_copy
from .manifest import KEYS, ORDER, Manifest

_BESIDE = ("", "-wal", "-shm", "-journal")
_KEY_FILES = {"credential.keys": ("CREDENTIAL_KEYS", "credential_keys"), "secret.key": ("SECRET_KEY", "secret_key")}


class CannotRestore(Exception):
    """Why nothing was changed."""


@dataclass
class Restored:
    taken_at: str
    aside: str = ""  # where what was here lies now; empty: there was nothing
    notes: list[str] = field(default_factory=list)


def check(folder: Path) -> Manifest:
    """Raises CannotRestore for a backup that is damaged, of another kind of database, or of a newer version."""
    try:
        found = manifest.read(folder)
        manifest.verify(folder, found)
    except manifest.Damaged as problem:
        raise CannotRestore(str(problem)) from problem
    for alias in ORDER:
        part, here = found.parts[alias], connections[alias].vendor
        if part.vendor != here:
            raise CannotRestore(f"{alias} was saved from {part.vendor}; the settings here name {here}")
        newer = sorted(set(part.migrations) - database_check.known_migrations(part.migrations))
        if newer:
            raise CannotRestore(f"it was taken by a newer version ({found.product}): {newer[0]} is not known here")
        if (
            part.vendor == "sqlite"
            and (told := sqlite_copy.check(folder / manifest.file_name(alias, "sqlite"))) != "ok"
        ):
            raise CannotRestore(f"{alias} is damaged: {told}")
    if any(part.vendor == "postgresql" for part in found.parts.values()) and (name := postgres_dump.missing_program()):
        raise CannotRestore(f"{name} is not on the PATH of this machine")
    return found


def bring_back(folder: Path, found: Manifest) -> Restored:
    """First the copies beside the places they go to, then all changes of names; a killed restore is done again."""
    connections.close_all()
    now = timezone.localtime().strftime("%Y%m%d-%H%M%S")
    done = Restored(found.taken_at)
    aside = env.var() / f"before-restore-{now}"
    files = [alias for alias in ORDER if found.parts[alias].vendor == "sqlite"]
    for alias in files:
        _beside(folder / manifest.file_name(alias, "sqlite"), _place(alias))
    for alias in files:
        _exchange(_place(alias), aside)
    for alias in ORDER:
        dump = folder / manifest.file_name(alias, found.parts[alias].vendor)
        if alias not in files and postgres_dump.restore(alias, dump, f"before_restore_{now}"):
            done.notes.append(f"{alias}: what was there stays in the schema before_restore_{now}")
    if KEYS in found.parts:
        done.notes += _keys(json.loads((folder / KEYS).read_text()), aside)
    done.aside = str(aside) if aside.exists() else ""
    declare_processes_dead()
    return done


def declare_processes_dead() -> int:
    """The processes of the backup work elsewhere or no more: their queues are free at once."""
    return sum(instances.declare_dead(instance) for instance in Instance.objects.filter(alive=True))


def _place(alias: str) -> Path:
    path = database_check.file_of(alias)
    if path is None:
        raise CannotRestore(f"{alias} is not a file here")
    return path


def _beside(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    waiting = place.with_name(f"{place.name}.restoring")
    shutil.copyfile(source, waiting)
    waiting.chmod(0o600)
    with waiting.open("rb") as file:
        os.fsync(file.fileno())


def _exchange(place: Path, aside: Path) -> None:
    for ending in _BESIDE:  # with its log: the old file alone would lack its last pages
        old = place.with_name(place.name + ending)
        if old.exists():
            aside.mkdir(mode=0o700, exist_ok=True)
            old.rename(aside / old.name)
    place.with_name(f"{place.name}.restoring").replace(place)


def _keys(kept: dict[str, str], aside: Path) -> list[str]:
    """Keys of the VAR folder come back into it; those of the environment are the operator's to set."""
    notes = []
    for name, (setting, part) in _KEY_FILES.items():
        path = env.var() / name
        if env.text(setting):
            if kept[part] != (sealing.keys_text() if setting == "CREDENTIAL_KEYS" else settings.SECRET_KEY):
                notes.append(f"{env.PREFIX}{setting} differs from the backup's; {KEYS} of the backup holds that one")
            continue
        if path.exists() and path.read_text().strip() != kept[part]:
            aside.mkdir(mode=0o700, exist_ok=True)
            path.rename(aside / name)
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(kept[part])
    return notes
