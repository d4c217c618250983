"""Doors of the public search."""

from django.urls import path

from .views import advanced_search, atom_feed, search_pages, suggestions

urlpatterns = [
    path("", search_pages.search, name="search"),
    path("advanced/", advanced_search.advanced, name="search-advanced"),
    path("feed.atom", atom_feed.feed, name="search-feed"),
    path("suggest", suggestions.suggest, name="search-suggest"),
    path("opened/", suggestions.opened, name="search-opened"),
    path("result/<int:published_id>/", search_pages.result, name="search-result"),
    path("cached/<int:published_id>/", search_pages.cached, name="search-cached"),
    path("opensearch.xml", search_pages.opensearch, name="search-opensearch"),
]
