"""Owns: a new key for the stored passwords of sites, without a moment in which one cannot be opened.

First the new key stands in front of the old ones, then every password is sealed anew, and an old key goes only when
nothing needs it any more. Killed anywhere, it is done again and goes on: what is sealed with the newest key is left.
Does not: know who asked. Called by: the command rotate_keys.
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from clearinghouse.database.aliases import DEFAULT
from clearinghouse.database.records import next_version
from clearinghouse.vault import sealing
from crawlpoints.models import CrawlPoint
from crawlpoints.queries import password_of

_BATCH = 100  # rows in one short transaction


@dataclass
class Rotated:
    added: str = ""  # the id of a new key
    sealed: int = 0
    removed: list[str] = field(default_factory=list)  # ids of keys nothing needed any more
    unneeded: list[str] = field(default_factory=list)  # the same, where a person must remove them
    shut: list[int] = field(default_factory=list)  # crawl points whose password no key opens


def rotate() -> Rotated:
    """All of it; where the keys stand in the environment, without their first and last step."""
    done = Rotated()
    in_file = sealing.keys_file() is not None
    if in_file and len(sealing.key_ids()) == 1:  # more: an earlier rotation was not finished
        done.added = add_key()
    done.sealed = sum(seal_anew())
    needed = keys_in_use()
    done.unneeded = [name for name in sealing.key_ids()[1:] if name not in needed]
    done.shut = list(shut())
    if in_file and done.unneeded:
        done.removed, done.unneeded = remove_keys(done.unneeded), []
    return done


@sensitive_variables()
def add_key() -> str:
    """In front of the others, in the file that all processes read; its id."""
    entry = sealing.new_key(timezone.localdate())
    _write_file(f"{entry},{sealing.keys_text()}")
    return entry.partition(":")[0]


@sensitive_variables()
def remove_keys(names: list[str]) -> list[str]:
    entries = [entry.strip() for entry in sealing.keys_text().split(",") if entry.strip()]
    _write_file(",".join(entry for entry in entries if entry.partition(":")[0] not in names))
    return names


def seal_anew() -> Iterator[int]:
    """How many of each batch were sealed with the newest key; a row that changed meanwhile keeps what it was given."""
    last = 0
    while batch := list(_sealed().filter(pk__gt=last).order_by("pk")[:_BATCH]):
        last = batch[-1].pk
        with transaction.atomic(using=DEFAULT):
            yielded = sum(_seal_one(point) for point in batch)
        yield yielded


@sensitive_variables()
def _seal_one(point: CrawlPoint) -> int:
    sealed = point.password or ""
    if not sealing.is_sealed(sealed) or sealing.sealed_with_newest_key(sealed):
        return 0
    try:
        plain = password_of(point)
    except sealing.CannotUnseal:
        return 0
    binding = sealing.binding_of(point.url, point.root, point.auth_type, point.sign_in_url)
    same = CrawlPoint.everything.filter(pk=point.pk, password=sealed)
    # Nobody changed anything but us: who did last, and when, stays as it was.
    return int(same.update(password=sealing.seal(plain, binding), version=next_version(), dirty=F("dirty"),
                           updated_at=F("updated_at"), updated_by=F("updated_by")))  # fmt: skip


def keys_in_use() -> Counter[str]:
    """Key id -> passwords that are sealed with it, those of deleted crawl points too: they can be restored."""
    rows = _sealed().values_list("password", flat=True)
    return Counter(sealing.key_id_of(text) for text in rows.iterator(1000) if text and sealing.is_sealed(text))


def shut() -> Iterator[int]:
    """Crawl points whose password cannot be opened: their row was edited, or their key is gone."""
    for point in _sealed().order_by("pk").iterator(500):
        try:
            password_of(point)
        except sealing.CannotUnseal:
            yield point.pk


def _sealed() -> QuerySet[CrawlPoint]:
    return CrawlPoint.everything.exclude(password=None).exclude(password="")


@sensitive_variables()
def _write_file(text: str) -> None:
    """Whole or not at all, readable by nobody else: a process that reads it meanwhile gets the old one or the new."""
    path = sealing.keys_file() or Path()
    beside = path.with_name(f"{path.name}.new")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
