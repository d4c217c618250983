from django.apps import AppConfig, apps
from django.core import checks


class AccessConfig(AppConfig):
    name = "clearinghouse.accounts"
    label = "access"  # of its tables' first migrations
    verbose_name = "People and access"

    def ready(self) -> None:
        from ..operations.mail_links import check_links
        from ..vault import sealing

        checks.register(check_links, "mail", deploy=True)
        sealing.check_keys()  # a server with unreadable keys must not start and then fail every sign-in of a crawl
        apps.get_app_config("admin").default_site = "clearinghouse.web.admin.admin_site.HouseAdminSite"
