"""Message queues as rows: what is still to be done, who serves which queue, and which processes are alive."""

from django.db import models

from clearinghouse.columns import DigestField

from .runs import Excursion, Run


class Instance(models.Model):
    """A process that works for a run. It lives while its beat moves; every commit of its raises the beat."""

    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="instances")
    kind = models.CharField(max_length=10, default="crawl")
    host = models.CharField(max_length=255)
    boot = models.CharField(max_length=64)
    namespace = models.CharField(max_length=32)
    pid = models.IntegerField()
    pid_started = models.BigIntegerField()
    alive = models.BooleanField(default=True)
    beat = models.BigIntegerField(default=0)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    fetching = models.JSONField(default=dict)  # as Traffic.fetching says it: for screens

    class Meta:
        db_table = "instance"
        indexes = [models.Index(fields=["alive"], name="instance_alive")]


class ActiveQueue(models.Model):
    """The seed's active_queue: the queues being served, and by whom. One row per excursion is the claim."""

    id = models.BigAutoField(primary_key=True, db_column="queue_id")
    name = models.CharField(db_column="queue_nm", max_length=1024)
    # Nullable, because an adopted table has rows of its own program.
    excursion = models.OneToOneField(Excursion, models.CASCADE, related_name="claim", null=True)
    instance = models.ForeignKey(Instance, models.CASCADE, related_name="claims", null=True)
    wanted_by = models.BigIntegerField(null=True)  # an idle instance that was promised this queue
    claimed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "active_queue"


class MessageState(models.IntegerChoices):
    WAITING = 0, "waiting"
    RESERVED = 1, "reserved"  # its place under a maximum is taken; it goes first after a kill
    DONE = 2, "done"  # kept until the queue is deleted: a shorter way may still reach it


class Message(models.Model):
    """One URL of one queue. Done messages stay until the queue is deleted, because depth and hop may still fall."""

    id = models.BigAutoField(primary_key=True)
    excursion = models.ForeignKey(Excursion, models.CASCADE, related_name="messages", db_index=False)
    url_key = DigestField()
    url = models.TextField()
    owner_id = models.BigIntegerField()  # the crawl point that decides how this URL is read
    reach = models.TextField()  # "crawl point:depth:hop …", the minima found so far
    depth = models.IntegerField()  # the smallest depth in reach: the order of the queue
    found_on = DigestField(null=True)
    state = models.SmallIntegerField(choices=MessageState.choices, default=MessageState.WAITING)
    attempts = models.SmallIntegerField(default=0)  # that brought a crawler process down
    not_before = models.FloatField(default=0)  # seconds since 1970; a host that asked to wait

    class Meta:
        db_table = "message"
        constraints = [models.UniqueConstraint(fields=["excursion", "url_key"], name="message_unique")]
        indexes = [models.Index(fields=["excursion", "state", "depth", "id"], name="message_order")]


class CrawledPage(models.Model):
    """The seed's crawled_pages: a projection written with each page, for people's own SQL; nothing of ours reads it."""

    id = models.BigAutoField(primary_key=True, db_column="page_id")
    url = models.TextField(db_column="page_url")
    doc_id = models.BigIntegerField(db_index=True)

    class Meta:
        db_table = "crawled_pages"
