"""Addresses of the JSON API; included under api/."""

from django.urls import path

from . import openapi
from .addresses import ADDRESSES
from .api_dispatch import nothing_here, view_of

urlpatterns = [
    path("docs/", openapi.page, name="api-docs"),
    path("v1/openapi.json", openapi.document, name="api-openapi"),
    *(path(f"v1/{address.path}", view_of(address), name=address.name) for address in ADDRESSES),
    path("v1/<path:rest>", nothing_here, name="api-nothing"),
]
