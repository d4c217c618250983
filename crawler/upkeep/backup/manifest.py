"""Owns: what a backup says of itself, and the proof that it is whole. Names of files are ours, never the backup's."""

import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from clearinghouse.database.aliases import BACKUP, DEFAULT, PRIMARY, WEBCRAWL
from clearinghouse.web.plurals import plural

NAME = "manifest.json"
KEYS = "keys.json"
FORMAT = "clearinghouse-backup-1"
# In the order in which they are read: what names comes before what is named.
ORDER = (WEBCRAWL, DEFAULT, PRIMARY, BACKUP)
ENDINGS = {"sqlite": "sqlite3", "postgresql": "dump"}
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LARGEST = 1_000_000


class Damaged(Exception):
    """What lies in the folder is no backup of ours, or not whole; the sentence says what is wrong."""


@dataclass(frozen=True, slots=True)
class BackupPart:
    """One database, or the keys."""

    vendor: str
    size: int
    digest: str
    migrations: tuple[str, ...] = ()  # "app.name" of all that were applied


@dataclass(frozen=True, slots=True)
class Manifest:
    taken_at: str
    product: str  # version
    exact: bool  # whether all databases show one moment, to the row
    parts: dict[str, BackupPart] = field(default_factory=dict)  # alias, or KEYS

    def write(self, folder: Path) -> None:
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1)
        _write(folder / NAME, text.encode())


def file_name(alias: str, vendor: str) -> str:
    return f"{alias}.{ENDINGS[vendor]}"


def read(folder: Path) -> Manifest:
    """Raises Damaged for a folder that is no backup of ours."""
    path = folder / NAME
    if not path.is_file():
        raise Damaged(f"{folder} holds no {NAME}: it is not a backup, or not a finished one")
    try:
        data = json.loads(path.read_bytes()[:_LARGEST])
        if data.get("format") != FORMAT:
            raise Damaged(f"{path} is of the format {str(data.get('format'))[:60]!r}; this version reads {FORMAT}")
        parts = {str(name): _part(row) for name, row in data["parts"].items()}
        manifest = Manifest(str(data["taken_at"]), str(data["product"]), bool(data["exact"]), parts)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Damaged(f"{path} cannot be read") from None
    if unknown := set(manifest.parts) - {*ORDER, KEYS}:
        raise Damaged(f"{path} names {sorted(unknown)[0][:60]!r}, which is not part of this product")
    if missing := set(ORDER) - set(manifest.parts):
        raise Damaged(f"{path} lacks the database {sorted(missing)[0]}")
    return manifest


def _part(row: dict[str, object]) -> BackupPart:
    digest, vendor = str(row["digest"]), str(row["vendor"])
    migrations = row["migrations"]
    if not _DIGEST.fullmatch(digest) or vendor not in {*ENDINGS, ""} or not isinstance(migrations, list):
        raise ValueError("not a part")
    return BackupPart(vendor, int(str(row["size"])), digest, tuple(map(str, migrations)))


def verify(folder: Path, manifest: Manifest) -> None:
    """Raises Damaged unless every file is there with exactly the bytes that were written."""
    for name, part in manifest.parts.items():
        path = folder / (KEYS if name == KEYS else file_name(name, part.vendor))
        if path.is_symlink() or not path.is_file():
            raise Damaged(f"{path} is missing")
        if path.stat().st_size != part.size:
            raise Damaged(f"{path} has {plural(path.stat().st_size, 'byte')}, {part.size:,} were written")
        if digest_of_file(path) != part.digest:
            raise Damaged(f"{path} is damaged: its bytes are not those that were written")


def digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def part_of(path: Path, vendor: str, migrations: tuple[str, ...] = ()) -> BackupPart:
    """The file as it lies on the disk now, for good: an acknowledged backup survives a power cut."""
    path.chmod(0o600)
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return BackupPart(vendor, path.stat().st_size, digest_of_file(path), migrations)


def write_keys(folder: Path, keys: dict[str, str]) -> BackupPart:
    _write(folder / KEYS, json.dumps(keys).encode())
    return part_of(folder / KEYS, "")


def _write(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
