from django.urls import path

from . import views

urlpatterns = [
    path("documents/new/", views.document_new, name="document-new"),
    path("documents/import/", views.documents_import, name="documents-import"),
    path("documents/<int:doc_id>/edit/", views.document_edit, name="document-edit"),
    path("documents/<int:doc_id>/delete/", views.document_delete, name="document-delete"),
    path("documents/<int:doc_id>/restore/", views.document_restore, name="document-restore"),
]
