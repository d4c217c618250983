"""Doors to the previews of a document."""

from django.urls import path

from . import views as preview

urlpatterns = [
    path("", preview.previews, name="previews"),
    path("start/", preview.start, name="preview-start"),
    path("<int:preview_id>/", preview.preview, name="preview"),
    path("<int:preview_id>/live", preview.live, name="preview-live"),
    path("<int:preview_id>/stop/", preview.stop, name="preview-stop"),
    path("<int:preview_id>/again/", preview.again, name="preview-again"),
]
