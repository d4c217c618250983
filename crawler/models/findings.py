"""What was found wrong with the crawl of a document, and what people decided about it."""

from django.db import models

from .runs import Excursion


class Advice(models.TextChoices):
    PROPAGATE = "propagate", "Propagate"
    REVIEW = "review", "Review"
    AGAIN = "again", "Crawl again"


class Diagnosis(models.Model):
    """An ended excursion whose ledger was looked through; written once, its findings with it."""

    excursion = models.OneToOneField(Excursion, models.CASCADE, primary_key=True, related_name="diagnosis")
    run_id = models.BigIntegerField(db_index=True)
    doc_id = models.BigIntegerField()
    advice = models.CharField(max_length=12, choices=Advice.choices)  # empty: somebody ended it, nothing to advise
    folders = models.BooleanField(default=False)  # whether its folders are counted: very many are not
    new = models.IntegerField(default=0)  # stored pages no crawl before had; told only with its folders
    at = models.DateTimeField()

    class Meta:
        db_table = "diagnosis"


class Finding(models.Model):
    """One sentence about one excursion. `subject` tells several of one rule apart: a crawl point, a parameter."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        ACCEPTED = "accepted", "Accepted"
        SOLVED = "solved", "Solved"

    excursion = models.ForeignKey(Excursion, models.CASCADE, related_name="findings")
    run_id = models.BigIntegerField()
    doc_id = models.BigIntegerField()
    rule = models.CharField(max_length=24)
    subject = models.CharField(max_length=100, default="", blank=True)
    weight = models.SmallIntegerField()  # 3 stops, 2 warns, 1 is worth knowing
    sentence = models.CharField(max_length=500)
    fixes = models.JSONField(default=list)  # findings.values.Fix as JSON
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    note = models.CharField(max_length=500, default="", blank=True)
    decided_by = models.CharField(max_length=150, default="", blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "finding"
        constraints = [models.UniqueConstraint(fields=["excursion", "rule", "subject"], name="finding_unique")]
        indexes = [
            models.Index(fields=["run_id", "state"], name="finding_of_run"),
            models.Index(fields=["doc_id", "rule", "subject"], name="finding_history"),
            models.Index(fields=["state", "doc_id"], name="finding_open"),
        ]
