"""People: role and projects of each user, personal API keys; failed sign-ins, for the throttle; the house's options."""

from django.conf import settings
from django.db import models

from clearinghouse.library.models import Project


class Role(models.TextChoices):
    DEVELOPER = "developer", "Content developer"
    INDEXER = "indexer", "Indexer (read only)"
    MANAGER = "manager", "Project manager"
    ADMINISTRATOR = "administrator", "Administrator"


class Person(models.Model):
    """A user's place in the house. A user without one can sign in but sees nothing; superusers are administrators."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="person")
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.DEVELOPER)
    projects = models.ManyToManyField(Project, blank=True, related_name="people")
    rows = models.CharField(max_length=3, default="", blank=True)  # of a page of a list; empty: as each list has it

    class Meta:
        db_table = "clearinghouse_person"
        verbose_name_plural = "people"

    def __str__(self) -> str:
        return f"{self.user} ({self.get_role_display()})"


class FailedSignIn(models.Model):
    at = models.DateTimeField(db_index=True)
    key = models.CharField(max_length=64, db_index=True)  # SHA-256 of account and address: no names kept

    class Meta:
        db_table = "clearinghouse_failed_sign_in"


class ApiKey(models.Model):
    """A person's key for programs. Only its digest is kept; a revoked key stays, so that the audit can name it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=60)
    beginning = models.CharField(max_length=12)  # shown in the list, to tell keys apart
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of 256 random bits
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "clearinghouse_api_key"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.beginning}…)"


class Option(models.Model):
    """A choice of the administrators that holds for the whole house; a missing row means the default."""

    name = models.CharField(max_length=40, primary_key=True)
    value = models.CharField(max_length=200)

    class Meta:
        db_table = "clearinghouse_option"

    def __str__(self) -> str:
        return f"{self.name} = {self.value}"
