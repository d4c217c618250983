from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "clearinghouse.search"
    verbose_name = "Search"
