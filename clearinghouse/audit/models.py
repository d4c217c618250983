"""Append-only: who did what to which thing, before and after. Never holds a password."""

from typing import Any

from django.db import models


class AppendOnly(models.QuerySet):
    """Nothing leads from here to a changed or deleted entry (threat T34)."""

    def update(self, **values: Any) -> int:
        raise TypeError("An audit entry is never changed")

    def _update(self, values: Any) -> int:
        raise TypeError("An audit entry is never changed")  # save() of a stored row ends here

    def bulk_update(self, *args: Any, **kwargs: Any) -> int:
        raise TypeError("An audit entry is never changed")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise TypeError("An audit entry is never deleted")

    def _raw_delete(self, using: str | None) -> int:
        raise TypeError("An audit entry is never deleted")

    def update_or_create(self, *args: Any, **kwargs: Any) -> tuple[Any, bool]:
        raise TypeError("An audit entry is never changed")

    def bulk_create(self, objs: Any, *args: Any, **kwargs: Any) -> list[Any]:
        if kwargs.get("update_conflicts"):
            raise TypeError("An audit entry is never changed")
        return super().bulk_create(objs, *args, **kwargs)


class Entry(models.Model):
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.CharField(max_length=150)
    action = models.CharField(max_length=40)
    kind = models.CharField(max_length=40)
    thing_id = models.BigIntegerField(null=True)
    document_id = models.BigIntegerField(null=True, db_index=True)
    sentence = models.CharField(max_length=500)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)

    objects = AppendOnly.as_manager()

    class Meta:
        base_manager_name = "objects"  # also what Django uses behind save() and relations
        db_table = "clearinghouse_audit"
        ordering = ["-id"]
        indexes = [models.Index(fields=["kind", "thing_id"], name="audit_thing")]
        verbose_name_plural = "entries"

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor}: {self.sentence}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError("An audit entry is never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise TypeError("An audit entry is never deleted")
