from django.apps import AppConfig


class LibraryConfig(AppConfig):
    name = "clearinghouse.library"
    verbose_name = "Library"

    def ready(self) -> None:
        from clearinghouse.database import text_lookups

        text_lookups.register()
