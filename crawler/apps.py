from django.apps import AppConfig


class CrawlerConfig(AppConfig):
    name = "crawler"
    verbose_name = "Crawler"

    def ready(self) -> None:
        from clearinghouse.access.counts import COUNTERS

        from .queries.tray import waiting_for

        COUNTERS["home"] = waiting_for
