"""Owns: the one sentence about trouble of the whole house, at the head of every page. Does not: look for trouble (each
app says what it knows of).

It is looked for at most every 20 seconds, not for each page. Called by: context, the apps that know.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.core.cache import cache

SECONDS = 20
_KEY = "trouble"


@dataclass(frozen=True, slots=True)
class BannerSentence:
    sentence: str
    page: str  # the name of the URL of the page that tells more, for administrators
    link: str
    for_all: str = ""  # who can do nothing about it is told this, where the sentence names what only machines need


SOURCES: list[
    Callable[[], BannerSentence | None]
] = []  # filled while the apps are loaded; the first that answers is shown


def now() -> BannerSentence | None:
    known: tuple[BannerSentence | None] | None = cache.get(_KEY)
    if known is None:
        known = (next((found for look in SOURCES if (found := look())), None),)
        cache.set(_KEY, known, SECONDS)
    return known[0]
