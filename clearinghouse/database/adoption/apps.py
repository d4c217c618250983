from django.apps import AppConfig
from django.core import checks


class AdoptionConfig(AppConfig):
    name = "clearinghouse.database.adoption"
    verbose_name = "Adoption of databases"

    def ready(self) -> None:
        from .durability_check import check_durability

        checks.register(check_durability, "durability")
