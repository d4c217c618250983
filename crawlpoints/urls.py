"""Doors to documents, crawl points and exclude URLs."""

from django.urls import path

from .all_points import command_views
from .all_points import views as across
from .dialog import preflight
from .dialog import views as dialog
from .documents import document_views, history_views, navigator_views, notes_views, saved_views_page, stored_pages_views
from .imports import views as imports
from .panel import bulk_commands, exclude_views, panel_commands
from .panel import views as panel
from .tester import views as tester

DOC = "documents/<int:doc_id>/"
POINTS = DOC + "crawl-points/"
EXCLUDES = DOC + "exclude-urls/"

urlpatterns = [
    path("me/views/", saved_views_page.my_views, name="me-views"),
    path("crawl-points/", across.points, name="points"),
    path("crawl-points/export.csv", across.export, name="points-export"),
    path("crawl-points/bulk/", command_views.bulk_command, name="points-bulk"),
    path("crawl-points/undo/", command_views.take_back, name="points-undo"),
    path("documents/", navigator_views.documents, name="documents"),
    path("documents/choose/", navigator_views.choose, name="documents-choose"),
    path("documents/views/save/", navigator_views.save_view, name="view-save"),
    path("documents/views/delete/", navigator_views.delete_view, name="view-delete"),
    path("documents/export.csv", navigator_views.export, name="documents-export"),
    path(DOC, document_views.document, name="document"),
    path(DOC + "runs/", document_views.runs, name="document-runs"),
    path(DOC + "pages/", stored_pages_views.pages, name="document-pages"),
    path(DOC + "pages/export.csv", stored_pages_views.export, name="document-pages-export"),
    path(DOC + "notes/", notes_views.notes, name="document-notes"),
    path(DOC + "notes/delete/", notes_views.delete, name="document-notes-delete"),
    path(DOC + "notes/restore/", notes_views.restore, name="document-notes-restore"),
    path(DOC + "history/", history_views.history, name="document-history"),
    path(POINTS, panel.panel, name="crawl-points"),
    path(POINTS + "export.csv", panel.export, name="crawl-points-export"),
    path(POINTS + "import/", imports.points, name="crawl-points-import"),
    path(POINTS + "import/<int:import_id>/", imports.job, name="crawl-points-import-job"),
    path(POINTS + "import/<int:import_id>/live/", imports.job_live, name="crawl-points-import-live"),
    path(POINTS + "import/<int:import_id>/order/", imports.job_order, name="crawl-points-import-order"),
    path(POINTS + "running/", panel.running, name="crawl-points-running"),
    path(POINTS + "choose/", panel_commands.choose, name="crawl-points-choose"),
    path(POINTS + "launch/", panel_commands.launch, name="crawl-points-launch"),
    path(POINTS + "delete/", panel_commands.delete, name="crawl-points-delete"),
    path(POINTS + "restore/", panel_commands.restore, name="crawl-points-restore"),
    path(POINTS + "bulk/", bulk_commands.bulk_command, name="crawl-points-bulk"),
    path(POINTS + "undo/", bulk_commands.take_back, name="crawl-points-undo"),
    path(POINTS + "test/", tester.tester, name="crawl-points-test"),
    path(POINTS + "test/export.csv", tester.export, name="crawl-points-test-export"),
    path(POINTS + "new/", dialog.new, name="crawl-point-new"),
    path(POINTS + "<int:point_id>/edit/", dialog.edit, name="crawl-point-edit"),
    path(POINTS + "<int:point_id>/fix/", panel_commands.fix, name="crawl-point-fix"),
    path(POINTS + "<int:point_id>/look/", preflight.preflight, name="crawl-point-look"),
    path(POINTS + "<int:point_id>/use/", preflight.use, name="crawl-point-use"),
    path(EXCLUDES, exclude_views.excludes, name="exclude-urls"),
    path(EXCLUDES + "export.csv", imports.export_excludes, name="exclude-urls-export"),
    path(EXCLUDES + "import/", imports.excludes, name="exclude-urls-import"),
    path(EXCLUDES + "apply/", exclude_views.apply, name="exclude-urls-apply"),
    path(EXCLUDES + "delete/", exclude_views.delete, name="exclude-urls-delete"),
    path(EXCLUDES + "restore/", exclude_views.restore, name="exclude-urls-restore"),
]
