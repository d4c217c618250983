"""What the ledger of an ended excursion sums up to, by site, by kind of error, by exclude URL: reports read these."""

from django.db import models

from clearinghouse.columns import DigestField

from .runs import Excursion


class HostFigure(models.Model):
    """One site in one excursion."""

    excursion = models.ForeignKey(Excursion, models.CASCADE, related_name="host_figures", db_index=False)
    doc_id = models.BigIntegerField()
    ended_at = models.DateTimeField()
    host = models.CharField(max_length=255)
    new = models.IntegerField(default=0)
    changed = models.IntegerField(default=0)
    unchanged = models.IntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    robots = models.IntegerField(default=0)
    outside = models.IntegerField(default=0)
    excluded = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    waiting = models.IntegerField(default=0)  # left when the run was stopped or met a limit
    median_ms = models.IntegerField(default=0)

    class Meta:
        db_table = "host_figure"
        constraints = [models.UniqueConstraint(fields=["excursion", "host"], name="host_figure_unique")]
        indexes = [models.Index(fields=["ended_at", "doc_id"], name="host_figure_period")]


class FolderFigure(models.Model):
    """What became of the addresses right in one folder in one excursion; its folders below have rows of their own.

    Each site has a row more, with the sums of all its folders and the time of its answers.
    """

    excursion = models.ForeignKey(Excursion, models.CASCADE, related_name="folder_figures", db_index=False)
    run_id = models.BigIntegerField()
    key = DigestField()
    folder = models.TextField()
    whole = models.BooleanField(default=False)  # the sums of a site
    found = models.IntegerField(default=0)
    new = models.IntegerField(default=0)
    changed = models.IntegerField(default=0)
    unchanged = models.IntegerField(default=0)
    redirected = models.IntegerField(default=0)
    robots = models.IntegerField(default=0)
    outside = models.IntegerField(default=0)
    excluded = models.IntegerField(default=0)
    other = models.IntegerField(default=0)
    left = models.IntegerField(default=0)
    errors = models.IntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    median_ms = models.IntegerField(default=0)
    answers = models.IntegerField(default=0)  # behind the median

    class Meta:
        db_table = "folder_figure"
        constraints = [models.UniqueConstraint(fields=["excursion", "whole", "key"], name="folder_figure_unique")]
        indexes = [models.Index(fields=["run_id", "whole"], name="folder_figure_run")]


class ErrorGroup(models.Model):
    """Failures of one kind, site and shape of path in one excursion."""

    excursion = models.ForeignKey(Excursion, models.CASCADE, related_name="error_groups", db_index=False)
    doc_id = models.BigIntegerField()
    run_id = models.BigIntegerField()
    ended_at = models.DateTimeField()
    key = DigestField()
    reason = models.CharField(max_length=24)
    site = models.CharField(max_length=300)
    pattern = models.CharField(max_length=300)
    status = models.SmallIntegerField(default=0)  # of the first of them
    count = models.IntegerField()
    example = models.TextField()

    class Meta:
        db_table = "error_group"
        constraints = [models.UniqueConstraint(fields=["excursion", "key"], name="error_group_unique")]
        indexes = [
            models.Index(fields=["ended_at", "doc_id"], name="error_group_period"),
            models.Index(fields=["run_id"], name="error_group_run"),
        ]


class ErrorMark(models.Model):
    """A person knows this error of this document, or says that it is solved. What comes again later is new again."""

    class State(models.TextChoices):
        KNOWN = "known", "Known"
        SOLVED = "solved", "Solved"

    doc_id = models.BigIntegerField()
    key = DigestField()
    state = models.CharField(max_length=10, choices=State.choices)
    run_id = models.BigIntegerField()  # the last run that had it when it was marked
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        db_table = "error_mark"
        constraints = [models.UniqueConstraint(fields=["doc_id", "key"], name="error_mark_unique")]


class ExcludeHit(models.Model):
    """How many addresses an exclude URL stopped in one excursion."""

    excursion = models.ForeignKey(Excursion, models.CASCADE, related_name="exclude_hits", db_index=False)
    doc_id = models.BigIntegerField(db_index=True)
    run_id = models.BigIntegerField()
    pattern = models.CharField(max_length=2048)
    count = models.IntegerField()

    class Meta:
        db_table = "exclude_hit"
        indexes = [models.Index(fields=["excursion"], name="exclude_hit_excursion")]
