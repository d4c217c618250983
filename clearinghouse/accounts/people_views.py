"""Owns: the screens on which administrators manage people, and project managers the members of their projects.

Does not: change them (services), know who manages whom (members). Called by: urls.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from . import managed_people, services
from .forms import NewPersonForm, PersonForm, problems_of
from .models import Role
from .policies import Action, require, role_of


@require_safe
def people(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.MANAGE_PEOPLE)
    users = managed_people.people_of(request.user).select_related("person").prefetch_related("person__projects")
    rows = [(user, role_of(user) or _idle_role(user)) for user in users.order_by("-is_active", "username")]
    return render(
        request, "accounts/people.html", {"rows": rows, "manages_all": managed_people.manages_all(request.user)}
    )


def _idle_role(user: Any) -> Role | None:
    """The role a deactivated person would have."""
    person = getattr(user, "person", None)
    return Role(person.role) if person and person.role else None


@require_http_methods(["GET", "HEAD", "POST"])
def person_new(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.MANAGE_PEOPLE)
    form = NewPersonForm(request.POST or None, initial={"role": Role.DEVELOPER})
    if not managed_people.manages_all(request.user):
        form.limit(managed_people.projects_of(request.user), managed_people.GIVEN_BY_MANAGERS)
        form.fields["projects"].required = True
    if form.is_bound and form.is_valid():
        given = form.cleaned_data
        user, password = services.add_person(given["username"], Role(given["role"]), given["projects"], **form.names())
        return _show_password(request, user, password)
    context = {"form": form, "problems": problems_of(form) if form.is_bound else []}
    return render(request, "accounts/person_new.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def person_edit(request: HttpRequest, user_id: int) -> HttpResponse:
    user = managed_people.person_or_404(request.user, user_id)
    whole = managed_people.wholly(request.user, user)
    form = _form_for(request, user, whole)
    if form.is_bound and form.is_valid():
        role = Role(form.cleaned_data["role"])
        if user == request.user and role is not Role.ADMINISTRATOR:
            form.add_error("role", "You cannot take the administrator's role from yourself")
        else:
            projects = [*form.cleaned_data["projects"], *managed_people.kept_projects(request.user, user)]
            services.update_person(user, role, projects, **form.names())
            messages.success(request, f"Saved {user.get_username()}.")
            return redirect("people")
    context = {"form": form, "problems": problems_of(form) if form.is_bound else [], "person": user}
    context["whole"] = whole
    return render(request, "accounts/person_edit.html", context, status=422 if form.is_bound else 200)


def _form_for(request: HttpRequest, user: Any, whole: bool) -> PersonForm:
    form = PersonForm(request.POST or None, initial=_initial(user))
    if not managed_people.manages_all(request.user):
        form.limit(managed_people.projects_of(request.user), managed_people.GIVEN_BY_MANAGERS)
    if not whole:
        form.fix_all_but_projects()
    return form


def _initial(user: Any) -> dict[str, Any]:
    person = getattr(user, "person", None)
    return {
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "role": person.role if person else (role_of(user) or ""),
        "projects": person.projects.all() if person else [],
    }


@require_POST
def person_password(request: HttpRequest, user_id: int) -> HttpResponse:
    user = managed_people.require_wholly(request.user, user_id)
    return _show_password(request, user, services.reset_password(user))


@require_POST
def person_active(request: HttpRequest, user_id: int) -> HttpResponse:
    user = managed_people.require_wholly(request.user, user_id)
    active = request.POST.get("active") == "1"
    if user == request.user and not active:
        messages.error(request, "You cannot deactivate yourself.")
        return redirect("person-edit", user_id)
    services.set_active(user, active)
    word = "can sign in again" if active else "can no longer sign in"
    messages.success(request, f"{user.get_username()} {word}.")
    return redirect("people")


def _show_password(request: HttpRequest, user: Any, password: str) -> HttpResponse:
    # In the answer itself: a redirect would have to keep it somewhere.
    return render(request, "accounts/password_once.html", {"person": user, "password": password})
