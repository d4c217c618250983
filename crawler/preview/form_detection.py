"""The sign-in form of a page: the names of its fields, for the dialog. Reads one page, sends nothing."""

from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag
from bs4.filter import SoupStrainer

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse, resolve

from ..engine.response_kind import REDIRECTS
from ..errors import TooManyAtOnce
from ..fetch.sign_in.sign_in_forms import is_too_much
from ..reasons import answered, reason_of
from .throttled_client import ThrottledClient, looking

SECONDS = 8.0
NOT_FOUND = "No password field was found on that page"
_HOPS = 5
_TYPED = {"", "text", "email", "tel", "search"}


@dataclass(frozen=True, slots=True)
class SignInPage:
    """What the dialog needs; `problem` says why there is nothing."""

    url: str = ""  # where the page really is, after redirects on its own site
    user_field: str = ""
    password_field: str = ""
    problem: str = ""
    retry_after: int = 0  # seconds, when nobody looked: too many at once


def detect(url: str, seconds: float = SECONDS) -> SignInPage:
    try:
        with looking(seconds) as line:
            return _look(line, url)
    except TooManyAtOnce as refusal:
        return SignInPage(problem=str(refusal), retry_after=refusal.seconds)


def _look(line: ThrottledClient, url: str) -> SignInPage:
    start = parse(url)
    if isinstance(start, Refusal):
        return SignInPage(problem="This is not a web address the crawler can read")
    answer = line.get(start.href)
    for _ in range(_HOPS):
        if answer.status not in REDIRECTS:
            break
        place = parse(resolve(answer.request.address.href, answer.header("location")))
        if isinstance(place, Refusal) or place.host != start.host:
            return SignInPage(problem="The page redirects to another site; enter its address there")
        answer = line.get(place.href)
    if answer.reason:
        return SignInPage(problem=f"The page could not be fetched: {reason_of(answer.reason).label}")
    if not 200 <= answer.status < 300:
        return SignInPage(problem=f"The page answered {answered(answer.status)}")
    if is_too_much(answer.body):
        return SignInPage(problem="The page is too large to be a sign-in page")
    return fields_of(answer.body, answer.request.address.href)


def fields_of(body: bytes, url: str) -> SignInPage:
    """Pure: the first form with a password field, and the field above it in which one types."""
    soup = BeautifulSoup(body, "lxml", parse_only=SoupStrainer("form"))  # a tree of all takes forty times the page
    for form in soup.find_all("form"):
        user = ""
        for one in form.find_all("input"):
            kind, name = str(one.get("type") or "").strip().lower(), str(one.get("name") or "")
            if kind == "password" and name:
                return _found(form, url, user, name)
            if kind in _TYPED and name and not one.has_attr("disabled"):
                user = name
    return SignInPage(problem=NOT_FOUND)


def _found(form: Tag, url: str, user: str, password: str) -> SignInPage:
    if not user:
        return SignInPage(problem="The form has a password field, but no field for the user")
    if str(form.get("method") or "get").strip().lower() != "post":
        return SignInPage(problem="The form would show the password in an address, so the crawler does not use it")
    return SignInPage(url, user, password)
