"""One address fetched now: each hop checked as the crawler checks it, then what the page holds."""

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import resolve
from clearinghouse.published.types import PAGE_TYPES

from ..engine.response_kind import PAGE, REDIRECT, REDIRECTS, SELF_REDIRECTS, judge
from ..errors import TimeUsedUp, TooManyAtOnce
from ..policy.frontier import MAX_HOPS
from ..policy.identity import own_form, wire_url
from ..policy.judge import LinkVerdict, first_blocking
from ..reasons import reason_of
from ..sites.credentials import InstanceCredentials
from ..values import Fetched, PointSettings, Request, Snapshot
from .throttled_client import ThrottledClient, looking
from .timed_rules import Deadline, RulesInTime

SECONDS = 10.0
LINKS_SHOWN = 50
_NO_MORE_TRIES = 99
_PASSWORD = re.compile(rb"<input\b[^<>]{0,2000}?\btype\s*=\s*[\"']?password\b", re.IGNORECASE)


@dataclass(slots=True)
class Hop:
    """One request and its answer."""

    url: str
    status: int = 0
    reason: str = ""
    sentence: str = ""
    remote: str = ""
    milliseconds: int = 0
    leads_to: str = ""


@dataclass(slots=True)
class FetchedOnce:
    hops: list[Hop] = field(default_factory=list)
    verdict: str = ""  # one sentence
    good: bool = False
    retry_after: int = 0  # seconds after which it may be asked for, when it was not: too many at once
    type: str = ""
    content_type: str = ""
    size: int = 0
    charset: str = ""
    title: str = ""
    sign_in_page: bool = False
    links_in: list[str] = field(default_factory=list)
    links_out: list[tuple[str, str]] = field(default_factory=list)  # address, why not
    count_in: int = 0
    count_out: int = 0
    robots_rule: str = ""
    robots: tuple[bool, str] | None = None  # of the address asked for: whether robots.txt allows it, and its rule

    @property
    def advice(self) -> str:
        """What to do, where it was stopped."""
        last = self.hops[-1] if self.hops and not self.good else None
        return reason_of(last.reason, last.status).advice if last else ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class SingleFetcher:
    """Visits with the rules of one snapshot. Passwords go where the saved crawl points allow it, whatever was typed:
    an unsaved URL or root string never sends a saved password anywhere.
    """

    def __init__(
        self, snapshot: Snapshot, saved: Mapping[int, PointSettings], line: ThrottledClient, deadline: Deadline
    ) -> None:
        self.rules = RulesInTime(snapshot, deadline)
        self.owners = {point.id: point for point in snapshot.points}
        self._saved = saved
        self._line = line
        self._keys = InstanceCredentials()

    def visit(self, url: str) -> FetchedOnce:
        """The first address is fetched even if the rules would not let it in; where it redirects to is not."""
        found = FetchedOnce()
        judged = self.rules.verdicts(url)
        for _ in range(MAX_HOPS + 1):
            fetched = self.fetch(judged, found)
            if fetched is None:
                return found
            answer = judge(fetched, _NO_MORE_TRIES, time.time())
            if answer.kind == PAGE:
                self._page(judged, fetched, found)
                return found
            if answer.kind != REDIRECT:
                found.hops[-1].reason = answer.reason
                found.verdict = _sentence(answer.reason, answer.detail, fetched.status)
                return found
            judged = self._next(judged, fetched, found)
            if found.verdict:
                return found
        found.verdict, found.hops[-1].reason = _sentence("too_many_redirects", ""), "too_many_redirects"
        return found

    def fetch(self, judged: LinkVerdict, found: FetchedOnce) -> Fetched | None:
        """One request, unless something forbids it; the hop says how it went."""
        hop = Hop(judged.url)
        found.hops.append(hop)
        refusal = self._forbidden(judged, found)
        if refusal is not None:
            hop.reason, found.verdict = refusal.reason, _sentence(refusal.reason, refusal.detail)
            return None
        assert judged.address is not None
        owner = self.owners.get(judged.owner)
        key = self._key(judged)
        if isinstance(key, Refusal):
            hop.reason, found.verdict = key.reason, _sentence(key.reason, key.detail)
            return None
        url = wire_url(judged.address, owner.append if owner else "")
        if isinstance(url, Refusal):
            hop.reason, found.verdict = url.reason, _sentence(url.reason, url.detail)
            return None
        request = Request(
            url, judged.address, credentials=key,
            accept_bad_certificate=bool(owner and owner.accept_bad_certificate),
        )  # fmt: skip
        fetched = self._asked(judged, request)
        hop.status, hop.reason, hop.remote = fetched.status, fetched.reason, fetched.remote
        hop.milliseconds = fetched.milliseconds
        return fetched

    def _asked(self, judged: LinkVerdict, request: Request) -> Fetched:
        """The answer; of an address that its site redirects to itself with a session id the answer there, as a crawl
        would ask."""
        assert judged.address is not None
        delay = self._line.delay(judged.address.origin)
        fetched = self._line.ask(request, delay)
        for _ in range(SELF_REDIRECTS):
            place = resolve(judged.url, fetched.header("location")) if fetched.status in REDIRECTS else ""
            if not place or self.rules.verdicts(place).url != judged.url:
                break
            form, owner = own_form(judged.address, fetched, place), self.owners.get(judged.owner)
            url = wire_url(form, owner.append if owner else "") if form else ""
            if not url or isinstance(url, Refusal):
                break
            fetched = self._line.ask(replace(request, url=url), delay)
        return fetched

    def _forbidden(self, judged: LinkVerdict, found: FetchedOnce) -> Refusal | None:
        """What stops even a look: no web address, a port, and robots.txt unless the crawl point ignores it."""
        blocking = first_blocking(judged.refusals.values())
        if judged.address is None or (blocking and blocking.reason in {"bad_address", "too_long", "port_not_allowed"}):
            return blocking or Refusal("bad_address")
        owner = self.owners.get(judged.owner)
        if owner and owner.ignore_robots:
            return None
        robots = self._line.robots(judged.address.origin)
        allowed, rule = robots.allowed(judged.url) if robots else (True, "")
        found.robots_rule = rule
        if robots and len(found.hops) == 1:
            found.robots = (allowed, rule)
        return None if allowed else Refusal("robots_disallowed", rule)

    def _key(self, judged: LinkVerdict) -> Any:
        saved = self._saved.get(judged.owner)
        return self._keys.for_request(saved, judged.url) if saved else None

    def _next(self, judged: LinkVerdict, fetched: Fetched, found: FetchedOnce) -> LinkVerdict:
        place = resolve(judged.url, fetched.header("location"))
        target = self.rules.verdicts(place)
        found.hops[-1].leads_to = target.url
        if any(hop.url == target.url for hop in found.hops):
            found.verdict, found.hops[-1].reason = _sentence("redirect_loop", ""), "redirect_loop"
        refusal = first_blocking(target.refusals.values())
        if refusal is not None:
            reason = {"outside_root": "redirect_outside_root", "excluded": "redirect_excluded"}
            found.verdict = _sentence(reason.get(refusal.reason, refusal.reason), target.url)
            found.hops[-1].reason = reason.get(refusal.reason, refusal.reason)
        return target

    def _page(self, judged: LinkVerdict, fetched: Fetched, found: FetchedOnce) -> None:
        found.content_type, found.size = fetched.header("content-type")[:100], len(fetched.body)
        found.sign_in_page = looks_like_sign_in(fetched.body)
        page = self._line.read(fetched, judged.url)
        if page is None or page.refusal is not None:
            refusal = page.refusal if page else None
            found.verdict = _sentence(refusal.reason, refusal.detail) if refusal else _sentence("parse_timeout", "")
            return
        found.type, found.charset, found.title = PAGE_TYPES.get(page.type_id, ""), page.charset, page.title
        for url in dict.fromkeys(page.urls):
            refusal = first_blocking(self.rules.verdicts(url).refusals.values())
            if refusal is None and self.rules.points:
                found.count_in += 1
                if found.count_in <= LINKS_SHOWN:
                    found.links_in.append(url)
            else:
                found.count_out += 1
                if found.count_out <= LINKS_SHOWN:
                    found.links_out.append((url, _label(refusal)))
        found.good, found.verdict = True, f"It answered {fetched.status} and can be read"
        if found.sign_in_page:
            found.verdict += ", but it looks like a sign-in page"


def visit(snapshot: Snapshot, saved: Mapping[int, PointSettings], url: str, seconds: float = SECONDS) -> FetchedOnce:
    """Fetch it now; never longer than these seconds."""
    try:
        with looking(seconds) as line:
            return SingleFetcher(snapshot, saved, line, Deadline(seconds)).visit(url)
    except TimeUsedUp as late:
        return FetchedOnce(verdict=str(late))
    except TooManyAtOnce as refusal:
        return FetchedOnce(verdict=str(refusal), retry_after=refusal.seconds)


def looks_like_sign_in(body: bytes) -> bool:
    return bool(_PASSWORD.search(body))


def _label(refusal: Refusal | None) -> str:
    return reason_of(refusal.reason).label if refusal else "no active crawl point"


def _sentence(code: str, detail: str, status: int = 0) -> str:
    text = reason_of(code, status).because
    return text[0].upper() + text[1:] + (f": {detail}" if detail and detail != str(status) else "")
