"""Owns: the numbers beside the items of the main navigation. Does not: know what is counted (each app says so).

A number is asked for at most every 20 seconds for each person: it stands on every page. The screen that lists the
things knows better and says it. Called by: context, the apps that count, their screens.
"""

from collections.abc import Callable
from typing import Any

from django.core.cache import cache

SECONDS = 20

COUNTERS: dict[str, Callable[[Any], int]] = {}  # by the name of the item's URL; filled while the apps are loaded


def of(name: str, user: Any) -> int:
    if name not in COUNTERS:
        return 0
    known = cache.get(_key(name, user))
    return say(name, user, COUNTERS[name](user)) if known is None else int(known)


def say(name: str, user: Any, number: int) -> int:
    cache.set(_key(name, user), number, SECONDS)
    return number


def _key(name: str, user: Any) -> str:
    return f"count:{name}:{user.pk}"
