"""The ledger: one row per (run, document, URL) with what became of it and why."""

from django.db import models

from clearinghouse.columns import DigestField

from .runs import Excursion


class LedgerEntry(models.Model):
    id = models.BigAutoField(primary_key=True)
    excursion = models.ForeignKey(Excursion, models.CASCADE, related_name="ledger", db_index=False)
    doc_id = models.BigIntegerField()
    url_key = DigestField()
    url = models.TextField()
    outcome = models.CharField(max_length=10)
    reason = models.CharField(max_length=24, default="")
    detail = models.CharField(max_length=500, default="")
    status = models.SmallIntegerField(default=0)
    depth = models.IntegerField(default=0)
    hop = models.SmallIntegerField(default=0)
    crawl_point_id = models.BigIntegerField(null=True)
    found_on = DigestField(null=True)
    redirect_url = models.TextField(default="")
    version_id = models.BigIntegerField(null=True)
    previous_version_id = models.BigIntegerField(null=True)
    backlinks = models.IntegerField(
        default=0, db_default=0
    )  # pages of this run that link here, counted when the excursion ends
    size = models.BigIntegerField(default=0)
    milliseconds = models.IntegerField(default=0)
    taken = models.BooleanField(default=False, db_default=False)  # it stood in the queue: counted by depth
    at = models.DateTimeField()

    class Meta:
        db_table = "ledger"
        constraints = [models.UniqueConstraint(fields=["excursion", "url_key"], name="ledger_unique")]
        indexes = [
            models.Index(fields=["excursion", "outcome", "reason"], name="ledger_reason"),
            models.Index(fields=["doc_id", "url_key", "id"], name="ledger_history"),
        ]
