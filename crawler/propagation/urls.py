"""Doors to propagation; included under propagation/."""

from django.urls import path

from .views import propagation_views, rollback_views

urlpatterns = [
    path("", propagation_views.index, name="propagation"),
    path("new/", propagation_views.new, name="propagation-new"),
    path("start/", propagation_views.start, name="propagation-start"),
    path("rollback/", rollback_views.back, name="propagation-rollback"),
    path("rollforward/", rollback_views.forward, name="propagation-rollforward"),
    path("<int:generation>/", propagation_views.board, name="propagation-board"),
    path("<int:generation>/live", propagation_views.live, name="propagation-live"),
    path("<int:generation>/pause/", propagation_views.pause, name="propagation-pause"),
    path("<int:generation>/resume/", propagation_views.resume, name="propagation-resume"),
    path("<int:generation>/retry/", propagation_views.retry, name="propagation-retry"),
]
