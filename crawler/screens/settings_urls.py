"""Doors to the settings that show machines; included under settings/."""

from django.urls import path

from . import machines

urlpatterns = [
    path("workers/", machines.workers, name="workers"),
    path("status/", machines.status, name="status"),
    path("errors/", machines.error_log, name="error-log"),
]
