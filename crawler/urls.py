"""Doors to the In Tray, runs, propagation and help."""

from django.urls import include, path

from . import help_views
from .findings import exclude_folder_views
from .findings import views as findings
from .inbox import notice_views
from .inbox import views as home
from .launching.views import launch_views, plan_edit, plan_views, request_views
from .ledger.views import address_page, missing_page
from .runs.tabs import tab_frame
from .runs.views import comparison_views, control_views, leave_out_views, live_numbers, run_exports, run_lists, run_page
from .upkeep import metrics_views
from .word_index import views as word_index

urlpatterns = [
    path("metrics", metrics_views.metrics, name="metrics"),
    path("", home.home, name="home"),
    path("crawls/", run_lists.crawls, name="crawls"),
    path("crawls/launch/", launch_views.launch, name="launch"),
    path("crawls/pause/", plan_views.pause, name="crawls-pause"),
    path("crawls/schedules/", plan_views.planned, name="schedules"),
    path("crawls/schedules/hours/", plan_views.hours, name="quiet-hours"),
    path("crawls/schedules/<int:schedule_id>/", plan_views.change, name="schedule-change"),
    path("crawls/schedules/<int:schedule_id>/edit/", plan_edit.edit, name="schedule-edit"),
    path("documents/<int:doc_id>/previews/", include("crawler.preview.urls")),
    path("crawls/<int:run_id>/", run_page.summary, name="run"),
    path("crawls/<int:run_id>/live", live_numbers.live, name="run-live"),
    path("crawls/<int:run_id>/ask/", control_views.ask, name="run-ask-to-stop"),
    path("crawls/<int:run_id>/cancel/", control_views.cancel, name="run-cancel"),
    path("crawls/<int:run_id>/leave-out/", leave_out_views.leave_out, name="run-leave-out"),
    path("crawls/<int:run_id>/speed/", control_views.speed, name="run-speed"),
    path("crawls/<int:run_id>/label/", control_views.label, name="run-label"),
    path("crawls/<int:run_id>/do/<slug:action>/", control_views.act, name="run-control"),
    path(
        "crawls/<int:run_id>/documents/<int:doc_id>/<slug:action>/", control_views.document, name="run-document-control"
    ),
    path("crawls/<int:run_id>/exclude-folder/", exclude_folder_views.exclude, name="run-exclude-folder"),
    path("crawls/<int:run_id>/compare/", comparison_views.choose, name="run-compare-choose"),
    path("crawls/<int:run_id>/compare/<int:other_id>/", comparison_views.compare, name="run-compare"),
    path("crawls/<int:run_id>/export/<str:name>", run_exports.export, name="run-export"),
    path("crawls/<int:run_id>/pages/<int:entry_id>/", address_page.page, name="run-page"),
    path("crawls/<int:run_id>/pages/<int:entry_id>/copy", address_page.copy, name="run-page-copy"),
    path("crawls/<int:run_id>/findings/", findings.tab, name="run-findings"),
    path("crawls/<int:run_id>/findings/derive/", findings.derive, name="findings-derive"),
    path("findings/<int:finding_id>/decide/", findings.decide, name="finding-decide"),
    path("findings/<int:finding_id>/fix/", findings.fix, name="finding-fix"),
    path("findings/<int:finding_id>/undo/", findings.take_back, name="finding-undo"),
    path("crawls/<int:run_id>/<slug:tab>/", tab_frame.tab, name="run-tab"),
    path("documents/<int:doc_id>/request-crawl/", request_views.request_crawl, name="request-crawl"),
    path("requests/<int:request_id>/answer/", request_views.answer, name="request-answer"),
    path("tasks/claim/", request_views.claim, name="task-claim"),
    path("notices/read/", notice_views.read, name="notices-read"),
    path("notices/mute/", notice_views.mute, name="notices-mute"),
    path("me/notifications/", notice_views.settings, name="my-notices"),
    path("settings/webhooks/", notice_views.webhooks, name="webhooks"),
    path("search-tools/missing/", missing_page.missing, name="search-missing"),
    path("propagation/", include("crawler.propagation.urls")),
    path("index/word/", word_index.word, name="index-word"),
    path("index/page/<int:page_id>/", word_index.page, name="index-page"),
    path("reports/", include("crawler.reports.urls")),
    path("help/", help_views.index, name="help"),
    path("help/<slug:topic>/", help_views.topic, name="help-topic"),
]
