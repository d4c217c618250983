from django.apps import AppConfig


class CrawlerConfig(AppConfig):
    name = "crawler"
    verbose_name = "Crawler"

    def ready(self) -> None:
        from clearinghouse.access import counts, trouble

        from .queries.machines import trouble_now
        from .queries.tray import waiting_for

        counts.COUNTERS["home"] = waiting_for
        trouble.SOURCES.append(trouble_now)
