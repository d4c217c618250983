"""Owns: the ways back: to the list of documents and to the panel, both as the person had left them.

Does not: know what filters and orders mean. Called by: the screens of crawl points, templates of both apps.
"""

from typing import Any

from django import template
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

register = template.Library()

LAST_LIST = "navigator"  # session key: the query string of the list of documents
_SORT = "panel"  # session key: the document whose panel was looked at last, and its order


def list_url(request: HttpRequest, document_id: int) -> str:
    """Back to the list as it was, with the same document chosen; its focus brings it in sight."""
    query = request.session.get(LAST_LIST, "")
    start = f"{query}&" if query else ""
    return f"{reverse('documents')}?{start}selected={document_id}"


@register.simple_tag(takes_context=True)
def documents_url(context: template.Context, document_id: int) -> str:
    return list_url(context["request"], document_id)


def remember_panel(request: HttpRequest, document_id: int) -> None:
    seen = [document_id, request.GET.get("sort", "")[:20]]
    if request.session.get(_SORT, [document_id, ""]) != seen:
        request.session[_SORT] = seen


def order_of_panel(request: HttpRequest, document_id: int) -> str:
    """Empty for the usual one."""
    known, sort = request.session.get(_SORT, [0, ""])
    return str(sort) if known == document_id else ""


def panel_url(request: HttpRequest, document_id: int, **query: Any) -> str:
    pairs = {"sort": order_of_panel(request, document_id)} | query
    text = urlencode({name: value for name, value in pairs.items() if value})
    return reverse("crawl-points", args=[document_id]) + (f"?{text}" if text else "")


def back_to_panel(request: HttpRequest, document: Any, **query: Any) -> Any:
    return redirect(panel_url(request, document.pk, **query))
