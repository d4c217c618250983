"""Crawls that start by themselves, the hours in which none may run, and the runs held back by them."""

from django.db import models

from .runs import Run


class Every(models.TextChoices):
    ONCE = "once", "Once"
    DAY = "day", "Every day"
    WEEK = "week", "Every week"
    MONTH = "month", "Every month"


class Schedule(models.Model):
    """A launch to come, once or again and again. The clock it follows is that of `zone`; `next_at` is derived."""

    what = models.CharField(max_length=10, default="all")  # all, project, view, chosen, point
    project_id = models.BigIntegerField(null=True)
    view_id = models.BigIntegerField(null=True)  # a saved view of who made it
    doc_ids = models.JSONField(default=list)
    point_id = models.BigIntegerField(null=True)  # one crawl point only
    only = models.CharField(max_length=10, default="", blank=True)  # failed, new; empty: everything
    speed = models.CharField(max_length=10, default="polite")
    max_seconds = models.IntegerField(default=0)  # 0: no limit
    max_pages = models.IntegerField(default=0)  # of each crawl point; 0: its own
    propagate_after = models.BooleanField(default=False)
    note = models.CharField(max_length=500, default="", blank=True)
    label = models.CharField(max_length=40, default="", blank=True)  # of the runs it launches
    every = models.CharField(max_length=10, choices=Every.choices, default=Every.ONCE)
    weekdays = models.JSONField(default=list)  # 0 is Monday
    monthday = models.SmallIntegerField(default=1)  # the last day, where a month is shorter
    at = models.CharField(max_length=5, default="02:00")  # local time
    zone = models.CharField(max_length=64, default="UTC")
    next_at = models.DateTimeField(null=True, db_index=True)  # null: nothing to come
    active = models.BooleanField(default=True)
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    last_at = models.DateTimeField(null=True)
    last_run_id = models.BigIntegerField(null=True)
    last_said = models.CharField(max_length=500, default="", blank=True)  # why nothing was launched

    class Meta:
        db_table = "schedule"


class QuietWeek(models.Model):
    """One row: the hours of a week in which no crawl runs, and whether all crawls are paused."""

    hours = models.CharField(max_length=168, default="0" * 168)  # Monday 0:00 first; 1 is quiet
    paused_by = models.CharField(max_length=150, default="", blank=True)  # empty: crawls are not paused
    paused_at = models.DateTimeField(null=True)
    note = models.CharField(max_length=500, default="", blank=True)
    changed_by = models.CharField(max_length=150, default="", blank=True)
    changed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "quiet_week"


class Hold(models.Model):
    """A run that quiet hours or the pause of all crawls hold back. Who resumes it meanwhile has the last word."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="hold")
    reason = models.CharField(max_length=10)  # quiet, pause
    at = models.DateTimeField()

    class Meta:
        db_table = "run_hold"
