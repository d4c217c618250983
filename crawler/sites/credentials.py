"""Owns: which request gets a password, and that a crawl point whose password a site refuses is left alone.

Does not: store one, or speak to a site. Called by: the instance.

A password goes only to URLs under the crawl point's root string on its own origin; an https crawl point's never
travels over http. It is read by id when it is needed, lives in memory only, and is forgotten with the instance.
"""

import logging
from functools import partial

from django.db.models import QuerySet

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.addresses.roots import begins_with, canonical_root
from clearinghouse.vault.sealing import CannotUnseal
from clearinghouse.web.plurals import plural
from crawlpoints import queries
from crawlpoints.models import AuthType, CrawlPoint, CrawlPointLink

from ..fetch.fetcher import STRIKES
from ..fetch.sign_in.point_key import PointKey, SiteSignInForm
from ..launching import control
from ..models import Event
from ..values import Credentials, PointSettings

log = logging.getLogger(__name__)


class InstanceCredentials:
    """The keys of one instance. `run_id` names the run whose log hears of a crawl point that is paused."""

    def __init__(self, run_id: int | None = None) -> None:
        self._run_id = run_id
        self._kept: dict[int, Credentials | Refusal] = {}
        self._refused: dict[int, int] = {}  # crawl point -> refusals in this run, by all instances

    def for_request(self, owner: PointSettings, url: str) -> Credentials | Refusal | None:
        """The credentials for this URL, none, or why it must not be fetched at all."""
        if owner.auth_type == AuthType.NONE or not _belongs(owner, url):
            return None
        if owner.id not in self._kept:
            self._kept[owner.id] = self._read(owner)
        return self._kept[owner.id]

    def _read(self, owner: PointSettings) -> Credentials | Refusal:
        if self._was_paused(owner):
            return Refusal("auth_failed", "the crawl point is paused: its sign-in was refused earlier in this run")
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
        refused = self._refused[owner.id] = self._events(_refusal(owner)).count()
        if refused >= STRIKES:
            return Refusal(
                "auth_failed", f"the crawl point is paused: it was refused {plural(refused, 'time')} in this run"
            )
        return PointKey(
            owner.auth_type, owner.login, password, point_id=owner.id, form=form, refused=refused, pause=pause
        )

    def refused(self, owner: PointSettings) -> None:
        """The site refused a page's password: written at once, so that nobody who takes over begins to count anew."""
        count = self._refused[owner.id] = self._refused.get(owner.id, 0) + 1
        if self._run_id is not None and count <= STRIKES:
            text = f"{owner.url} refused the saved user ID and password ({count} of at most {STRIKES} times)"
            control.note(self._run_id, _refusal(owner), text, _document_of(owner))

    def opened(self, owner: PointSettings) -> None:
        """The password is right: what was refused before says nothing about it."""
        if self._refused.pop(owner.id, 0):
            self._events(_refusal(owner)).delete()

    def _events(self, kind: str) -> QuerySet[Event]:
        return Event.objects.filter(run_id=self._run_id or 0, kind=kind)

    def _was_paused(self, owner: PointSettings) -> bool:
        """Whether this run left the crawl point alone already: with another instance, or before it was resumed."""
        return self._events("sign-in").filter(text__startswith=_paused(owner)).exists()

    def _pause(self, owner: PointSettings, why: str) -> None:
        """The site will not have this key: nothing more is sent for the crawl point, and the run's log says so."""
        self._kept[owner.id] = Refusal("auth_failed", f"the crawl point is paused: {why}")
        log.warning("Crawl point %s is paused: %s", owner.id, why)
        if self._run_id is not None:
            text = f"{_paused(owner)}: {why}. Check its sign-in; its remaining pages are not fetched."
            control.note(self._run_id, "sign-in", text, _document_of(owner))


def _paused(owner: PointSettings) -> str:
    return f"Crawl point {owner.url[:250]} is paused"


def _refusal(owner: PointSettings) -> str:
    """The kind of the events that count refusals of this crawl point."""
    return f"refused-{owner.id}"


def _document_of(owner: PointSettings) -> int | None:
    link = CrawlPointLink.objects.filter(crawl_point_id=owner.id).first()
    return link.document_id if link else None


def _form(owner: PointSettings) -> SiteSignInForm | Refusal:
    start, page = parse(owner.url), parse(owner.sign_in_url)
    if isinstance(start, Refusal) or isinstance(page, Refusal) or start.host != page.host:
        return Refusal("auth_failed", "the sign-in page is on another site than the crawl point")
    if start.scheme == "https" and page.scheme != "https":
        return Refusal("auth_failed", "the sign-in page is not on https, and the crawl point is")
    return SiteSignInForm(page.href, owner.sign_in_user_field, owner.sign_in_password_field, owner.signed_in_text)


def _belongs(owner: PointSettings, url: str) -> bool:
    start, here = parse(owner.url), parse(url)
    if isinstance(start, Refusal) or isinstance(here, Refusal):
        return False
    return start.origin == here.origin and begins_with(here.href, canonical_root(owner.root))
