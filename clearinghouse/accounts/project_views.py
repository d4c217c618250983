"""Owns: the screens of projects, for administrators. Does not: change them (library.services). Called by: urls."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from clearinghouse.library import services
from clearinghouse.library.models import Project
from clearinghouse.search.curation import services as curation

from .forms import problems_of
from .policies import Action, require


class ProjectForm(forms.Form):
    name = forms.CharField(label="Name", max_length=100, error_messages={"required": "Enter a name"})

    def __init__(self, *args: Any, project: Project | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        taken = Project.objects.filter(name__iexact=name)
        if self.project is not None:
            taken = taken.exclude(pk=self.project.pk)
        if taken.exists():
            raise forms.ValidationError("There is already a project with this name")
        return name


@require_http_methods(["GET", "HEAD", "POST"])
def projects(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        project = services.project_named(form.cleaned_data["name"])
        messages.success(request, f"Added {project}.")
        return redirect("projects")
    rows = Project.objects.annotate(
        documents=Count("sheets", filter=~Q(sheets__document__deleted=1), distinct=True),
        members=Count("people", distinct=True),
    )
    context = {"rows": rows, "form": form, "problems": problems_of(form) if form.is_bound else []}
    return render(request, "accounts/projects.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def project_edit(request: HttpRequest, project_id: int) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    project = get_object_or_404(Project.objects, pk=project_id)
    form = ProjectForm(
        request.POST if request.method == "POST" else None, project=project, initial={"name": project.name}
    )
    if form.is_bound and form.is_valid():
        services.rename_project(project, form.cleaned_data["name"])
        curation.follow_project(project.pk, project.name)
        messages.success(request, f"Saved {project}.")
        return redirect("projects")
    context = {
        "form": form,
        "problems": problems_of(form) if form.is_bound else [],
        "project": project,
        "documents": _documents(project),
        "people": project.people.select_related("user").order_by("user__username"),
    }
    return render(request, "accounts/project.html", context, status=422 if form.is_bound else 200)


@require_POST
def project_delete(request: HttpRequest, project_id: int) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    project = get_object_or_404(Project.objects, pk=project_id)
    if _documents(project):
        messages.error(request, f"{project} still has documents. Give them to another project first.")
        return redirect("project-edit", project_id)
    services.delete_project(project)
    messages.success(request, f"Deleted {project}. Adding a project with this name brings it back.")
    return redirect("projects")


def _documents(project: Project) -> int:
    return project.sheets.exclude(document__deleted=1).count()
