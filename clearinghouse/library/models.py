"""The library: documents and their fields (the seed's tables), projects, who is assigned to what (ours).

Of doc, doc_status, field and field_type an existing doc_library is assumed to have only the keys; what we
need beyond them stands in our own tables beside them.
"""

from django.conf import settings
from django.db import models

from ..database.records import Record

CRAWL_POINTS = "crawl points"


class DocumentStatus(Record):
    id = models.AutoField(primary_key=True, db_column="doc_status_id")
    name = models.CharField(db_column="name_str", max_length=50, null=True, blank=True)

    class Meta(Record.Meta):
        db_table = "doc_status"
        verbose_name_plural = "document statuses"

    def __str__(self) -> str:
        return self.name or f"Status {self.pk}"


class Document(Record):
    id = models.AutoField(primary_key=True, db_column="doc_id")
    status = models.ForeignKey(
        DocumentStatus, models.DO_NOTHING, db_column="doc_status_id", null=True, blank=True, related_name="documents"
    )

    class Meta(Record.Meta):
        db_table = "doc"

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """Documents made by other programs have no title of ours until somebody gives them one."""
        sheet = getattr(self, "sheet", None)
        return sheet.title if sheet else f"Document {self.pk}"


class FieldType(Record):
    id = models.AutoField(primary_key=True, db_column="field_type_id")
    name = models.CharField(db_column="name_str", max_length=100, null=True, blank=True)

    class Meta(Record.Meta):
        db_table = "field_type"

    def __str__(self) -> str:
        return self.name or f"Field type {self.pk}"


class Field(Record):
    """One component of a document; the one of type "crawl points" is the master of its crawl points."""

    id = models.AutoField(primary_key=True, db_column="field_id")
    document = models.ForeignKey(
        Document, models.DO_NOTHING, db_column="doc_id", null=True, blank=True, related_name="fields"
    )
    type = models.ForeignKey(
        FieldType, models.DO_NOTHING, db_column="field_type_id", null=True, blank=True, related_name="fields"
    )

    class Meta(Record.Meta):
        db_table = "field"

    def __str__(self) -> str:
        return f"{self.type} of {self.document}"


class Project(Record):
    name = models.CharField(max_length=100)

    class Meta(Record.Meta):
        db_table = "clearinghouse_project"
        constraints = [models.UniqueConstraint(models.F("name"), name="project_name_unique")]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Sheet(Record):
    """What we know of a document beyond its key: the cover sheet on top of the seed's row."""

    document = models.OneToOneField(Document, models.DO_NOTHING, primary_key=True, related_name="sheet")
    title = models.CharField(max_length=255)
    project = models.ForeignKey(Project, models.PROTECT, null=True, blank=True, related_name="sheets")
    public = models.SmallIntegerField(db_column="public_fl", default=1, db_default=1)
    web_address = models.CharField(max_length=2048, blank=True, default="")

    class Meta(Record.Meta):
        db_table = "clearinghouse_document"

    def __str__(self) -> str:
        return self.title


class Assignment(models.Model):
    """This person edits this document: the scope "own"."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="assignments")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="assignments")

    class Meta:
        db_table = "clearinghouse_assignment"
        constraints = [models.UniqueConstraint(fields=["document", "person"], name="assignment_unique")]

    def __str__(self) -> str:
        return f"{self.person} edits {self.document}"
