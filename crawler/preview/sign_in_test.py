"""Test sign-in: the same keys and fetchers as a crawl, one page, a trace of steps and a plain verdict."""

from dataclasses import dataclass, field

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from crawlpoints.models import AuthType

from ..fetch.sign_in.point_key import PointKey, SiteSignInForm
from ..reasons import answered, reason_of
from ..sites.credentials import InstanceCredentials
from ..values import Credentials, Fetched, PointSettings, Request
from .throttled_client import looking

SECONDS = 20.0
PASS, STOP, IDLE = "pass", "stop", "idle"


@dataclass(slots=True)
class SignInTest:
    verdict: str = ""
    good: bool = False
    retry_after: int = 0  # seconds, when nobody tried: too many at once
    steps: list[tuple[str, str]] = field(default_factory=list)  # pass, stop or idle; a sentence


def try_sign_in(point: PointSettings, password: str = "", seconds: float = SECONDS) -> SignInTest:
    """With the password typed just now, or else with the saved one, which goes only where it was saved for."""
    found = SignInTest()
    address = parse(point.url)
    if point.auth_type == AuthType.NONE:
        return _ended(found, "No way of signing in is chosen")
    if isinstance(address, Refusal):
        return _ended(found, "The URL cannot be read")
    key = _typed(point, password) if password else InstanceCredentials().for_request(point, point.url)
    if isinstance(key, Refusal):
        return _ended(found, key.detail or "The saved password may not be used here")
    if key is None:
        return _ended(found, "The URL does not begin with the root string, so no password would be sent")
    found.steps.append(
        (PASS, f"User ID {key.login}, with {'the password typed here' if password else 'the saved one'}")
    )
    with looking(seconds) as line:
        plain = line.ask(Request(address.href, address, accept_bad_certificate=point.accept_bad_certificate))
        if not _first_look(found, plain, point):
            return found
        line.forget()
        signed = line.ask(Request(address.href, address, credentials=key))
        return _judge(found, signed, point, plain)


def _typed(point: PointSettings, password: str) -> Credentials | Refusal:
    form = None
    if point.auth_type == AuthType.FORM:
        start, page = parse(point.url), parse(point.sign_in_url)
        if isinstance(start, Refusal) or isinstance(page, Refusal) or start.host != page.host:
            return Refusal("auth_failed", "The sign-in page is on another site than the crawl point")
        if start.scheme == "https" and page.scheme != "https":
            return Refusal("auth_failed", "The sign-in page is not on https, and the crawl point is")
        form = SiteSignInForm(page.href, point.sign_in_user_field, point.sign_in_password_field, point.signed_in_text)
    return PointKey(point.auth_type, point.login, password, point_id=point.id, form=form)


def _first_look(found: SignInTest, plain: Fetched, point: PointSettings) -> bool:
    """Without a password: is the site there, and what does it ask for?"""
    if plain.reason:
        found.steps.append((STOP, f"Without a password the site did not answer: {_words(plain)}"))
        _ended(found, "The site cannot be reached, so the password was not tried")
        return False
    asks = plain.header("www-authenticate").partition(" ")[0][:20]
    if plain.status == 401:
        found.steps.append((PASS, f"Without a password the page answers 401 and asks for {asks or 'a password'}"))
    elif 300 <= plain.status < 400:
        found.steps.append((PASS, f"Without a password the page redirects to {plain.header('location')[:200]}"))
    else:
        found.steps.append((PASS, f"Without a password the page answers {answered(plain.status)}"))
    return True


def _judge(found: SignInTest, signed: Fetched, point: PointSettings, plain: Fetched) -> SignInTest:
    name = AuthType(point.auth_type).label
    if signed.reason:
        found.steps.append((STOP, f"With it ({name}): {_words(signed)}"))
        refused = signed.reason in {"auth_failed", "login_page"}
        return _ended(found, "The site refused the sign-in" if refused else "The sign-in could not be tried to its end")
    if signed.status in {401, 403, 407}:
        found.steps.append((STOP, f"With it ({name}) the page answers {answered(signed.status)}"))
        return _ended(found, "The site refused the user ID or password")
    found.steps.append((PASS, f"With it ({name}) the page answers {answered(signed.status)}"))
    if signed.status >= 400:
        return _ended(found, f"Signing in may have worked, but the page answers {answered(signed.status)}")
    if signed.status >= 300 and plain.status != 401:
        place = signed.header("location")[:200]
        return _ended(found, f"The page redirects to {place or 'another page'}; the password was not tested there")
    if plain.status < 300 and point.auth_type != AuthType.FORM:
        found.good = True
        found.verdict = "The page opens with this password, and without it, too"
        return found
    found.good, found.verdict = True, "The sign-in works"
    return found


def _words(answer: Fetched) -> str:
    return reason_of(answer.reason).label + (f" ({answer.detail})" if answer.detail else "")


def _ended(found: SignInTest, verdict: str) -> SignInTest:
    found.verdict = verdict
    return found
