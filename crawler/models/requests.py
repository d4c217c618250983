"""Crawl requests: who may not launch asks for a crawl, an administrator answers."""

from django.db import models


class CrawlRequest(models.Model):
    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        LAUNCHED = "launched", "Launched"
        PLANNED = "planned", "Planned"
        DECLINED = "declined", "Declined"

    doc_id = models.BigIntegerField(db_index=True)
    title = models.CharField(max_length=255)
    note = models.CharField(max_length=500, default="", blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING, db_index=True)
    asked_by = models.CharField(max_length=150)
    asked_at = models.DateTimeField()
    answer = models.CharField(max_length=500, default="", blank=True)
    answered_by = models.CharField(max_length=150, default="", blank=True)
    answered_at = models.DateTimeField(null=True)
    run_id = models.BigIntegerField(null=True)
    # One waiting request for a document: the key is empty once it is answered.
    open_for = models.BigIntegerField(null=True)

    class Meta:
        db_table = "crawl_request"
        constraints = [
            models.UniqueConstraint(
                fields=["open_for"], condition=models.Q(open_for__isnull=False), name="crawl_request_open"
            )
        ]


class TaskClaim(models.Model):
    """Who looks after a task of the In Tray. The name of a task is its kind and the number of its thing."""

    task = models.CharField(max_length=60, unique=True)
    person = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        db_table = "task_claim"
