"""Append-only: who did what to which thing, before and after. Never holds a password."""

from typing import Any

from django.db import models


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

    class Meta:
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
