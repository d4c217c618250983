"""Doors to the reports."""

from django.urls import path
from django.views.decorators.http import require_safe

from . import views
from .kinds.changes_report import ChangesFeed

urlpatterns = [
    path("", views.index, name="reports"),
    path("changes/feed.atom", require_safe(ChangesFeed()), name="changes-feed"),
    path("errors/mark/<slug:key>/", views.mark, name="error-mark"),
    path("<slug:name>/", views.report, name="report"),
    path("<slug:name>/views/save/", views.save_view, name="report-view-save"),
    path("<slug:name>/views/delete/", views.forget_view, name="report-view-delete"),
    path("<slug:name>/export.csv", views.export, name="report-csv"),
]
