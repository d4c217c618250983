"""Owns: people in Django's admin, to look at; they are changed under Settings, with audit."""

from django.contrib import admin

from ..web.admin.admin_site import ReadOnlyAdmin
from .models import Person


@admin.register(Person)
class PersonAdmin(ReadOnlyAdmin):
    list_display = ("user", "role")
    list_filter = ("role", "projects")
    list_select_related = ("user",)
    search_fields = ("user__username", "user__last_name")
