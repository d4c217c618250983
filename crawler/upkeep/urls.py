"""Doors to the settings that show machines; included under settings/."""

from django.urls import path

from . import machine_views

urlpatterns = [
    path("workers/", machine_views.workers, name="workers"),
    path("status/", machine_views.status, name="status"),
    path("errors/", machine_views.error_log, name="error-log"),
]
