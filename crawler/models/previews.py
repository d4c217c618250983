"""Previews: a small crawl of the entries of a dialog, in one row; no page, no ledger line is ever stored for it."""

from django.db import models


class Preview(models.Model):
    doc_id = models.BigIntegerField()
    asked_by = models.CharField(max_length=150)
    asked_at = models.DateTimeField()
    snapshot = models.JSONField(default=dict)  # the settings as they were typed; never a password
    entries = models.JSONField(default=dict)  # the dialog's entries, for Keep these settings; never a password
    point_id = models.BigIntegerField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    stop = models.BooleanField(default=False)
    progress = models.IntegerField(default=0)  # raised with every write: a poll that knows it gets 204
    result = models.JSONField(default=dict)

    class Meta:
        db_table = "preview"
        indexes = [models.Index(fields=["doc_id", "-id"], name="preview_document")]
