"""Doors to the In Tray, runs, propagation and help."""

from django.urls import include, path

from . import control, crawls, help, home, launch, live, page, run, tabs

urlpatterns = [
    path("", home.home, name="home"),
    path("crawls/", crawls.crawls, name="crawls"),
    path("crawls/launch/", launch.launch, name="launch"),
    path("crawls/<int:run_id>/", run.summary, name="run"),
    path("crawls/<int:run_id>/live", live.live, name="run-live"),
    path("crawls/<int:run_id>/cancel/", control.cancel, name="run-cancel"),
    path("crawls/<int:run_id>/speed/", control.speed, name="run-speed"),
    path("crawls/<int:run_id>/do/<slug:action>/", control.act, name="run-control"),
    path("crawls/<int:run_id>/pages/<int:entry_id>/", page.page, name="run-page"),
    path("crawls/<int:run_id>/<slug:tab>/", tabs.tab, name="run-tab"),
    path("propagation/", include("crawler.screens.propagation_urls")),
    path("help/", help.index, name="help"),
    path("help/<slug:topic>/", help.topic, name="help-topic"),
]
