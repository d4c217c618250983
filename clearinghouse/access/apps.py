from django.apps import AppConfig, apps
from django.core import checks


class AccessConfig(AppConfig):
    name = "clearinghouse.access"
    verbose_name = "People and access"

    def ready(self) -> None:
        from clearinghouse.secrets import vault

        from .mail_links import check_links

        checks.register(check_links, "mail", deploy=True)
        vault.check_keys()  # a server with unreadable keys must not start and then fail every sign-in of a crawl
        apps.get_app_config("admin").default_site = "clearinghouse.access.admin_site.HouseAdminSite"
