"""Owns: which request gets a password. Does not: store one. Called by: the instance.

A password goes only to URLs under the crawl point's root string on its own origin; an https crawl point's never
travels over http. It is read by id when it is needed, lives in memory only, and is forgotten with the instance.
"""

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parse import parse
from clearinghouse.addresses.roots import begins_with, canonical_root
from clearinghouse.secrets.vault import CannotUnseal
from crawlpoints import queries
from crawlpoints.models import AuthType, CrawlPoint

from .values import Credentials, PointSettings

_INLINE = {AuthType.BASIC, AuthType.DIGEST}


class Keys:
    def __init__(self) -> None:
        self._kept: dict[int, Credentials | Refusal] = {}

    def for_request(self, owner: PointSettings, url: str) -> Credentials | Refusal | None:
        """The credentials for this URL, none, or why it must not be fetched at all."""
        if owner.auth_type not in _INLINE or not _belongs(owner, url):
            return None
        if owner.id not in self._kept:
            self._kept[owner.id] = _read(owner)
        return self._kept[owner.id]


def _belongs(owner: PointSettings, url: str) -> bool:
    start, here = parse(owner.url), parse(url)
    if isinstance(start, Refusal) or isinstance(here, Refusal):
        return False
    return start.origin == here.origin and begins_with(here.href, canonical_root(owner.root))


def _read(owner: PointSettings) -> Credentials | Refusal:
    point = CrawlPoint.objects.filter(pk=owner.id).first()
    if point is None:
        return Refusal("auth_failed", "the crawl point was deleted")
    try:
        return Credentials(owner.auth_type, owner.login, queries.password_of(point))
    except CannotUnseal:
        return Refusal("auth_failed", "the saved password cannot be read; enter it again")
