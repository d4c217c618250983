"""Notices: what happened, written once; to whom it is told and how; what each person wants to be told."""

from django.db import models


class Notice(models.Model):
    """Something that happened. `key` names it, so that it is written once however often it is looked at."""

    key = models.CharField(max_length=100, unique=True)
    event = models.CharField(max_length=30)
    at = models.DateTimeField()
    sentence = models.CharField(max_length=500)
    link = models.CharField(max_length=300, default="", blank=True)  # a path of ours
    run_id = models.BigIntegerField(null=True)
    doc_id = models.BigIntegerField(null=True)

    class Meta:
        db_table = "notice"
        indexes = [models.Index(fields=["at"], name="notice_at")]


class Delivery(models.Model):
    """A notice on its way to one person: always to the In Tray, and by mail as they wish."""

    class Mail(models.TextChoices):
        NONE = "none", "not by mail"
        NOW = "now", "to be sent"
        DIGEST = "digest", "in the next digest"
        SENT = "sent", "sent"
        FAILED = "failed", "could not be sent"

    notice = models.ForeignKey(Notice, models.CASCADE, related_name="deliveries")
    person_id = models.IntegerField()
    because = models.CharField(max_length=200)
    read_at = models.DateTimeField(null=True)
    mail = models.CharField(max_length=10, choices=Mail.choices, default=Mail.NONE)
    tries = models.SmallIntegerField(default=0)
    not_before = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, default="", blank=True)

    class Meta:
        db_table = "notice_delivery"
        constraints = [models.UniqueConstraint(fields=["notice", "person_id"], name="notice_delivery_unique")]
        indexes = [
            models.Index(fields=["person_id", "read_at"], name="notice_delivery_unread"),
            models.Index(fields=["mail", "not_before"], name="notice_delivery_due"),
        ]


class Wish(models.Model):
    """How a person wants to be told of one kind of event."""

    class How(models.TextChoices):
        TRAY = "tray", "In Tray only"
        NOW = "now", "E-mail at once"
        DIGEST = "digest", "Daily e-mail"
        MUTE = "mute", "Not at all"

    person_id = models.IntegerField()
    event = models.CharField(max_length=30)
    how = models.CharField(max_length=10, choices=How.choices)

    class Meta:
        db_table = "notice_wish"
        constraints = [models.UniqueConstraint(fields=["person_id", "event"], name="notice_wish_unique")]


class Webhook(models.Model):
    """An address that is told of the events of a project's documents."""

    project_id = models.IntegerField(unique=True)
    project = models.CharField(max_length=100)
    url = models.CharField(max_length=2048)
    active = models.BooleanField(default=True)
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "webhook"


class WebhookCall(models.Model):
    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        SENT = "sent", "Sent"
        FAILED = "failed", "Failed"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="calls")
    notice = models.ForeignKey(Notice, models.CASCADE, related_name="calls")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    tries = models.SmallIntegerField(default=0)
    not_before = models.DateTimeField(null=True)
    answer = models.CharField(max_length=300, default="", blank=True)
    at = models.DateTimeField(null=True)

    class Meta:
        db_table = "webhook_call"
        constraints = [models.UniqueConstraint(fields=["webhook", "notice"], name="webhook_call_unique")]
        indexes = [models.Index(fields=["state", "not_before"], name="webhook_call_due")]


class Mark(models.Model):
    """How far the writing of notices has looked."""

    name = models.CharField(max_length=30, primary_key=True)
    at = models.DateTimeField()

    class Meta:
        db_table = "notice_mark"
