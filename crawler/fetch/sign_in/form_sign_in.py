"""Signing in at a form: get the page, send the form, follow where it leads, and see whether it worked.

The password goes to the saved address and a form action on the same site, never over http where the page was https,
never in an address. Redirects are followed here, and only on this site.
"""

import time
from dataclasses import dataclass, field, replace

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parsing import parse, resolve
from crawler.reasons import answered
from crawler.values import Fetched, Request

from ..curl_transfer import WHOLE_SECONDS
from ..requests_exchange import FilledIn, RequestsConnection
from . import sign_in_forms
from .cookies import Jar
from .point_key import PointKey

_HOPS = 10


@dataclass(frozen=True, slots=True)
class SignedIn:
    """How it went: a jar of cookies, or why not: a reason, or the status of a site that is in trouble for now."""

    key: PointKey
    jar: Jar | None = field(default=None, repr=False)
    reason: str = ""
    detail: str = ""
    status: int = 0


class Attempt:
    """One sign-in; all of it has the time of one page."""

    def __init__(self, line: RequestsConnection, key: PointKey) -> None:
        assert key.form is not None
        self._line = line
        self._key = key
        self._form = key.form
        self._until = time.monotonic() + WHOLE_SECONDS
        self._jar = Jar("")

    def make(self) -> SignedIn:
        place = parse(self._form.url)
        if isinstance(place, Refusal):
            return self._failed("the address of the sign-in page cannot be read")
        self._jar = Jar(place.host)
        page = self._follow(self._get(place))
        if page.reason or not 200 <= page.status < 300:
            return self._unreachable(page)
        filled = sign_in_forms.fill_in(page, self._key)
        if isinstance(filled, str):
            return self._failed(filled)
        page = self._follow(self._post(filled, page))
        if page.reason or page.status >= 500 or page.status == 429:
            return self._unreachable(page)
        if not sign_in_forms.signed_in(page, self._form):
            return self._failed("the site did not accept the saved user ID and password")
        return SignedIn(self._key, self._jar)

    def _get(self, address: Address) -> Fetched:
        request = Request(address.href, address, cookies=self._jar.header(address))
        return self._keep(self._line.get(request, self._until + self._line.waited))

    def _post(self, filled: sign_in_forms.FoundForm, page: Fetched) -> Fetched:
        address = filled.action
        request = Request(address.href, address, cookies=self._jar.header(address))
        until = self._until + self._line.waited
        return self._keep(self._line.post(request, FilledIn(filled.data, page.request.url), until))

    def _keep(self, answer: Fetched) -> Fetched:
        self._jar.take(answer.headers, answer.request.address)
        return answer

    def _follow(self, answer: Fetched) -> Fetched:
        """Where redirects lead, by GET; the password is not sent again."""
        start = answer.request.address
        for _ in range(_HOPS):
            if answer.reason or not 300 <= answer.status < 400:
                return answer
            place = parse(resolve(answer.request.address.href, answer.header("location")))
            if isinstance(place, Refusal) or place.origin != start.origin:
                return replace(answer, reason="auth_failed", detail="the sign-in leads to another site")
            answer = self._get(place)
        return replace(answer, reason="auth_failed", detail="the sign-in redirects in a circle")

    def _failed(self, detail: str) -> SignedIn:
        return SignedIn(self._key, reason="auth_failed", detail=detail)

    def _unreachable(self, page: Fetched) -> SignedIn:
        """No verdict about the password: the site was not able to give one."""
        if page.reason:
            return SignedIn(self._key, reason=page.reason, detail=page.detail)
        if page.status >= 500 or page.status == 429:
            return SignedIn(self._key, status=page.status)
        return self._failed(f"the sign-in page answered {answered(page.status)}")
