from django.apps import AppConfig


class LocalConfig(AppConfig):
    name = "clearinghouse.local"
    label = "local"
