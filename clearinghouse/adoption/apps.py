from django.apps import AppConfig
from django.core import checks


class AdoptionConfig(AppConfig):
    name = "clearinghouse.adoption"
    verbose_name = "Adoption of databases"

    def ready(self) -> None:
        from .durability import check_durability

        checks.register(check_durability, "durability")
