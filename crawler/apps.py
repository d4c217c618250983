from typing import Any

from django.apps import AppConfig


class CrawlerConfig(AppConfig):
    name = "crawler"
    verbose_name = "Crawler"

    def ready(self) -> None:
        from clearinghouse.web import banner, navigation_counts

        navigation_counts.COUNTERS["home"] = _waiting_for
        banner.SOURCES.append(_trouble_now)


# The rooms that answer are loaded by the first page that asks: no command waits for them (they cost 0.2 s).


def _waiting_for(user: Any) -> int:
    from .inbox.queries import waiting_for

    return waiting_for(user)


def _trouble_now() -> Any:
    from .upkeep.machines import trouble_now

    return trouble_now()
