"""Every door of the web application."""

from django.contrib import admin
from django.urls import include, path

from .operations import queue_pages

urlpatterns = [
    path("", include("clearinghouse.operations.health.urls")),
    path("", include("clearinghouse.accounts.urls")),
    path("", include("clearinghouse.library.urls")),
    path("", include("crawlpoints.urls")),
    path("", include("crawler.urls")),
    path("search/", include("clearinghouse.search.urls")),
    path("", include("clearinghouse.search.staff_urls")),
    path("settings/", include("crawler.upkeep.urls")),
    path("api/", include("crawler.api.urls")),
    path("settings/admin/", admin.site.urls),
    path("settings/queues/", include(queue_pages.urls)),
]

handler500 = "clearinghouse.accounts.views.fault"
