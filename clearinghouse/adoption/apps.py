from django.apps import AppConfig


class AdoptionConfig(AppConfig):
    name = "clearinghouse.adoption"
    verbose_name = "Adoption of databases"
