"""Sign-in pages: finding the form, filling it in, and telling whether somebody is signed in. Pure."""

import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parsing import parse, resolve
from crawler.extract.charsets.charset import as_utf8, encode
from crawler.extract.mime_type import content_type
from crawler.values import Fetched

from .point_key import PointKey, SiteSignInForm

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

PAGE_AT_MOST = 1_000_000  # bytes; BeautifulSoup is thorough, not fast
TAGS_AT_MOST = 40_000  # with more of them such a page took it 12 seconds
# Without "<" in a tag, so that a page of a million of them costs no more than its length.
_PASSWORD_FIELD = re.compile(rb"<input\b[^<>]{0,2000}?\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_TAG = re.compile("<[^<>]{0,2000}>")
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # lxml takes none of these


@dataclass(frozen=True, slots=True)
class FoundForm:
    """A form as it would be sent: where to, and its bytes."""

    action: Address
    data: bytes = field(repr=False)


def fill_in(page: Fetched, key: PointKey) -> FoundForm | str:
    """The sign-in form of this page with user and password in it, or what is wrong with it."""
    from bs4 import BeautifulSoup  # loaded when a site has a form: most crawls start 60 ms sooner without it
    from bs4.filter import SoupStrainer

    assert key.form is not None
    if is_too_much(page.body):
        return "the sign-in page is too large"
    text, encoding = _text_of(page)
    soup = BeautifulSoup(_UNREADABLE.sub("", text), "lxml", parse_only=SoupStrainer(["form", "base"]))
    form = _form(soup, key.form)
    if form is None:
        return "the sign-in page has no form with these fields"
    if str(form.get("method") or "get").strip().lower() != "post":
        return "the form would show the password in an address"
    action = _action(soup, form, page)
    if isinstance(action, str):
        return action
    values = _values(form)
    values[key.form.user_field], values[key.form.password_field] = key.login, key.password
    sent = [(encode(name, encoding), encode(value, encoding)) for name, value in values.items()]  # as browsers answer
    return FoundForm(action, urlencode(sent).encode())


def is_too_much(body: bytes) -> bool:
    """More than a sign-in page ever is, and than can be read in a second or two."""
    return len(body) > PAGE_AT_MOST or body.count(b"<") > TAGS_AT_MOST


def signed_in(page: Fetched, form: SiteSignInForm) -> bool:
    """Does the page that follows the form say that it worked?"""
    if page.reason or not 200 <= page.status < 300:
        return False
    if form.signed_in_text:
        return _shows(page, form.signed_in_text)
    return not _PASSWORD_FIELD.search(page.body)


def signed_out(answer: Fetched, form: SiteSignInForm) -> bool:
    """Is this answer a sign-in page, or the way to one, instead of what was asked for?"""
    if answer.reason:
        return False
    if 300 <= answer.status < 400:
        return _same_page(resolve(answer.request.address.href, answer.header("location")), form.url)
    if not 200 <= answer.status < 300 or not _PASSWORD_FIELD.search(answer.body):
        return False
    return not (form.signed_in_text and _shows(answer, form.signed_in_text))


def is_sign_in_page(address: Address, form: SiteSignInForm) -> bool:
    return _same_page(address.href, form.url)


def _same_page(one: str, other: str) -> bool:
    return one.partition("?")[0] == other.partition("?")[0]


def _shows(page: Fetched, text: str) -> bool:
    """Does this text stand on the page, as people read it?"""
    body = _text_of(page)[0]
    wanted = " ".join(text.split())
    return any(wanted in " ".join(html.unescape(form).split()) for form in (body, _TAG.sub("", body)))


def _form(soup: "BeautifulSoup", wanted: SiteSignInForm) -> "Tag | None":
    for form in soup.find_all("form"):
        names = {str(one.get("name") or "") for one in form.find_all("input")}
        if {wanted.user_field, wanted.password_field} <= names:
            return form
    return None


def _action(soup: "BeautifulSoup", form: "Tag", page: Fetched) -> Address | str:
    here = page.request.address
    base = soup.find("base", href=True)
    start = resolve(here.href, str(base["href"])) if base else here.href
    action = parse(resolve(start, str(form.get("action") or here.href)))
    if isinstance(action, Refusal) or action.origin != here.origin:
        return "the form would send the password to another site"
    return action


def _values(form: "Tag") -> dict[str, str]:
    """What a browser would send of it besides user and password: hidden fields, defaults, the first button."""
    values: dict[str, str] = {}
    pressed = False
    for one in form.find_all(["input", "select", "textarea", "button"]):
        name, kind = str(one.get("name") or ""), str(one.get("type") or "").lower()
        if one.name == "button" or kind in ("submit", "image"):
            kind = kind or "submit"
            if name and kind == "submit" and not pressed and not one.has_attr("disabled"):
                pressed, values[name] = True, str(one.get("value") or "")
        elif name and not one.has_attr("disabled") and kind not in ("button", "reset", "file"):
            value = _value(one, kind)
            if value is not None:
                values.setdefault(name, value)
    return values


def _value(one: "Tag", kind: str) -> str | None:
    if kind in ("checkbox", "radio"):
        return str(one.get("value") or "on") if one.has_attr("checked") else None
    if one.name == "select":
        choice = one.find("option", selected=True) or one.find("option")
        if choice is None or isinstance(choice, str):
            return None
        return str(choice.get("value", choice.get_text(strip=True)))
    return one.get_text() if one.name == "textarea" else str(one.get("value") or "")


def _text_of(page: Fetched) -> tuple[str, str]:
    """The page as text, and the name of the charset it came in."""
    kind = content_type([value for name, value in page.headers if name == "content-type"])
    text, encoding = as_utf8(page.body, kind.parameters.get("charset", "") if kind else "")
    return text.decode(), encoding
