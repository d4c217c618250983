"""Doors to propagation; included under propagation/."""

from django.urls import path

from . import propagation, rollback

urlpatterns = [
    path("", propagation.index, name="propagation"),
    path("new/", propagation.new, name="propagation-new"),
    path("start/", propagation.start, name="propagation-start"),
    path("rollback/", rollback.back, name="propagation-rollback"),
    path("rollforward/", rollback.forward, name="propagation-rollforward"),
    path("<int:generation>/", propagation.board, name="propagation-board"),
    path("<int:generation>/live", propagation.live, name="propagation-live"),
    path("<int:generation>/pause/", propagation.pause, name="propagation-pause"),
    path("<int:generation>/resume/", propagation.resume, name="propagation-resume"),
    path("<int:generation>/retry/", propagation.retry, name="propagation-retry"),
]
