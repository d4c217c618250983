"""Doors to documents, crawl points and exclude URLs."""

from django.urls import path

from . import (
    across,
    across_commands,
    bulk_commands,
    dialog,
    document,
    documents,
    excludes,
    history,
    imports,
    notes,
    pages,
    panel,
    panel_commands,
    preflight,
    tester,
)

DOC = "documents/<int:doc_id>/"
POINTS = DOC + "crawl-points/"
EXCLUDES = DOC + "exclude-urls/"

urlpatterns = [
    path("crawl-points/", across.points, name="points"),
    path("crawl-points/export.csv", across.export, name="points-export"),
    path("crawl-points/bulk/", across_commands.bulk_command, name="points-bulk"),
    path("crawl-points/undo/", across_commands.take_back, name="points-undo"),
    path("documents/", documents.documents, name="documents"),
    path("documents/choose/", documents.choose, name="documents-choose"),
    path("documents/views/save/", documents.save_view, name="view-save"),
    path("documents/views/delete/", documents.delete_view, name="view-delete"),
    path("documents/export.csv", documents.export, name="documents-export"),
    path(DOC, document.document, name="document"),
    path(DOC + "runs/", document.runs, name="document-runs"),
    path(DOC + "pages/", pages.pages, name="document-pages"),
    path(DOC + "pages/export.csv", pages.export, name="document-pages-export"),
    path(DOC + "notes/", notes.notes, name="document-notes"),
    path(DOC + "notes/delete/", notes.delete, name="document-notes-delete"),
    path(DOC + "notes/restore/", notes.restore, name="document-notes-restore"),
    path(DOC + "history/", history.history, name="document-history"),
    path(POINTS, panel.panel, name="crawl-points"),
    path(POINTS + "export.csv", panel.export, name="crawl-points-export"),
    path(POINTS + "import/", imports.points, name="crawl-points-import"),
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
    path(EXCLUDES, excludes.excludes, name="exclude-urls"),
    path(EXCLUDES + "export.csv", imports.export_excludes, name="exclude-urls-export"),
    path(EXCLUDES + "import/", imports.excludes, name="exclude-urls-import"),
    path(EXCLUDES + "apply/", excludes.apply, name="exclude-urls-apply"),
    path(EXCLUDES + "delete/", excludes.delete, name="exclude-urls-delete"),
    path(EXCLUDES + "restore/", excludes.restore, name="exclude-urls-restore"),
]
