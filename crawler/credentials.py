"""Owns: which request gets a password, and that a crawl point whose password a site refuses is left alone.

Does not: store one, or speak to a site. Called by: the instance.

A password goes only to URLs under the crawl point's root string on its own origin; an https crawl point's never
travels over http. It is read by id when it is needed, lives in memory only, and is forgotten with the instance.
"""

import logging
from functools import partial

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parse import parse
from clearinghouse.addresses.roots import begins_with, canonical_root
from clearinghouse.secrets.vault import CannotUnseal
from crawlpoints import queries
from crawlpoints.models import AuthType, CrawlPoint, CrawlPointLink

from . import control
from .fetch.point_key import PointKey, SignInForm
from .values import Credentials, PointSettings

log = logging.getLogger(__name__)


class Keys:
    """The keys of one instance. `run_id` names the run whose log hears of a crawl point that is paused."""

    def __init__(self, run_id: int | None = None) -> None:
        self._run_id = run_id
        self._kept: dict[int, Credentials | Refusal] = {}

    def for_request(self, owner: PointSettings, url: str) -> Credentials | Refusal | None:
        """The credentials for this URL, none, or why it must not be fetched at all."""
        if owner.auth_type == AuthType.NONE or not _belongs(owner, url):
            return None
        if owner.id not in self._kept:
            self._kept[owner.id] = self._read(owner)
        return self._kept[owner.id]

    def _read(self, owner: PointSettings) -> Credentials | Refusal:
        point = CrawlPoint.objects.filter(pk=owner.id).first()
        if point is None:
            return Refusal("auth_failed", "the crawl point was deleted")
        form = _form(owner) if owner.auth_type == AuthType.FORM else None
        if isinstance(form, Refusal):
            return form
        try:
            password = queries.password_of(point)
        except CannotUnseal:
            return Refusal("auth_failed", "the saved password cannot be read; enter it again")
        pause = partial(self._pause, owner)
        return PointKey(owner.auth_type, owner.login, password, point_id=owner.id, form=form, pause=pause)

    def _pause(self, owner: PointSettings, why: str) -> None:
        """The site will not have this key: nothing more is sent for the crawl point, and the run's log says so."""
        self._kept[owner.id] = Refusal("auth_failed", f"the crawl point is paused: {why}")
        log.warning("Crawl point %s is paused: %s", owner.id, why)
        if self._run_id is not None:
            link = CrawlPointLink.objects.filter(crawl_point_id=owner.id).first()
            text = f"Crawl point {owner.url} is paused: {why}. Check its sign-in; its remaining pages are not fetched."
            control.note(self._run_id, "sign-in", text, link.document_id if link else None)


def _form(owner: PointSettings) -> SignInForm | Refusal:
    start, page = parse(owner.url), parse(owner.sign_in_url)
    if isinstance(start, Refusal) or isinstance(page, Refusal) or start.host != page.host:
        return Refusal("auth_failed", "the sign-in page is on another site than the crawl point")
    if start.scheme == "https" and page.scheme != "https":
        return Refusal("auth_failed", "the sign-in page is not on https, and the crawl point is")
    return SignInForm(page.href, owner.sign_in_user_field, owner.sign_in_password_field, owner.signed_in_text)


def _belongs(owner: PointSettings, url: str) -> bool:
    start, here = parse(owner.url), parse(url)
    if isinstance(start, Refusal) or isinstance(here, Refusal):
        return False
    return start.origin == here.origin and begins_with(here.href, canonical_root(owner.root))
