"""Doors of the public search."""

from django.urls import path

from . import advanced, feed, suggest, views

urlpatterns = [
    path("", views.search, name="search"),
    path("advanced/", advanced.advanced, name="search-advanced"),
    path("feed.atom", feed.feed, name="search-feed"),
    path("suggest", suggest.suggest, name="search-suggest"),
    path("opened/", suggest.opened, name="search-opened"),
    path("result/<int:published_id>/", views.result, name="search-result"),
    path("cached/<int:published_id>/", views.cached, name="search-cached"),
    path("opensearch.xml", views.opensearch, name="search-opensearch"),
]
