"""Owns: that what we keep in files is read by our own account only: the umask, what lay open before, what lies open.

A folder which its group may write is somebody's decision: its files are closed to all others, not to the group.
Does not: touch what is not ours, or what lies outside the VAR folder; the doctor names that.
Called by: settings and the demo site (each process of ours), the command prepare, the doctor.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

UMASK = 0o077
# What processes of ours keep in VAR. Static files are for everybody; what somebody else put there is theirs.
NAMES = (
    "*.sqlite3", "*.sqlite3-*", "*.sqlite3.restoring", "secret.key*", "credential.keys*", "demo-sign-ins", "notes",
    "redis", "redis.conf", "redis.sock", "serve.lock", "search-use.*", "before-restore*",
)  # fmt: skip


def close_new_files() -> None:
    """From now on, whatever this process and its children make."""
    os.umask(UMASK)


def close_existing(folder: Path) -> list[str]:
    """One sentence for each file and folder of ours that others might have opened, and cannot any more."""
    closed = []
    for path in _with_folder(folder):
        wrong = open_bits(path, folder)
        if wrong and path.lstat().st_uid == os.geteuid():
            before = _mode(path)
            path.chmod(before & ~wrong)
            closed.append(f"{path.name} could be opened by other accounts of this machine ({before:o}): closed")
    return closed


def open_ones(folder: Path, elsewhere: Iterable[Path] = ()) -> Iterator[Path]:
    """What other accounts may open now: of the VAR folder, and of these files wherever they lie."""
    for path in (*_with_folder(folder), *elsewhere):
        if path.exists() and open_bits(path, folder if folder in (path, path.parent) else path.parent):
            yield path


def open_bits(path: Path, folder: Path) -> int:
    """The bits of its mode that should not be there."""
    mode, shared = _mode(path), _mode(folder) & stat.S_IWGRP
    wrong = mode & (0o007 if shared else UMASK)
    if path == folder:
        return wrong & 0o066  # who may only pass through it learns no name; a proxy may look for one it knows
    return wrong


def _with_folder(folder: Path) -> Iterator[Path]:
    if not _is_shared_with_strangers(folder):
        yield folder
    yield from (path for path in sorted(folder.iterdir()) if _is_ours(path))


def _is_ours(path: Path) -> bool:
    is_backup = path.is_dir() and (path / "manifest.json").is_file()  # that somebody put here
    return not path.is_symlink() and (is_backup or any(fnmatch(path.name, name) for name in NAMES))


def _is_shared_with_strangers(folder: Path) -> bool:
    """/tmp, or the home of somebody: closing it would close what is not ours."""
    return bool(folder.stat().st_mode & stat.S_ISVTX) or folder.resolve() == Path.home().resolve()


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
