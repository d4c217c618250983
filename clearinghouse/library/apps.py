from django.apps import AppConfig


class LibraryConfig(AppConfig):
    name = "clearinghouse.library"
    verbose_name = "Library"
