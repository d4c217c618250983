"""Doors for people who work here: the rules of the search, and why a page stands where it stands."""

from django.urls import path

from .curation import views as curation
from .views import ranking_page

urlpatterns = [
    path("settings/search/", curation.curation, name="curation"),
    path("settings/search/<int:rule_id>/", curation.rule, name="curation-rule"),
    path("settings/search/<int:rule_id>/delete/", curation.delete, name="curation-delete"),
    path("settings/search/<int:rule_id>/restore/", curation.restore, name="curation-restore"),
    path("search-tools/ranking/<int:published_id>/", ranking_page.ranking, name="search-ranking"),
]
