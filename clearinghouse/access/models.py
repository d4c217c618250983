"""People: the role of each user and the projects they belong to; failed sign-ins, for the throttle."""

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
