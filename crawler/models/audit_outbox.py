"""Lines of the audit on their way to it: written with the change they tell of, gone when they stand there."""

from django.db import models


class AuditOutbox(models.Model):
    line = models.JSONField()  # as clearinghouse.audit.services.as_json gives it

    class Meta:
        db_table = "audit_outbox"
