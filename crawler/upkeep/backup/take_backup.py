"""Owns: taking a backup: the moment, the copies, the manifest. A folder without a manifest is none.

Called by: the command backup.
"""

import shutil
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from clearinghouse import __version__
from clearinghouse.operations.health import database_check
from clearinghouse.vault import sealing

from . import manifest, postgres_dump, sqlite_copy
from .manifest import ENDINGS, KEYS, ORDER, BackupPart, Manifest

_SPARE = 1.05  # of the size of the files: what must be free


class CannotTake(Exception):
    """Why no backup was taken; nothing is left behind."""


def commands_for_others(folder: Path) -> list[str]:
    """What a person must run, because this machine cannot: one command for each such database."""
    found = []
    for alias in ORDER:
        vendor, name = connections[alias].vendor, connections[alias].settings_dict["NAME"]
        if vendor == "postgresql" and postgres_dump.missing_program():
            found.append(postgres_dump.in_words(alias, f"{folder}/{manifest.file_name(alias, vendor)}"))
        elif vendor not in ENDINGS:
            found.append(f"BACKUP DATABASE [{name}] TO DISK = N'{alias}.bak' WITH COPY_ONLY, CHECKSUM, INIT")
    return found


def take(folder: Path, *, keys: bool = True) -> Manifest:
    """A backup in this folder, which must not exist or be empty. Raises CannotTake."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CannotTake(f"{folder} exists already; a backup goes into a folder of its own")
    _check_databases(folder)
    partial = folder.with_name(f"{folder.name}.partial")
    _remove_unfinished(partial)
    try:
        partial.mkdir(parents=True, mode=0o700)
        made = _take(partial, keys=keys)
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
    except (sqlite_copy.FileHeld, postgres_dump.DumpFailed, sqlite3.Error) as error:
        raise CannotTake(str(error)) from error
    except OSError as error:
        raise CannotTake(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    else:
        return made
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _remove_unfinished(partial: Path) -> None:
    """What a backup that was killed left; a folder that holds anything else is somebody's."""
    if not partial.exists():
        return
    ours = {manifest.file_name(alias, vendor) for alias in ORDER for vendor in ENDINGS} | {KEYS, manifest.NAME}
    if not partial.is_dir() or {path.name.removesuffix("-journal") for path in partial.iterdir()} - ours:
        raise CannotTake(f"{partial} exists already; remove it")
    shutil.rmtree(partial)


def _check_databases(folder: Path) -> None:
    for alias in ORDER:
        path = database_check.file_of(alias)
        if path is not None and not path.exists():
            raise CannotTake(f"There is no file {path}; run manage.py prepare")
    size = sum(path.stat().st_size for alias in ORDER if (path := database_check.file_of(alias)))
    near = next(above for above in folder.resolve().parents if above.exists())
    free = shutil.disk_usage(near).free
    if free < size * _SPARE:
        raise CannotTake(f"{near} has {free / 1e6:,.1f} MB free; the databases have {size / 1e6:,.1f} MB")


def _take(folder: Path, *, keys: bool) -> Manifest:
    parts: dict[str, BackupPart] = {}
    with ExitStack() as open_now:
        moments = _moments(open_now)
        at = timezone.now().isoformat(timespec="seconds")
        for alias, moment in moments.items():
            parts[alias] = _copy(alias, moment, folder)
    if keys:
        kept = {"credential_keys": sealing.keys_text(), "secret_key": settings.SECRET_KEY}
        parts[KEYS] = manifest.write_keys(folder, kept)
    exact = all(database_check.file_of(alias) for alias in ORDER)
    made = Manifest(at, __version__, exact, parts)
    made.write(folder)
    return made


def _moments(open_now: ExitStack) -> dict[str, Any]:
    """For each database what goes on seeing it as it is now: a reader, or the name of a snapshot."""
    paths = [path for alias in ORDER if (path := database_check.file_of(alias))]
    moments: dict[str, Any] = {}
    with sqlite_copy.held_still(paths):
        for alias in ORDER:
            if path := database_check.file_of(alias):
                moments[alias] = open_now.enter_context(closing(sqlite_copy.as_of_now(path)))
            else:
                connection, moments[alias] = postgres_dump.begin_snapshot(alias)
                open_now.callback(connection.close)
    return moments


def _copy(alias: str, moment: Any, folder: Path) -> BackupPart:
    vendor = connections[alias].vendor
    path = folder / manifest.file_name(alias, vendor)
    if vendor == "sqlite":
        sqlite_copy.copy(moment, path)
    else:
        postgres_dump.dump(alias, moment, path)
    return manifest.part_of(path, vendor, _migrations(alias))


def _migrations(alias: str) -> tuple[str, ...]:
    applied = MigrationRecorder(connections[alias]).applied_migrations()
    return tuple(sorted(f"{app}.{name}" for app, name in applied))
