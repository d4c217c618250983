"""The rules by which project managers help the public search: synonyms, stopwords, best bets."""

from django.db import models


class RuleKind(models.TextChoices):
    SYNONYM = "synonym", "Synonyms"
    STOPWORD = "stopword", "Stopwords"
    BEST_BET = "best_bet", "Best bets"


class SearchRule(models.Model):
    """One rule. It is applied to queries, so that nothing is indexed again; deleted ones stay, restorable."""

    kind = models.CharField(max_length=10, choices=RuleKind.choices)
    words = models.CharField(max_length=200)  # what is searched for
    others = models.TextField(default="", blank=True)  # synonyms, or addresses: one per line
    both_ways = models.BooleanField(default=False)  # synonyms: each finds all
    project_id = models.BigIntegerField(null=True)  # null: of the whole house
    project = models.CharField(max_length=100, default="", blank=True)  # its name, as published documents carry it
    deleted = models.BooleanField(default=False)
    version = models.IntegerField(default=1)  # raised by every change: nobody overwrites what they did not see
    changed_by = models.CharField(max_length=150)
    changed_at = models.DateTimeField()

    class Meta:
        db_table = "search_rule"
        indexes = [models.Index(fields=["deleted", "kind"], name="search_rule_kind")]

    def __str__(self) -> str:
        return self.words

    @property
    def lines(self) -> list[str]:
        return self.others.splitlines()
