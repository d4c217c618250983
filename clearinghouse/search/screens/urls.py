"""Doors of the public search."""

from django.urls import path

from . import views

urlpatterns = [
    path("", views.search, name="search"),
    path("result/<int:published_id>/", views.result, name="search-result"),
    path("cached/<int:published_id>/", views.cached, name="search-cached"),
    path("opensearch.xml", views.opensearch, name="search-opensearch"),
]
