from django.apps import AppConfig


class PublishedConfig(AppConfig):
    name = "clearinghouse.published"
    verbose_name = "Published pages"
