"""Owns: who enters Django's admin and what is registered there. Does not: know tables.

Called by: Django (see apps.py); every admin.py inherits HouseAdmin.
"""

from functools import wraps
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from clearinghouse.accounts.policies import Action, may, require


class HouseAdmin(admin.ModelAdmin):
    """Administrators may do everything here, nobody else anything; Django's own permissions are not asked."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return may(request.user, Action.ADMINISTER)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request.user, Action.ADMINISTER)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request.user, Action.ADMINISTER)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request.user, Action.ADMINISTER)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request.user, Action.ADMINISTER)


class ReadOnlyAdmin(HouseAdmin):
    actions = None

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class HouseAdminSite(admin.AdminSite):
    site_header = site_title = "Clearinghouse administration"
    index_title = "Tables"
    site_url = "/"

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        # Libraries register tables of their own (users, groups, queues): those would pass by policies and audit.
        if admin_class is not None and issubclass(admin_class, HouseAdmin):
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        return may(request.user, Action.ADMINISTER)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner = super().admin_view(view, cacheable)

        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            require(request.user, Action.ADMINISTER)  # a page that says who can grant it, not a second sign-in
            return inner(request, *args, **kwargs)

        return guarded

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """There is one door, with a throttle; who is not allowed in here is told who can grant it."""
        require(request.user, Action.ADMINISTER)
        return redirect("admin:index")

    def logout(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        from clearinghouse.accounts.views import sign_out

        return sign_out(request)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return redirect("password")
