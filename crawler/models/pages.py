"""Stored pages: heads (which version a document shows now), versions (one content), bodies (bytes, once per digest).

The seed's doc_crawl_page and crawl_page_meta are views over these (crawler/views.py).
"""

from django.db import models

from clearinghouse.columns import DigestField


class PageBody(models.Model):
    digest = DigestField(primary_key=True)
    content = models.BinaryField()

    class Meta:
        db_table = "page_body"


class PageVersion(models.Model):
    """One content of one page, found by one run. An unchanged page writes none.

    Ids are drawn by the instance from a block of its own (see reading.py): no row has to be asked for its key.
    """

    id = models.BigAutoField(primary_key=True)
    run_id = models.BigIntegerField()
    doc_id = models.BigIntegerField()
    url_key = DigestField()
    url = models.TextField()
    digest = DigestField()
    type_id = models.IntegerField()
    extension = models.CharField(max_length=50, default="")
    title = models.CharField(max_length=255, default="")
    metas = models.TextField(default="[]")  # JSON: [[name, content], …], at most 200
    headings = models.TextField(default="")
    text = models.TextField(default="")
    language = models.CharField(max_length=20, default="")
    links = models.BinaryField(default=b"")  # packed: see crawler/extract/packed_links.py
    canonical = models.TextField(default="")
    content_type = models.CharField(max_length=255, default="")
    charset = models.CharField(max_length=40, default="")
    etag = models.CharField(max_length=255, default="")
    last_modified = models.CharField(max_length=64, default="")
    size = models.BigIntegerField(default=0)
    flags = models.CharField(max_length=200, default="")  # truncated, no_text, noindex …, space separated
    extractor = models.SmallIntegerField(default=1)
    found_at = models.DateTimeField()

    class Meta:
        db_table = "page_version"
        indexes = [models.Index(fields=["doc_id", "url_key", "id"], name="page_version_history")]


class PageHead(models.Model):
    """The narrow row behind the seed's doc_crawl_page: this document shows this version of this URL."""

    id = models.BigAutoField(primary_key=True, db_column="doc_crawl_page_id")
    doc_id = models.BigIntegerField()
    url_key = DigestField()
    version_id = models.BigIntegerField()
    updated = models.SmallIntegerField(db_column="updated_fl", default=1)
    # As the site said them last; empty: as the version says.
    etag = models.CharField(max_length=255, default="", db_default="")
    last_modified = models.CharField(max_length=64, default="", db_default="")

    class Meta:
        db_table = "page_head"
        constraints = [models.UniqueConstraint(fields=["doc_id", "url_key"], name="page_head_unique")]
