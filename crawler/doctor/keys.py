"""The keys of the house, the stored passwords they open, and who else may read the state folder."""

import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from clearinghouse import env
from clearinghouse.health import look
from clearinghouse.secrets.vault import CannotUnseal, check_keys, sealed_with_newest_key
from crawlpoints.models import CrawlPoint
from crawlpoints.queries import password_of

from .values import OK, TROUBLE, WARNING, Line

KEY_FILES = ("secret.key", "credential.keys")
_PART = "Passwords of sites"
_NAMED = 10


def passwords() -> Iterator[Line]:
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
        say = f"{len(lost)} cannot be opened (crawl points {named})"
        yield Line(_PART, TROUBLE, say, "put their key back into CLEARINGHOUSE_CREDENTIAL_KEYS, or enter them again")
    if found["older"]:
        say = f"{found['older']} are sealed with an older key"
        yield Line(_PART, WARNING, say, "run manage.py rotate_keys, then remove the old key")
    if not lost and not found["older"]:
        yield Line(_PART, OK, f"{found['newest']} stored, all open with the newest key")


def files() -> Iterator[Line]:
    wrong = list(_too_open())
    yield from wrong
    if not wrong:
        yield Line("State folder", OK, f"{env.var().resolve()}: keys are readable by their owner only")


def _too_open() -> Iterator[Line]:
    for name in KEY_FILES:
        path = env.var() / name
        if path.exists() and _mode(path) & 0o077:
            yield Line(f"File {name}", TROUBLE, f"others may read it ({_mode(path):o})", f"chmod 600 {path.resolve()}")
    # A development install is one person's; on a server others have accounts, too.
    mask = 0o077 if settings.PRODUCTION else 0o022
    kept = [path for alias in look.NAMES if (path := look.file_of(alias)) and path.exists()]
    for path in (env.var(), *kept):
        if _mode(path) & mask & ~_of_the_group(path):
            said = f"other accounts of this machine may use it ({_mode(path):o})"
            yield Line(f"File {path.name}", WARNING, said, f"chmod go-rwx {path.resolve()}")


def _of_the_group(path: Path) -> int:
    """A folder its group may write is somebody's decision."""
    return 0o070 if path.is_dir() else 0


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
