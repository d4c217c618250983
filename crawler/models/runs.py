"""Runs (one launch), excursions (one document's crawl inside a run), events (what happened, for the log)."""

from django.db import models


class State(models.TextChoices):
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    INTERRUPTED = "interrupted", "Interrupted"
    STOPPING = "stopping", "Stopping"
    FINISHED = "finished", "Finished"
    FINISHED_AT_LIMIT = "finished_at_limit", "Finished at limit"
    STOPPED = "stopped", "Stopped"
    CANCELLED = "cancelled", "Cancelled"
    FAILED = "failed", "Failed"


OPEN_STATES = (State.WAITING, State.RUNNING, State.PAUSED, State.INTERRUPTED, State.STOPPING)

BY_PEOPLE = (State.STOPPED, State.CANCELLED)  # ends that somebody asked for: no fault, and nothing to repair

# The order of every list that is sorted by state: what moves, what needs somebody, what waits, then how it ended.
STATE_ORDER = (
    State.RUNNING, State.PAUSED, State.INTERRUPTED, State.STOPPING, State.FAILED, State.WAITING, State.CANCELLED,
    State.STOPPED, State.FINISHED_AT_LIMIT, State.FINISHED,
)  # fmt: skip

# What the label of an end does not say.
ENDED_WORDS = {
    State.STOPPED: "Stopped (kept)",
    State.CANCELLED: "Cancelled (discarded)",
    State.FAILED: "Failed (a fault of ours)",
}


_CUT_OFF = {"run_stopped", "run_cancelled"}  # reasons of what a person had left undone


class Run(models.Model):
    """One launch over some or all documents. Its counts are the sums over its excursions."""

    state = models.CharField(max_length=20, choices=State.choices, default=State.WAITING, db_index=True)
    control = models.CharField(max_length=10, default="", blank=True)  # what was asked: pause, stop, cancel
    speed = models.CharField(max_length=10, default="polite")
    ignore_robots = models.BooleanField(default=False)
    requested_by = models.CharField(max_length=150)
    origin = models.CharField(max_length=10, default="button")  # button, command, schedule, preview
    note = models.CharField(max_length=500, default="", blank=True)
    label = models.CharField(max_length=40, default="", blank=True, db_index=True)  # by which people find it again
    propagate_after = models.BooleanField(default=False)
    max_seconds = models.IntegerField(default=0)  # 0: no limit
    max_bytes = models.BigIntegerField(default=0)
    left_out = models.JSONField(default=list)  # documents that were in another unfinished run at launch
    # What else held: {"version": …, "speed": …, "pause": …, "connections": …, "max_pages": …}
    used = models.JSONField(default=dict)
    initialized = models.BooleanField(default=False)
    # A run of the command `crawl` gets no tickets while this process lives.
    driver = models.ForeignKey("Instance", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "run"

    def __str__(self) -> str:
        return f"Run {self.pk}"


class Excursion(models.Model):
    """One document's crawl in a run: its message queue, its snapshot of the settings, its counters."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="excursions")
    doc_id = models.BigIntegerField()
    strand = models.CharField(max_length=10, default="web", db_default="web")  # a name of crawler/engine/strands.py
    title = models.CharField(max_length=255)
    project = models.CharField(max_length=100, default="", blank=True)
    state = models.CharField(max_length=20, choices=State.choices, default=State.WAITING)
    control = models.CharField(max_length=10, default="", blank=True)
    unfinished = models.BooleanField(default=True)
    opened = models.BooleanField(default=False, db_default=False)  # its queue stands: instances may claim it
    # Less than the whole document was asked for: what it did not meet says nothing. failed, new, point; empty: whole
    part = models.CharField(max_length=10, default="", blank=True)
    snapshot = models.JSONField(default=dict)  # values.Snapshot as of the launch; never a password
    found = models.IntegerField(default=0)
    queued = models.IntegerField(default=0)
    crawled = models.IntegerField(default=0)
    unchanged = models.IntegerField(default=0)
    redirected = models.IntegerField(default=0)
    skipped = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    tallies = models.JSONField(default=dict)  # {"reason": {...}, "depth": {...}, "status": {...}, "point": {...}}
    derived_to = models.BigIntegerField(default=0)  # how far links were counted, for a resumed ending
    # Somebody decided that its results count nowhere: not published, and no yardstick for other crawls.
    left_out_reason = models.CharField(max_length=500, default="", db_default="", blank=True)
    left_out_by = models.CharField(max_length=150, default="", db_default="", blank=True)
    left_out_at = models.DateTimeField(null=True)
    error = models.TextField(default="", blank=True)  # traceback of a fault of ours
    crashes = models.SmallIntegerField(default=0)  # faults of ours that came while it was served
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "excursion"
        constraints = [
            models.UniqueConstraint(fields=["run", "doc_id", "strand"], name="excursion_unique"),
            models.UniqueConstraint(
                fields=["doc_id", "strand"],
                condition=models.Q(unfinished=True),
                name="excursion_one_unfinished_per_strand",
            ),
        ]
        indexes = [
            models.Index(fields=["state"], name="excursion_state"),
            models.Index(fields=["doc_id", "id"], name="excursion_history"),
        ]

    def __str__(self) -> str:
        return f"{self.title} in run {self.run_id}"

    limits = ""  # which were met, in words, where a query read it
    left = 0  # addresses that its early end left in the queue, where a query read it

    @property
    def word(self) -> str:
        """The state in words, where the label does not say all."""
        if self.left_out_at:
            return f"Left out ({State(self.state).label.lower()})"
        if self.state == State.RUNNING and self.control == "pause":
            return "Pausing"
        if self.state == State.PAUSED and self.control == "pause":
            return "Paused (this document only)"
        if self.state == State.INTERRUPTED:
            return "Interrupted, resuming"
        if self.state == State.STOPPING and not _CUT_OFF & self.tallies.get("reason", {}).keys():
            return "Finishing"
        if self.state == State.FINISHED_AT_LIMIT and self.limits:
            return f"Finished at limit ({self.limits})"
        return ENDED_WORDS.get(State(self.state), "")

    @property
    def queue_name(self) -> str:
        return f"run-{self.run_id}-doc-{self.doc_id}"


class Event(models.Model):
    """The log of a run, newest last."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="events")
    doc_id = models.BigIntegerField(null=True)
    at = models.DateTimeField()
    kind = models.CharField(max_length=30)
    text = models.CharField(max_length=500)

    class Meta:
        db_table = "run_event"
