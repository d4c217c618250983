"""What a target (development, primary, backup) holds: versions written once, and the generations that show them.

A version is visible in generation g when gen_from <= g < gen_to. The seed's doc_crawl_page and crawl_page_meta
are views over these and the one-row live_generation (see views.py): other people's SQL sees exactly the live
generation. Only crawler.propagation writes here. Always named with using(alias): there are three of them.
"""

from django.db import models

from clearinghouse.columns import DigestField, ExactCharField

OPEN = 2_147_483_647


class CrawlPageType(models.Model):
    """The seed's static table of page types; in every database."""

    id = models.IntegerField(primary_key=True, db_column="crawl_page_type_id")
    name = models.CharField(db_column="name_str", max_length=50)
    deleted = models.SmallIntegerField(db_column="deleted_fl", null=True, default=0, db_default=0)
    dirty = models.SmallIntegerField(db_column="dirty_fl", null=True, default=0, db_default=0)
    created_at = models.DateTimeField(db_column="create_dt", null=True)
    updated_at = models.DateTimeField(db_column="update_dt", null=True)
    updated_by = models.CharField(db_column="update_nm", max_length=150, null=True)
    version = models.BigIntegerField(db_column="ts", null=True, default=1, db_default=1)

    class Meta:
        db_table = "crawl_page_type"

    def __str__(self) -> str:
        return self.name


class PublishedVersion(models.Model):
    """One content of one page as the public may see it; never changed after it is written."""

    id = models.BigAutoField(primary_key=True, db_column="published_id")
    doc_id = models.BigIntegerField()
    page_id = models.BigIntegerField(db_column="doc_crawl_page_id")
    digest = DigestField()  # SHA-256 over everything published of this page
    url_key = DigestField()
    url = models.TextField(db_column="crawl_page_url")
    host = models.CharField(max_length=255)
    type_id = models.IntegerField(db_column="crawl_page_type_id")
    extension = models.CharField(db_column="page_ext", max_length=50, blank=True)
    title = models.TextField(db_column="title_str", blank=True)
    headings = models.TextField(blank=True)
    metas = models.TextField(blank=True)  # the contents of the meta tags, for the index
    anchors = models.TextField(blank=True)  # texts of links pointing here: distinct, sorted, at most 20
    text = models.TextField(blank=True)
    language = models.CharField(max_length=20, blank=True)
    body = models.BinaryField(db_column="crawl_file", null=True)
    last_modified = models.DateTimeField(null=True)
    crawled_at = models.DateTimeField()  # when this content was first found
    created_at = models.DateTimeField(db_column="create_dt")
    updated_by = models.CharField(db_column="update_nm", max_length=150)

    class Meta:
        db_table = "published_version"
        indexes = [
            models.Index(fields=["doc_id", "url_key"], name="published_version_page"),
            models.Index(fields=["page_id"], name="published_version_page_id"),
        ]


class PublishedMeta(models.Model):
    id = models.BigAutoField(primary_key=True, db_column="published_meta_id")
    published_id = models.BigIntegerField(db_index=True)
    name = models.CharField(db_column="name_str", max_length=512)
    content = models.TextField(db_column="content_str")

    class Meta:
        db_table = "published_meta"


class PublishedInterval(models.Model):
    id = models.BigAutoField(primary_key=True)
    published_id = models.BigIntegerField()
    doc_id = models.BigIntegerField()
    gen_from = models.IntegerField()
    gen_to = models.IntegerField(default=OPEN)

    class Meta:
        db_table = "published_interval"
        constraints = [models.UniqueConstraint(fields=["published_id", "gen_from"], name="published_interval_unique")]
        indexes = [
            models.Index(fields=["gen_to", "gen_from"], name="published_interval_gens"),
            models.Index(fields=["doc_id", "gen_to"], name="published_interval_doc"),
        ]


class PublishedDocument(models.Model):
    id = models.BigAutoField(primary_key=True)
    doc_id = models.BigIntegerField()
    title = models.CharField(max_length=255)
    project = models.CharField(max_length=100, blank=True)
    gen_from = models.IntegerField()
    gen_to = models.IntegerField(default=OPEN)

    class Meta:
        db_table = "published_document"
        constraints = [models.UniqueConstraint(fields=["doc_id", "gen_from"], name="published_document_unique")]


class LexiconWord(models.Model):
    """A word of the published pages under the id it keeps for ever, also when an index is built anew."""

    id = models.AutoField(primary_key=True, db_column="word_id")
    word = ExactCharField(max_length=64, unique=True)  # folded, as clearinghouse.search.words splits texts
    pages = models.IntegerField(default=0)  # live pages that hold it, when they were last counted

    class Meta:
        db_table = "lexicon"

    def __str__(self) -> str:
        return self.word


class LexiconState(models.Model):
    """One row: for which generation `pages` of the lexicon is counted, and how far the counting for another one is."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    generation = models.IntegerField(default=0)  # -1: the counts are being set to nothing
    goal = models.IntegerField(null=True)  # the generation it is on its way to
    done_to = models.BigIntegerField(default=0)  # the last word_id whose count is the goal's

    class Meta:
        db_table = "lexicon_state"


class LiveGeneration(models.Model):
    """One row: which generation this target shows. The switch, and a rollback, update it and nothing else."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    generation = models.IntegerField(default=0)
    switched_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "live_generation"


class PublicSwitch(models.Model):
    """One row: who serves the public, since when, and who must bring it home by when."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    serving = models.CharField(max_length=12, default="primary")
    owner = models.BigIntegerField(null=True)  # the propagation that moved it away
    deadline = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(null=True)
    told = models.CharField(max_length=12, default="")  # whom the load balancer is known to send people to; or in doubt
    told_at = models.DateTimeField(null=True)
    telling_until = models.DateTimeField(null=True)  # a process is telling it now
    trouble = models.TextField(default="")  # why it did not follow the last time

    class Meta:
        db_table = "public_switch"
