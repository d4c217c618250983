"""What the public looks for: one row for each query and day, counts only. Nothing says who searched."""

from django.db import models

from clearinghouse.columns import DigestField


class SearchUse(models.Model):
    day = models.DateField()
    query = models.CharField(max_length=200)  # small letters, single spaces
    query_key = DigestField()
    searches = models.IntegerField(default=0)
    empty = models.IntegerField(default=0)  # of these, how many found nothing
    found = models.IntegerField(default=0)  # pages the last of them found
    opened = models.IntegerField(default=0)  # results that were opened, as far as browsers told

    class Meta:
        db_table = "search_use"
        constraints = [models.UniqueConstraint(fields=["day", "query_key"], name="search_use_unique")]

    def __str__(self) -> str:
        return f"{self.day}: {self.query}"
