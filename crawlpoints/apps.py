from django.apps import AppConfig


class CrawlpointsConfig(AppConfig):
    name = "crawlpoints"
    verbose_name = "Crawl points"

    def fill_adopted(self, alias: str) -> list[str]:
        """Asked by prepare for every database it adopted."""
        if alias != "default":
            return []
        from .adopted_keys import fill_keys

        return fill_keys()
