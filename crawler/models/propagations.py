"""Propagations: every step is a row, so that a killed one continues where it was."""

from django.db import models

from clearinghouse.columns import DigestField


class Propagation(models.Model):
    """Its id is the generation number: never reused."""

    state = models.CharField(max_length=12, default="waiting", db_index=True)  # waiting, working, paused, done, failed
    full = models.BooleanField(default=False)
    include_stopped = models.BooleanField(default=False)
    runs = models.JSONField(null=True)  # of those since the last propagation, the chosen ones; null: all that count
    pause = models.BooleanField(default=False)  # somebody asked it to wait after the step it is in
    targets = models.JSONField(default=list)
    accepted_losses = models.JSONField(default=list)  # documents whose loss a person confirmed
    requested_by = models.CharField(max_length=150)
    error = models.TextField(default="")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "propagation"

    @property
    def generation(self) -> int:
        return self.pk


class Forecast(models.Model):
    """What the next propagation would do to one document on one target, worked out once. `key` says under which
    circumstances: what the document is made of, and what the target shows. Under others it says nothing."""

    doc_id = models.BigIntegerField()
    target = models.CharField(max_length=12)
    key = DigestField()
    live = models.IntegerField()
    after = models.IntegerField()
    added = models.IntegerField()
    changed = models.IntegerField()
    removed = models.IntegerField()
    relinked = models.IntegerField(default=0, db_default=0)  # of those that changed, only what links to them say

    class Meta:
        db_table = "propagation_forecast"
        constraints = [models.UniqueConstraint(fields=["doc_id", "target"], name="propagation_forecast_unique")]


class PropagationStep(models.Model):
    propagation = models.ForeignKey(Propagation, models.CASCADE, related_name="steps")
    number = models.SmallIntegerField()
    name = models.CharField(max_length=20)  # load, index, verify, switch, public_to_backup, public_home, finish
    target = models.CharField(max_length=12, default="")
    state = models.CharField(max_length=12, default="waiting")
    counts = models.JSONField(default=dict)
    error = models.TextField(default="")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "propagation_step"
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["propagation", "number"], name="propagation_step_unique")]
