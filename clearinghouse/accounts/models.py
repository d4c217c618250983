"""People: role and projects of each user, sessions, API keys; what is counted for a while; the house's options."""

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models

from clearinghouse.library.models import Project


class Role(models.TextChoices):
    DEVELOPER = "developer", "Content developer"
    INDEXER = "indexer", "Indexer (read only)"
    MANAGER = "manager", "Project manager"
    ADMINISTRATOR = "administrator", "Administrator"


class Person(models.Model):
    """A user's place in the house. A user without one can sign in but sees nothing; superusers are administrators.

    An empty role is none: the row is there for what else it holds.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="person")
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.DEVELOPER, blank=True)
    projects = models.ManyToManyField(Project, blank=True, related_name="people")
    rows = models.CharField(max_length=3, default="", blank=True)  # of a page of a list; empty: as each list has it
    must_change_password = models.BooleanField(db_column="must_change_password_fl", default=False)
    deactivated_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "clearinghouse_person"
        verbose_name_plural = "people"

    def __str__(self) -> str:
        return f"{self.user} ({self.get_role_display()})"


class RecentEvent(models.Model):
    """Something that is counted or remembered for a while: a wrong password, a place somebody signed in from."""

    key = models.CharField(max_length=64, db_index=True)  # SHA-256 of what happened to whom: no names kept
    at = models.DateTimeField()
    until = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "clearinghouse_recent_event"


class BrowserSession(AbstractBaseSession):
    """One browser in which somebody is signed in. Its limits are expire_date's; the cookie only names the row."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="browser_sessions")
    begun_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    address = models.CharField(max_length=64, default="")
    browser = models.CharField(max_length=60, default="")

    class Meta:
        db_table = "clearinghouse_session"


class ApiKey(models.Model):
    """A person's key for programs. Only its digest is kept; a revoked key stays, so that the audit can name it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=60)
    beginning = models.CharField(max_length=12)  # shown in the list, to tell keys apart
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of 256 random bits
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)  # without a date it opens nothing
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
