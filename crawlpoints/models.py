"""Crawl points, their link to a document, exclude URLs: the seed's tables in doc_library, with our options beside."""

from collections.abc import Collection
from typing import Any, Self

from django.conf import settings
from django.db import models

from clearinghouse.database.records import Record
from clearinghouse.library.models import Document, Field

ADDRESS_LENGTH = 2048
KEY_LENGTH = 64


class AuthType(models.IntegerChoices):
    NONE = 0, "None"
    BASIC = 1, "Basic"
    DIGEST = 2, "Digest"
    NTLM = 3, "NTLM (Windows)"
    FORM = 4, "Sign-in form"


def _switch(column: str, on: int = 0) -> models.SmallIntegerField:
    return models.SmallIntegerField(db_column=column, null=True, default=on, db_default=on)


class CrawlPoint(Record):
    id = models.AutoField(primary_key=True, db_column="crawl_point_id")
    url = models.CharField(db_column="crawl_point_url", max_length=ADDRESS_LENGTH)
    root = models.CharField(db_column="root_str", max_length=ADDRESS_LENGTH)
    auth_type = models.IntegerField(
        db_column="crawl_auth_type_id", null=True, default=0, db_default=0, choices=AuthType.choices
    )
    login = models.CharField(db_column="crawl_id_str", max_length=255, null=True, blank=True)
    # Ciphertext, bound to origin, root, type and sign-in URL: see clearinghouse/secrets.
    password = models.CharField(db_column="crawl_pw_str", max_length=512, null=True, blank=True, editable=False)
    append = models.CharField(db_column="append_str", max_length=255, null=True, blank=True)
    depth = models.IntegerField(db_column="page_depth_int", default=0, db_default=0)
    max_pages = models.IntegerField(db_column="max_pages_int", null=True, default=0, db_default=0)
    active = _switch("active_fl", on=1)

    # Ours, beside the seed's columns.
    key = models.CharField(
        db_column="point_key", max_length=KEY_LENGTH, null=True, editable=False
    )  # SHA-256 of document, URL and root; NULL on deleted and adopted duplicate rows
    sign_in_url = models.CharField(max_length=ADDRESS_LENGTH, default="", db_default="", blank=True)
    sign_in_user_field = models.CharField(max_length=100, default="", db_default="", blank=True)
    sign_in_password_field = models.CharField(max_length=100, default="", db_default="", blank=True)
    signed_in_text = models.CharField(max_length=255, default="", db_default="", blank=True)
    accept_bad_certificate = _switch("accept_bad_certificate_fl")
    merge_schemes = _switch("merge_schemes_fl")
    ignore_query = _switch("ignore_query_fl")
    drop_sessions = _switch("drop_sessions_fl", on=1)
    obey_nofollow = _switch("obey_nofollow_fl")
    stop_traps = _switch("stop_traps_fl", on=1)
    ignore_robots = _switch("ignore_robots_fl")
    ignore_robots_reason = models.CharField(max_length=255, default="", db_default="", blank=True)
    note = models.TextField(default="", db_default="", blank=True)

    class Meta(Record.Meta):
        db_table = "crawl_point"
        constraints = [
            models.UniqueConstraint(
                fields=["key"], condition=models.Q(key__isnull=False), name="crawl_point_key_unique"
            )
        ]

    def __str__(self) -> str:
        return self.url

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any]) -> Self:
        """A library of others may allow NULL where the dictionary does not: then no more than the URL is meant."""
        point = super().from_db(db, field_names, values)
        if point.__dict__.get("root", "") is None:
            point.root = point.url
        if point.__dict__.get("depth", 0) is None:
            point.depth = 0
        return point


class CrawlPointLink(Record):
    """The seed's doc_field_crawl_point: which document and field a crawl point belongs to."""

    id = models.AutoField(primary_key=True, db_column="doc_field_crawl_point_id")
    document = models.ForeignKey(
        Document, models.DO_NOTHING, db_column="doc_id", null=True, related_name="crawl_point_links"
    )
    field = models.ForeignKey(Field, models.DO_NOTHING, db_column="field_id", null=True, related_name="+")
    crawl_point = models.ForeignKey(
        CrawlPoint, models.DO_NOTHING, db_column="crawl_point_id", null=True, related_name="links"
    )

    class Meta(Record.Meta):
        db_table = "doc_field_crawl_point"

    def __str__(self) -> str:
        return f"{self.crawl_point} of {self.document}"


class DocumentNote(Record):
    """What people tell each other about a document."""

    document = models.ForeignKey(Document, models.DO_NOTHING, related_name="notes")
    author = models.CharField(max_length=150)
    text = models.TextField()

    class Meta(Record.Meta):
        db_table = "clearinghouse_document_note"

    def __str__(self) -> str:
        return self.text[:80]


class SavedView(models.Model):
    """A filter of the Document Navigator, or of a report, under a name of the person's own."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_views")
    screen = models.CharField(max_length=30, default="documents")  # or the name of a report
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000)  # as it stands in the address
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "clearinghouse_saved_view"
        constraints = [models.UniqueConstraint(fields=["person", "screen", "name"], name="saved_view_unique")]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ExcludeUrl(Record):
    id = models.AutoField(primary_key=True, db_column="doc_crawl_exclude_url_id")
    pattern = models.CharField(db_column="exclude_url", max_length=ADDRESS_LENGTH)
    document = models.ForeignKey(Document, models.DO_NOTHING, db_column="doc_id", related_name="exclude_urls")
    key = models.CharField(
        db_column="exclude_key", max_length=KEY_LENGTH, null=True, editable=False
    )  # SHA-256 of document and pattern; NULL on deleted and adopted duplicate rows

    class Meta(Record.Meta):
        db_table = "doc_crawl_exclude_url"
        constraints = [
            models.UniqueConstraint(
                fields=["key"], condition=models.Q(key__isnull=False), name="exclude_url_key_unique"
            )
        ]

    def __str__(self) -> str:
        return self.pattern


class Import(models.Model):
    """Many crawl points from one CSV, worked on by a worker in short steps: this row says how far it has come.

    What it would add stands there already, nominally deleted, until one short transaction shows all of it.
    """

    class State(models.TextChoices):
        UPLOADING = "uploading", "Uploading"
        READING = "reading", "Reading the lines"
        READ = "read", "Waiting for a decision"
        SHOWING = "showing", "Importing"
        RECORDING = "recording", "Imported; the history is being written"
        DONE = "done", "Imported"
        REMOVING = "removing", "Cancelling"
        CANCELLED = "cancelled", "Cancelled"
        TAKING_BACK = "taking_back", "Taking back"
        RECORDING_BACK = "recording_back", "Taken back; the history is being written"
        TAKEN_BACK = "taken_back", "Taken back"

    # While what it adds is not shown yet, or goes again without ever having been.
    HIDDEN = (State.UPLOADING, State.READING, State.READ, State.SHOWING, State.REMOVING)

    document = models.ForeignKey(Document, models.DO_NOTHING, related_name="imports")
    state = models.CharField(max_length=20, choices=State.choices, default=State.UPLOADING)
    at_once = models.BooleanField(default=False)  # nobody waits to look at what it would do
    again = models.BooleanField(default=False)  # after the removal it is read once more: something changed meanwhile
    position = models.IntegerField(default=0)  # lines, or rows, that the state is through with
    lines = models.IntegerField(default=0)
    counts = models.JSONField(default=dict)  # of lines, by what they do
    told = models.JSONField(default=dict)  # the first lines, the first errors, unknown columns
    asked_by = models.CharField(max_length=150)
    asked_at = models.DateTimeField()
    moved_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "clearinghouse_import"
        indexes = [models.Index(fields=["state"], name="import_state")]

    def __str__(self) -> str:
        return f"Import {self.pk}: {self.get_state_display()}"


class ImportPart(models.Model):
    """A piece of the CSV as it was sent, in whole lines."""

    of = models.ForeignKey(Import, models.CASCADE, related_name="parts")
    number = models.IntegerField()
    text = models.TextField()

    class Meta:
        db_table = "clearinghouse_import_part"
        constraints = [models.UniqueConstraint(fields=["of", "number"], name="import_part_unique")]

    def __str__(self) -> str:
        return f"Part {self.number} of import {self.of_id}"


class ImportLine(models.Model):
    """A line that adds or changes a crawl point, and what it takes to take it back."""

    of = models.ForeignKey(Import, models.CASCADE, related_name="rows")
    number = models.IntegerField()
    adds = models.BooleanField()
    point_id = models.IntegerField()
    version = models.BigIntegerField(null=True)  # that was compared; of an added one the one it is written with
    values = models.JSONField(default=dict)

    class Meta:
        db_table = "clearinghouse_import_line"
        constraints = [models.UniqueConstraint(fields=["of", "number"], name="import_line_unique")]
        indexes = [models.Index(fields=["of", "adds", "point_id"], name="import_line_point")]

    def __str__(self) -> str:
        return f"Line {self.number} of import {self.of_id}"
