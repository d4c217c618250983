"""Doors to documents, crawl points and exclude URLs."""

from django.urls import path

from . import dialog, documents, excludes, panel, panel_commands, tester

DOC = "documents/<int:doc_id>/"
POINTS = DOC + "crawl-points/"
EXCLUDES = DOC + "exclude-urls/"

urlpatterns = [
    path("documents/", documents.documents, name="documents"),
    path("documents/choose/", documents.choose, name="documents-choose"),
    path("documents/export.csv", documents.export, name="documents-export"),
    path(DOC, documents.document, name="document"),
    path(POINTS, panel.panel, name="crawl-points"),
    path(POINTS + "export.csv", panel.export, name="crawl-points-export"),
    path(POINTS + "choose/", panel_commands.choose, name="crawl-points-choose"),
    path(POINTS + "delete/", panel_commands.delete, name="crawl-points-delete"),
    path(POINTS + "restore/", panel_commands.restore, name="crawl-points-restore"),
    path(POINTS + "bulk/", panel_commands.bulk, name="crawl-points-bulk"),
    path(POINTS + "test/", tester.tester, name="crawl-points-test"),
    path(POINTS + "new/", dialog.new, name="crawl-point-new"),
    path(POINTS + "<int:point_id>/edit/", dialog.edit, name="crawl-point-edit"),
    path(POINTS + "<int:point_id>/fix/", panel_commands.fix, name="crawl-point-fix"),
    path(EXCLUDES, excludes.excludes, name="exclude-urls"),
    path(EXCLUDES + "delete/", excludes.delete, name="exclude-urls-delete"),
    path(EXCLUDES + "restore/", excludes.restore, name="exclude-urls-restore"),
]
