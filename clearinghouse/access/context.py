"""Owns: what the page frame shows on every page. Does not: know any screen but by its URL name.

Called by: the template engine, for base.html.
"""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from clearinghouse import __version__

from .policies import Action, may, role_of
from .views import THEME_COOKIE, THEMES


@dataclass(frozen=True, slots=True)
class NavItem:
    label: str
    url: str
    current: bool
    count: int = 0


# Label, URL name, what one must be allowed to do to see it, the beginning of the addresses it stands for.
_NAV = (
    ("In Tray", "home", Action.VIEW, ""),
    ("Documents", "documents", Action.VIEW, "/documents/"),
    ("Crawls", "crawls", Action.VIEW_RUNS, "/crawls/"),
    ("Propagation", "propagation", Action.VIEW_PROPAGATION, "/propagation/"),
    ("Settings", "people", Action.ADMINISTER, "/settings/"),
)


def frame(request: HttpRequest) -> dict[str, Any]:
    user = getattr(request, "user", None)
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return {
        "nav": _nav(request.path, user) if user is not None and user.is_authenticated else [],
        "role": role_of(user),
        "theme": theme if theme in THEMES and theme != "system" else "",
        "version": __version__,
        "server_time": timezone.now(),
        "trouble": "",
    }


def _nav(path: str, user: Any) -> list[NavItem]:
    items = []
    for label, name, action, prefix in _NAV:
        url = _url(name)
        if url and may(user, action):
            items.append(NavItem(label, url, path.startswith(prefix) if prefix else path == url))
    return items


def _url(name: str) -> str:
    """Empty where a screen is not installed."""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
