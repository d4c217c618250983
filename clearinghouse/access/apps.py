from django.apps import AppConfig


class AccessConfig(AppConfig):
    name = "clearinghouse.access"
    verbose_name = "People and access"
