"""Owns: the six metacolumns of the seed, nominal delete, the version check, who is acting.

Does not: know any table. Called by: every model in doc_library.

A row is changed only through save() or update() here: both raise `ts`, so that a reader who saved from an
older copy gets StaleRecord instead of overwriting somebody's work. A deleted row stays; `objects` does not see it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

from django.db import models, router, transaction
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

_actor: ContextVar[str] = ContextVar("actor", default="system")
NAME_LENGTH = 150


class StaleRecord(Exception):
    """Somebody saved this row after it was read; show both versions, never overwrite."""


def actor() -> str:
    return _actor.get()


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """Everything saved inside is signed with this name (a user's, or a process's)."""
    token = _actor.set(name[:NAME_LENGTH])
    try:
        yield
    finally:
        _actor.reset(token)


class RecordQuerySet(models.QuerySet):
    def update(self, **values: Any) -> int:
        return super().update(**_stamped(values))

    def delete(self) -> tuple[int, dict[str, int]]:
        """Nominal: the rows stay, restorable."""
        count = self.update(deleted=1)
        return count, {self.model._meta.label: count}

    def restore(self) -> int:
        return self.update(deleted=0)


def _stamped(values: dict[str, Any]) -> dict[str, Any]:
    stamp = {"updated_at": timezone.now(), "updated_by": actor(), "version": next_version(), "dirty": 1}
    return stamp | values


def next_version() -> Any:
    return Coalesce(models.F("version"), 0) + 1


class LiveManager(models.Manager.from_queryset(RecordQuerySet)):
    def get_queryset(self) -> RecordQuerySet:
        return super().get_queryset().exclude(deleted=1)


class Record(models.Model):
    """The metacolumns. Nullable, with defaults in the database: other programs insert into these tables too."""

    deleted = models.SmallIntegerField(db_column="deleted_fl", null=True, default=0, db_default=0, editable=False)
    dirty = models.SmallIntegerField(db_column="dirty_fl", null=True, default=1, db_default=1, editable=False)
    created_at = models.DateTimeField(
        db_column="create_dt", null=True, default=timezone.now, db_default=Now(), editable=False
    )
    updated_at = models.DateTimeField(
        db_column="update_dt", null=True, default=timezone.now, db_default=Now(), editable=False
    )
    updated_by = models.CharField(db_column="update_nm", max_length=NAME_LENGTH, null=True, editable=False)
    version = models.BigIntegerField(db_column="ts", null=True, default=1, db_default=1, editable=False)

    objects = LiveManager()
    everything = models.Manager.from_queryset(RecordQuerySet)()

    class Meta:
        abstract = True
        base_manager_name = "everything"
        default_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.updated_by = actor()
        self.updated_at = timezone.now()
        if not self._state.adding:
            self.dirty = 1
        fields = kwargs.get("update_fields")
        if fields is not None:
            kwargs["update_fields"] = {*fields, "updated_by", "updated_at", "dirty"}
        using = kwargs.get("using") or router.db_for_write(type(self), instance=self)
        doomed = transaction.get_connection(using).needs_rollback
        try:
            super().save(*args, **kwargs)
        except StaleRecord:
            # Django dooms the transaction around a save that raised; here an UPDATE met no row, nothing is half done.
            if not doomed and transaction.get_connection(using).in_atomic_block:
                transaction.set_rollback(False, using=using)
            raise

    def _do_update(
        self, base_qs: Any, using: Any, pk_val: Any, values: Any, update_fields: Any, forced_update: Any
    ) -> bool:
        # Django's own hook for the UPDATE of save(): the only place where the version read can be compared
        # with the version stored, in the same statement.
        expected = self.version
        fresh = (expected or 0) + 1
        version_field = self._meta.get_field("version")
        values = [value for value in values if value[0] is not version_field]
        values.append((version_field, None, fresh))
        same = models.Q(version__isnull=True) if expected is None else models.Q(version=expected)
        if not super()._do_update(base_qs.filter(same), using, pk_val, values, update_fields, forced_update):
            if base_qs.filter(pk=pk_val).exists():
                raise StaleRecord(f"{self._meta.verbose_name} {pk_val} was changed by somebody else")
            return False
        self.version = fresh
        return True

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Nominal delete; restore() brings the row back as it was."""
        self.deleted = 1
        self.save(update_fields=["deleted"])
        return 1, {self._meta.label: 1}

    def restore(self) -> Self:
        self.deleted = 0
        self.save(update_fields=["deleted"])
        return self
