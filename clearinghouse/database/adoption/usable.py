"""Owns: whether a database can be used at all, in one sentence a person can act on. Changes nothing.

Called by: `prepare`, `crawl`, `tick`, the RQ workers as they start; doctor may ask the same.
"""

import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

from django.db import Error, connections

from clearinghouse.web.plurals import plural

from .. import full_disk

# A look at the whole file; a large one is looked at for this long at each start, `doctor` takes its time.
QUICK_SECONDS = 0.5
_HEADER = b"SQLite format 3\0"
LEFT_ALONE = "it was left as it is: restore it from a backup, or move it away to start again from nothing"


class Unusable(Exception):
    """The database cannot be used; the sentence says which, why, and, after the last semicolon, what to do."""

    def __init__(self, why: str, do: str) -> None:
        super().__init__(f"{why}; {do}")
        self.why, self.do = why, do


def check(alias: str, *, seconds: float = QUICK_SECONDS) -> None:
    """Raises Unusable for a file or folder that cannot be written, a damaged file, a server that does not answer."""
    connection: Any = connections[alias]
    if connection.vendor == "sqlite" and not connection.is_in_memory_db():
        check_file(alias, Path(connection.settings_dict["NAME"]), seconds=seconds)
    try:
        connection.ensure_connection()
    except Error as error:
        why = f"{alias}: cannot connect to {_place(connection)}: {_first_line(error)}"
        raise Unusable(why, "start the database server, or check its address and rights") from error


def unusable_files(*aliases: str) -> str:
    """Why a process must not begin to work on these databases, or nothing. It would fail later, with less to say."""
    for alias in aliases:
        connection: Any = connections[alias]
        if connection.vendor == "sqlite" and not connection.is_in_memory_db():
            try:
                check_file(alias, Path(connection.settings_dict["NAME"]))
            except Unusable as error:
                return str(error)
    return ""


def check_file(alias: str, path: Path, *, seconds: float = QUICK_SECONDS) -> None:
    """The same for a file of SQLite; one that does not exist yet is fine."""
    _check_folder(alias, path)
    if path.exists():
        _check_head(alias, path)
        _check_content(alias, path, seconds)


def _check_folder(alias: str, path: Path) -> None:
    folder = path.parent
    if not os.path.isdir(folder):
        raise Unusable(
            f"{alias}: the folder {folder} does not exist or cannot be entered", "make it or change the address"
        )
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=True) or _is_read_only(folder):
        why = f"{alias}: the folder {folder} cannot be written by this user, and SQLite writes beside {path.name}"
        raise Unusable(why, "give this user the right to write there")


def _is_read_only(folder: Path) -> bool:
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _check_head(alias: str, path: Path) -> None:
    if not path.is_file():
        raise Unusable(f"{alias}: {path} is not a file", "change the address")
    try:
        with path.open("r+b") as file:
            head = file.read(len(_HEADER))
    except OSError as error:
        why = f"{alias}: {path} cannot be read and written by this user ({error.strerror})"
        raise Unusable(why, "give this user the right to do both") from error
    if head and head != _HEADER:
        raise Unusable(f"{alias}: {path} is not an SQLite database, or its beginning is damaged", LEFT_ALONE)


def _check_content(alias: str, path: Path, seconds: float) -> None:
    connection = sqlite3.connect(path, timeout=20)
    alarm = threading.Timer(seconds, connection.interrupt)
    alarm.start()
    try:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        found = _first_line(error)
        if "interrupted" not in found:  # says nothing about the file: it may be whole
            raise Unusable(f"{alias}: {path} cannot be read ({found})", _about_the_disk(path.parent)) from error
    except sqlite3.DatabaseError as error:
        found = str(error)
    finally:
        alarm.cancel()
        alarm.join()
        connection.close()
    if "interrupted" in found:
        return
    if found != "ok":
        raise Unusable(f"{alias}: {path} is damaged ({_first_line(found)})", LEFT_ALONE)


def _about_the_disk(folder: Path) -> str:
    if (free := shutil.disk_usage(folder).free) < full_disk.NEARLY_FULL:
        return f"the disk of {folder} is full ({plural(free, 'byte is,bytes are')} free): make room, nothing is lost"
    return "check its disk, and which program has locked it"


def _place(connection: Any) -> str:
    told = connection.settings_dict
    if connection.vendor == "sqlite":
        return str(told["NAME"])
    where = told["HOST"] or told["OPTIONS"].get("host") or "this machine"
    return f"{told['NAME']} on {where}"


def _first_line(error: object) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
