from django.apps import AppConfig


class CrawlpointsConfig(AppConfig):
    name = "crawlpoints"
    verbose_name = "Crawl points"
