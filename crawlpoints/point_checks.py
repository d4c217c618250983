"""Owns: whether the entries for a crawl point or an exclude URL may be saved, in the words people read.

Does not: touch a database or a network. Called by: crawlpoints.services, and the dialog before a preview.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clearinghouse.addresses import MAX_LENGTH, Address, Refusal
from clearinghouse.addresses.parsing import has_userinfo, parse
from clearinghouse.addresses.patterns import WEIGHT_AT_MOST, can_match, compile_exclude, weight
from clearinghouse.addresses.roots import begins_with, folder_of

from .models import OPTIONS, AuthType
from .points_by_address import Neighbour, PointsByAddress, comparable_root
from .typed_urls import network_message, refused, suggested_url, url_message

MAX_DEPTH = 999
MAX_PAGES = 2_147_483_647
APPEND_LENGTH = 50
LOGIN_LENGTH = 255
PASSWORD_BYTES = 320
MOST_WRONG_LINES = 20  # that are named at once
TOO_HEAVY = "With this one, the regular expressions of this document are too large together: use shorter ones, or a *"
TYPE_NAMES = {
    AuthType.BASIC: "Basic authentication",
    AuthType.DIGEST: "Digest authentication",
    AuthType.NTLM: "NTLM authentication",
    AuthType.FORM: "the sign-in form",
}
TEXTS, SWITCHES, NUMBERS = (
    tuple(name for name, option in OPTIONS.items() if option.kind == kind) for kind in ("text", "switch", "number")
)
_SITE = re.compile(r"https?://[^/?#\s]+", re.IGNORECASE)


class Invalid(Exception):
    """The entries cannot be saved: messages per field, a repair where there is one, the duplicate if that is why."""

    def __init__(self, errors: dict[str, list[str]], fixes: dict[str, str] | None = None, duplicate: int | None = None):
        super().__init__("; ".join(self.sentences(errors)))
        self.errors = errors
        self.fixes = fixes or {}
        self.duplicate = duplicate

    @staticmethod
    def sentences(errors: dict[str, list[str]]) -> list[str]:
        return [message for messages in errors.values() for message in messages]


@dataclass(frozen=True, slots=True)
class Around:
    """What the entries are checked against."""

    points: Sequence[Neighbour] = ()
    excludes: Sequence[str] = ()  # of the document, when the entries bring none of their own
    has_password: bool = False


@dataclass(slots=True)
class _Findings:
    errors: dict[str, list[str]] = field(default_factory=dict)
    fixes: dict[str, str] = field(default_factory=dict)
    duplicate: int | None = None

    def add(self, name: str, message: str, fix: str = "") -> None:
        self.errors.setdefault(name, []).append(message)
        if fix:
            self.fixes[name] = fix


def check_point(entries: Mapping[str, Any], around: Around) -> dict[str, Any]:
    """The values to store, or Invalid. Numbers may come as text."""
    found = _Findings()
    clean: dict[str, Any] = {name: str(entries.get(name) or "").strip() for name in TEXTS}
    clean |= {name: int(_ticked(entries.get(name))) for name in SWITCHES}
    address = _check_url(clean, bool(entries.get("private")), found)
    _check_root(clean, address, found)
    _check_duplicate(clean, around, found)
    clean["depth"] = _depth(entries.get("depth"), found)
    clean["max_pages"] = _max_pages(entries.get("max_pages"), found)
    clean["auth_type"] = _auth_type(entries.get("auth_type"), found)
    clean["password"] = _check_sign_in(clean, str(entries.get("password") or ""), around, found)
    _check_options(clean, found)
    lines = entries.get("excludes")
    if lines is not None:
        _check_lines(numbered_lines(lines), clean, found)
        clean["excludes"] = exclude_lines(lines)
        if too_heavy(clean["excludes"], around.excludes):
            found.add("excludes", TOO_HEAVY)
    else:
        _check_lines(numbered_lines(around.excludes), clean, found)
    if found.errors:
        raise Invalid(found.errors, found.fixes, found.duplicate)
    return clean


def check_preview(entries: Mapping[str, Any]) -> None:
    """Invalid when there is nothing a preview could look at: URL, root string, limits and exclude URLs."""
    found = _Findings()
    clean: dict[str, Any] = {name: str(entries.get(name) or "").strip() for name in ("url", "root")}
    clean["merge_schemes"] = _ticked(entries.get("merge_schemes"))
    address = _check_url(clean, bool(entries.get("private")), found)
    _check_root(clean, address, found)
    _depth(entries.get("depth"), found)
    _max_pages(entries.get("max_pages"), found)
    _check_lines(numbered_lines(entries.get("excludes") or ""), clean, found)
    if too_heavy(exclude_lines(entries.get("excludes") or "")):
        found.add("excludes", TOO_HEAVY)
    if found.errors:
        raise Invalid(found.errors, found.fixes)


def check_exclude(pattern: str, points: Sequence[Neighbour] | PointsByAddress, existing: Collection[str] = ()) -> str:
    """One pattern for the whole document, trimmed, or Invalid."""
    text = pattern.strip()
    found = _Findings()
    if not text:
        found.add("pattern", "Enter the address or pattern to exclude")
    elif message := _pattern_message(text):
        found.add("pattern", message)
    elif text in existing:
        found.add("pattern", "This exclude URL is already in the list")
    elif text.startswith("regex:") and too_heavy([*existing, text], list(existing)):
        found.add("pattern", TOO_HEAVY)
    else:
        known = points if isinstance(points, PointsByAddress) else PointsByAddress(points)
        if url := known.first_excluded(text):
            found.add("pattern", f"This excludes the crawl point {url}, so nothing would be crawled from it")
    if found.errors:
        raise Invalid(found.errors)
    return text


def exclude_lines(text: str | Sequence[str]) -> list[str]:
    """Lines of the text area, trimmed, each once, in order."""
    return list(dict.fromkeys(line for _, line in numbered_lines(text)))


def numbered_lines(text: str | Sequence[str]) -> list[tuple[int, str]]:
    """The lines that hold something, numbered as the eye counts them: empty ones and repetitions count, too."""
    lines = text.splitlines() if isinstance(text, str) else list(text)
    return [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]


def suggested_root(url: str) -> str:
    """The folder of a readable URL, else nothing."""
    address = parse(url.strip())
    return folder_of(address.href) if isinstance(address, Address) else ""


# ---- URL and root string ----


def _check_url(clean: dict[str, Any], private: bool, found: _Findings) -> Address | None:
    text = clean["url"]
    message, fix = url_message(text)
    if message:
        found.add("url", message, fix)
        return None
    address = parse(text)
    if isinstance(address, Refusal):
        found.add("url", refused(address, text))
        return None
    if message := network_message(address, private):
        found.add("url", message)
        return None
    clean["url"] = address.href
    return address


def _check_root(clean: dict[str, Any], address: Address | None, found: _Findings) -> None:
    """An empty one is the folder of the URL; while that cannot be read, it is the URL that is wrong."""
    folder = folder_of(address.href) if address else ""
    root = clean["root"] = clean["root"] or folder
    if not root:
        return
    if len(root) > MAX_LENGTH:
        found.add("root", f"Root string must be {MAX_LENGTH:,} characters or fewer. It is {len(root):,}", folder)
    elif not _SITE.match(root):
        found.add("root", "Root string must contain at least the site, like https://example.gov/", folder)
    elif has_userinfo(root):
        found.add("root", "Take the user name and password out of the root string", folder)
    elif address and not reaches(address.href, root, bool(clean["merge_schemes"])):
        message = "The URL does not begin with this root string, so nothing would be crawled. Use " + folder
        found.add("root", message, folder)


def reaches(href: str, root: str, either_scheme: bool) -> bool:
    """Whether a canonical address begins with a root string, or would with the other scheme, if that counts."""
    if begins_with(href, root):
        return True
    scheme, colon, rest = href.partition(":")
    other = ("http" if scheme == "https" else "https") + colon + rest
    return either_scheme and begins_with(other, root)


def _check_duplicate(clean: dict[str, Any], around: Around, found: _Findings) -> None:
    if "url" in found.errors or "root" in found.errors:
        return
    for point in around.points:
        same_url = suggested_url(point.url) == clean["url"]
        if same_url and comparable_root(point.root) == comparable_root(clean["root"]):
            found.add("url", "This document already has this crawl point")
            found.duplicate = point.id
            return


# ---- limits and sign-in ----


def _whole(value: Any) -> int | None:
    text = str(value).strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,12}", text) else None


def _depth(value: Any, found: _Findings) -> int:
    number = _whole(0 if value is None else value)
    if number is None:
        found.add("depth", "Depth limit must be a whole number, like 3")
    elif not 0 <= number <= MAX_DEPTH:
        found.add("depth", f"Depth limit must be between 0 and {MAX_DEPTH}")
    return number or 0


def _max_pages(value: Any, found: _Findings) -> int:
    if value is None or str(value).strip() == "":
        return 0
    number = _whole(value)
    if number is None or not 0 <= number <= MAX_PAGES:
        found.add("max_pages", "Maximum pages must be a whole number, or empty for no limit")
        return 0
    return number


def _auth_type(value: Any, found: _Findings) -> int:
    number = _whole(value or 0)
    if number not in AuthType.values:
        found.add("auth_type", "Choose how the site asks for a password")
        return AuthType.NONE
    return number


def _check_sign_in(clean: dict[str, Any], password: str, around: Around, found: _Findings) -> str:
    """The new password, if one was typed; entries of another type are not kept."""
    kind = AuthType(clean["auth_type"])
    if kind is not AuthType.FORM:
        clean |= dict.fromkeys(("sign_in_url", "sign_in_user_field", "sign_in_password_field", "signed_in_text"), "")
    if kind is AuthType.NONE:
        clean["login"] = ""
        return ""
    if not clean["login"]:
        found.add("login", f"Enter the user ID for {TYPE_NAMES[kind]}")
    elif len(clean["login"]) > LOGIN_LENGTH:
        found.add("login", f"User ID must be {LOGIN_LENGTH} characters or fewer")
    elif kind is AuthType.BASIC and ":" in clean["login"]:
        found.add("login", "User ID cannot contain a colon with Basic authentication")
    if not password and not around.has_password:
        found.add("password", "Enter the password")
    elif len(password.encode()) > PASSWORD_BYTES:
        found.add("password", f"Password must be {PASSWORD_BYTES} bytes or fewer")
    if kind is AuthType.FORM:
        _check_form(clean, found)
    return password


def _check_form(clean: dict[str, Any], found: _Findings) -> None:
    message, fix = url_message(clean["sign_in_url"])
    address = parse(clean["sign_in_url"])
    if not clean["sign_in_url"]:
        found.add("sign_in_url", "Enter the address of the sign-in page")
    elif message:
        found.add("sign_in_url", message, fix)
    elif isinstance(address, Refusal):
        found.add("sign_in_url", refused(address, clean["sign_in_url"]))
    elif address.scheme == "http" and clean["url"].startswith("https:"):
        found.add("sign_in_url", "The sign-in page must use https, because the URL does")
    else:
        clean["sign_in_url"] = address.href
    if not clean["sign_in_user_field"]:
        found.add("sign_in_user_field", "Enter the name of the user field")
    if not clean["sign_in_password_field"]:
        found.add("sign_in_password_field", "Enter the name of the password field")


def _check_options(clean: dict[str, Any], found: _Findings) -> None:
    append = clean["append"]
    if len(append) > APPEND_LENGTH:
        found.add("append", f"Append text must be {APPEND_LENGTH} characters or fewer")
    elif "#" in append:
        found.add("append", "Append text cannot contain #")
    elif re.search(r"\s", append):
        found.add("append", "Append text cannot contain spaces")
    if clean["ignore_robots"] and not clean["ignore_robots_reason"]:
        found.add("ignore_robots_reason", "Enter the reason for ignoring robots.txt")
    if not clean["ignore_robots"]:
        clean["ignore_robots_reason"] = ""


# ---- exclude URLs ----


def _check_lines(lines: list[tuple[int, str]], clean: dict[str, Any], found: _Findings) -> None:
    readable = "url" not in found.errors and "root" not in found.errors
    for number, line in lines:
        if len(found.errors.get("excludes", ())) >= MOST_WRONG_LINES:
            return  # finding out what is wrong with an expression takes time
        if message := _pattern_message(line, f"Line {number}"):
            found.add("excludes", message)
        elif readable and _excludes_all(line, clean["root"]):
            found.add("excludes", f"Line {number}: This excludes everything")
        elif readable and _excludes_point(line, clean["url"], clean["root"]):
            message = f"Line {number} excludes this crawl point's own URL, so nothing would be crawled"
            found.add("excludes", message)


def _pattern_message(line: str, what: str = "This") -> str:
    if len(line) > MAX_LENGTH:
        return f"{what} must be {MAX_LENGTH:,} characters or fewer. It is {len(line):,}"
    compiled = compile_exclude(line)
    if not isinstance(compiled, Refusal):
        never = f'{what} can match no address: "{line}". Begin it with http://, https:// or *'
        return "" if can_match(compiled) else never
    if line.startswith("regex:"):
        return f"{what} is {compiled.detail}"
    return f'{what} is not an address: "{line}"'


def too_heavy(lines: Sequence[str], before: Sequence[str] = ()) -> bool:
    """What an adopted document has already may stay; more of it may not come."""
    limit = max(WEIGHT_AT_MOST, weight(before))
    return weight(lines, limit) > limit


def check_unsaved(excludes: Sequence[str], saved: Sequence[str]) -> None:
    """Exclude URLs with which somebody only looks: Invalid where saving them would be."""
    if too_heavy(excludes, saved):
        raise Invalid({"excludes": [TOO_HEAVY]})


def _excludes_all(line: str, root: str) -> bool:
    """Begins-with patterns only: a prefix of the root string leaves nothing."""
    compiled = compile_exclude(line)
    return (
        not isinstance(compiled, Refusal) and compiled.kind == "begins with" and compiled.matches(comparable_root(root))
    )


def _excludes_point(line: str, url: str, root: str) -> bool:
    compiled = compile_exclude(line)
    return not isinstance(compiled, Refusal) and (compiled.matches(suggested_url(url)) or _excludes_all(line, root))


def _ticked(value: Any) -> bool:
    return value in (True, 1, "1", "on", "true", "yes")
