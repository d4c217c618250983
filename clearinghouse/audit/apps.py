from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "clearinghouse.audit"
    verbose_name = "Audit"
