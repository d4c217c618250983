"""Every door of the web application."""

from django.contrib import admin
from django.urls import include, path

from clearinghouse.access import queue_pages

urlpatterns = [
    path("", include("clearinghouse.health.urls")),
    path("", include("clearinghouse.access.urls")),
    path("", include("clearinghouse.library.screens.urls")),
    path("", include("crawlpoints.screens.urls")),
    path("", include("crawler.screens.urls")),
    path("search/", include("clearinghouse.search.screens.urls")),
    path("", include("clearinghouse.search.screens.staff_urls")),
    path("settings/", include("crawler.screens.settings_urls")),
    path("api/", include("crawler.screens.api.urls")),
    path("settings/admin/", admin.site.urls),
    path("settings/queues/", include(queue_pages.urls)),
]

handler500 = "clearinghouse.access.views.fault"
