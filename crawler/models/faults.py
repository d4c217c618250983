"""Faults of ours wherever they happen: the web pages, the tick, jobs, propagation. Crawls keep theirs themselves."""

from django.db import models

from clearinghouse.columns import DigestField


class Fault(models.Model):
    """One kind of fault, however often it happened: the place in the code is its key."""

    key = DigestField(unique=True)
    first_at = models.DateTimeField()
    at = models.DateTimeField(db_index=True)  # the last time
    times = models.IntegerField(default=1)
    process = models.CharField(max_length=60)
    sentence = models.CharField(max_length=500)
    trace = models.TextField(default="", blank=True)

    class Meta:
        db_table = "fault"
