"""Owns: what the page frame shows on every page. Does not: know any screen but by its URL name.

Called by: the template engine, for base.html.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from clearinghouse import __version__

from ..accounts.keys.api_keys import must_change_password
from ..accounts.policies import Action, may, role_of
from ..accounts.views import KEYS_COOKIE, THEME_COOKIE, THEMES
from . import banner, navigation_counts
from .help_topics import topic_of


@dataclass(frozen=True, slots=True)
class NavItem:
    label: str
    url: str
    current: bool
    count: Callable[[], int]  # asked only where the page shows it


# Label, URL name, what one must be allowed to do to see it, the beginnings of the addresses it stands for.
_NAV = (
    ("In Tray", "home", Action.VIEW, ()),
    ("Documents", "documents", Action.VIEW, ("/documents/", "/crawl-points/")),
    ("Crawls", "crawls", Action.VIEW_RUNS, ("/crawls/",)),
    ("Reports", "reports", Action.VIEW_RUNS, ("/reports/", "/index/")),
    ("Propagation", "propagation", Action.VIEW_PROPAGATION, ("/propagation/",)),
    ("Settings", "settings", Action.MANAGE_PEOPLE, ("/settings/",)),
)


def frame(request: HttpRequest) -> dict[str, Any]:
    user = getattr(request, "user", None)
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return {
        "nav": _nav(request.path, user) if user is not None and _works_here(user) else [],
        "role": role_of(user),
        "theme": theme if theme in THEMES and theme != "system" else "",
        "single_keys": request.COOKIES.get(KEYS_COOKIE) == "on",
        "help_url": _help_url(request),
        "version": __version__,
        "server_time": timezone.now(),
        "trouble": SimpleLazyObject(partial(_trouble, user)),
    }


def _works_here(user: Any) -> bool:
    """Who must choose a password first is offered nothing else."""
    return user.is_authenticated and not must_change_password(user)


def _trouble(user: Any) -> dict[str, str] | None:
    """For everybody who works here; the page that tells more is for administrators."""
    found = banner.now() if role_of(user) and _works_here(user) else None
    if found is None:
        return None
    if may(user, Action.ADMINISTER):
        return {"sentence": found.sentence, "url": address_named(found.page), "link": found.link}
    return {"sentence": found.for_all or found.sentence, "url": "", "link": ""}


def _help_url(request: HttpRequest) -> str:
    """The page for this screen; empty where there is no help."""
    match = request.resolver_match
    topic = topic_of(match.url_name or "", request.GET.dict() | match.kwargs) if match else ""
    return address_named("help-topic", topic) if topic else address_named("help")


def _nav(path: str, user: Any) -> list[NavItem]:
    items = []
    for label, name, action, beginnings in _NAV:
        url = address_named(name)
        if url and may(user, action):
            current = path.startswith(beginnings) if beginnings else path == url
            items.append(NavItem(label, url, current, partial(navigation_counts.of, name, user)))
    return items


def address_named(name: str, *arguments: str) -> str:
    """Empty where a screen is not installed."""
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""
