"""The keys of the house, the stored passwords they open, and who else may read the state folder."""

import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from clearinghouse import env
from clearinghouse.operations import private_files
from clearinghouse.operations.health import database_check
from clearinghouse.vault.sealing import CannotUnseal, check_keys, keys_file, sealed_with_newest_key
from clearinghouse.web.plurals import plural
from crawlpoints.models import CrawlPoint
from crawlpoints.queries import password_of

from .types import OK, TROUBLE, WARNING, DoctorLine

KEY_FILES = ("secret.key", "credential.keys")
_PART = "Passwords of sites"
_NAMED = 10


def passwords() -> Iterator[DoctorLine]:
    """Every stored password is opened once, and forgotten; deleted crawl points count, because they can be restored."""
    check_keys()
    found, lost = Counter[str](), []
    rows = CrawlPoint.everything.exclude(password=None).exclude(password="").order_by("pk")
    for point in rows.iterator(500):
        try:
            password_of(point)
        except CannotUnseal:
            lost.append(point.pk)
            continue
        found["newest" if sealed_with_newest_key(point.password or "") else "older"] += 1
    if lost:
        named = ", ".join(map(str, lost[:_NAMED])) + (" …" if len(lost) > _NAMED else "")
        say = f"{plural(len(lost), 'password')} cannot be opened (crawl points {named})"
        yield DoctorLine(
            _PART, TROUBLE, say, "put their key back into CLEARINGHOUSE_CREDENTIAL_KEYS, or enter them again"
        )
    if found["older"]:
        say = f"{plural(found['older'], 'password is,passwords are')} sealed with an older key"
        yield DoctorLine(_PART, WARNING, say, "run manage.py rotate_keys, then remove the old key")
    if not lost and not found["older"]:
        yield DoctorLine(_PART, OK, f"{plural(found['newest'], 'password')} stored, all open with the newest key")


def files() -> Iterator[DoctorLine]:
    wrong = list(_too_open())
    yield from wrong
    if not wrong:
        said = f"{env.var().resolve()}: databases, keys, logs and sockets are opened by their owner only"
        yield DoctorLine("State folder", OK, said)


def _too_open() -> Iterator[DoctorLine]:
    """Also what lies elsewhere: databases, the file of the keys. Sockets elsewhere lie in a folder that is shut."""
    folder, keys = env.var().resolve(), keys_file()
    elsewhere = [path for path in (*_database_files(), keys) if path and path.parent != folder]
    for path in private_files.open_ones(folder, elsewhere):
        said = f"other accounts of this machine may use it ({stat.S_IMODE(path.stat().st_mode):o})"
        level = TROUBLE if path.name in KEY_FILES or path == keys else WARNING
        yield DoctorLine(f"File {path.name}", level, said, f"chmod go-rwx {path}")


def _database_files() -> Iterator[Path]:
    for alias in database_check.NAMES:
        if path := database_check.file_of(alias):
            yield from (path.with_name(path.name + ending) for ending in ("", "-wal", "-shm", "-journal"))
