"""Crawl points, their link to a document, exclude URLs: the seed's tables in doc_library, with our options beside."""

from collections.abc import Collection
from typing import Any, NamedTuple, Self, TypeVar

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


class PointOption(NamedTuple):
    """What a column of a crawl point is to people and programs: dialog, checks, CSV, JSON API, comparisons, histories
    and copies are made of it. What the crawler obeys has a line in crawler.values.PointSettings, a number a check."""

    kind: str  # text, switch, number
    default: Any
    label: str
    hint: str
    widget: str = ""  # of the dialog, where the kind does not say it: address, area, choice
    csv: str = ""  # its column; empty: it has none
    more: bool = False  # it stands under "More options" of the dialog
    summary: str = ""  # of a switch that is on, where a run tells its settings


_Column = TypeVar("_Column", bound=models.Field)


def _option(column: _Column, label: str, hint: str, **said: Any) -> _Column:
    """The column with what it is to people, of which migrations know nothing."""
    text = isinstance(column, models.CharField | models.TextField)
    kind = "text" if text else "switch" if isinstance(column, models.SmallIntegerField) else "number"
    column.option = PointOption(kind, "" if text else column.get_default(), label, hint, **said)
    return column


def _switch(name: str, label: str, hint: str, on: int = 0, more: bool = True, **said: Any) -> models.SmallIntegerField:
    column = models.SmallIntegerField(db_column=name, null=True, default=on, db_default=on)
    return _option(column, label, hint, more=more, **said)


def _text(length: int, label: str, hint: str, **said: Any) -> models.CharField:
    return _option(models.CharField(max_length=length, default="", db_default="", blank=True), label, hint, **said)


class CrawlPoint(Record):
    """Its options stand in the order of the dialog."""

    id = models.AutoField(primary_key=True, db_column="crawl_point_id")
    url = _option(models.CharField(db_column="crawl_point_url", max_length=ADDRESS_LENGTH), "URL",
                  "The page where the crawl starts. Include http:// or https://.",
                  widget="address", csv="url")  # fmt: skip
    root = _option(
        models.CharField(db_column="root_str", max_length=ADDRESS_LENGTH), "Root string",
        "Only addresses that begin with exactly this text are followed. Usually the URL up to its last slash.",
        widget="address", csv="root_string")  # fmt: skip
    depth = _option(models.IntegerField(db_column="page_depth_int", default=0, db_default=0), "Depth limit",
                    "How many clicks from the URL. 0 = only the URL itself, 1 = also the pages it links to.",
                    csv="depth_limit")  # fmt: skip
    max_pages = _option(models.IntegerField(db_column="max_pages_int", null=True, default=0, db_default=0),
                        "Maximum pages", "Stop this crawl point after this many pages. Leave empty for no limit.",
                        csv="maximum_pages")  # fmt: skip
    auth_type = _option(models.IntegerField(db_column="crawl_auth_type_id", null=True, default=0, db_default=0,
                                            choices=AuthType.choices),
                        "Authentication", "How the site asks for a password.",
                        widget="choice", csv="authentication")  # fmt: skip
    login = _option(models.CharField(db_column="crawl_id_str", max_length=255, null=True, blank=True), "User ID",
                    "The account used to read the site. For NTLM: DOMAIN\\name.", csv="user_id")  # fmt: skip
    # Ciphertext, bound to origin, root, type and sign-in URL: see clearinghouse/vault.
    password = models.CharField(db_column="crawl_pw_str", max_length=512, null=True, blank=True, editable=False)
    key = models.CharField(
        db_column="point_key", max_length=KEY_LENGTH, null=True, editable=False
    )  # SHA-256 of document, URL and root; NULL on deleted and adopted duplicate rows
    sign_in_url = _text(ADDRESS_LENGTH, "Sign-in page", "The address of the page with the sign-in form.",
                        widget="address")  # fmt: skip
    sign_in_user_field = _text(100, "User field", "Name of the form's user field, for example username.")
    sign_in_password_field = _text(100, "Password field", "Name of the form's password field, for example password.")
    signed_in_text = _text(255, "Signed in when the page contains",
                           "Text that only a signed-in page shows, or empty.")  # fmt: skip
    active = _switch("active_fl", "Active", "Untick to skip this crawl point without losing its settings.",
                     on=1, more=False, csv="active")  # fmt: skip
    append = _option(
        models.CharField(db_column="append_str", max_length=255, null=True, blank=True), "Append to addresses",
        "Text added to the end of every address when it is fetched, for example ?print=1. "
        "Not part of the stored address.", widget="address", csv="append", more=True)  # fmt: skip
    accept_bad_certificate = _switch(
        "accept_bad_certificate_fl", "Accept a bad certificate", summary="accepts a bad certificate",
        hint="Read the site although its certificate is expired or from an unknown issuer.")  # fmt: skip
    merge_schemes = _switch("merge_schemes_fl", "Treat http and https as one", summary="http and https are one",
                            hint="The same page under http:// and https:// is stored once.")  # fmt: skip
    ignore_query = _switch("ignore_query_fl", "Ignore query strings", summary="ignores query strings",
                           hint="Addresses that differ only after the ? are one page.")  # fmt: skip
    drop_sessions = _switch(
        "drop_sessions_fl", "Drop session parameters", on=1,
        hint="Session ids (PHPSESSID, jsessionid, (S(…)) and the like) are not part of an address; sid=3 is."
    )  # fmt: skip
    stop_traps = _switch("stop_traps_fl", "Stop endless addresses", on=1,
                         hint="Leave out addresses that repeat themselves or grow without end.")  # fmt: skip
    obey_nofollow = _switch("obey_nofollow_fl", "Obey nofollow on links", summary="obeys nofollow",
                            hint="Leave out links that the site marks with nofollow.")  # fmt: skip
    ignore_robots = _switch("ignore_robots_fl", "Ignore robots.txt", summary="ignores robots.txt",
                            hint="Only with the consent of the site's owner; kept with your name.")  # fmt: skip
    ignore_robots_reason = _text(255, "Reason", "Why robots.txt may be ignored here.", more=True)
    note = _option(models.TextField(default="", db_default="", blank=True), "Note",
                   "Why this crawl point exists. Colleagues see it.", widget="area", csv="note")  # fmt: skip

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


OPTIONS: dict[str, PointOption] = {
    field.name: field.option for field in CrawlPoint._meta.local_fields if hasattr(field, "option")
}


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
