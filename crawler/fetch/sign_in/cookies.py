"""The cookies of one crawl point on one host, in memory only. No other host's cookie ever comes in (threat T28)."""

import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from clearinghouse.addresses import Address

MOST = 50
BYTES = 4_096
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f;]")


@dataclass(frozen=True, slots=True)
class _Cookie:
    value: str
    path: str
    secure: bool
    until: float  # seconds since 1970


class Jar:
    def __init__(self, host: str) -> None:
        self._host = host
        self._cookies: dict[tuple[str, str], _Cookie] = {}

    def take(self, headers: list[tuple[str, str]], here: Address) -> None:
        """The Set-Cookie headers of an answer from this address."""
        if here.host == self._host:
            for name, value in headers:
                if name == "set-cookie" and len(value) <= BYTES:
                    self._take(value, here)

    def header(self, here: Address) -> str:
        """What goes to this address as its Cookie header; the longest paths first, as browsers send them."""
        if here.host != self._host:
            return ""
        now = time.time()
        fitting = [
            (name, cookie)
            for (name, _), cookie in self._cookies.items()
            if cookie.until > now and _under(here.path, cookie.path) and (here.scheme == "https" or not cookie.secure)
        ]
        fitting.sort(key=lambda pair: -len(pair[1].path))
        return "; ".join(f"{name}={cookie.value}" for name, cookie in fitting)

    def _take(self, text: str, here: Address) -> None:
        pair, *rest = text.split(";")
        name, equals, value = (part.strip() for part in pair.partition("="))
        attributes = {key.strip().lower(): given.strip() for key, _, given in (one.partition("=") for one in rest)}
        secure = "secure" in attributes
        foreign = not _covers(attributes.get("domain", ""), here.host)
        if not equals or not name or _UNUSABLE.search(pair) or foreign or (secure and here.scheme != "https"):
            return
        path = attributes.get("path", "")
        path = path if path.startswith("/") else here.path[: here.path.rindex("/")] or "/"
        self._cookies.pop((name, path), None)
        until = _until(attributes)
        if until > time.time():
            self._cookies[name, path] = _Cookie(value, path, secure, until)
        while len(self._cookies) > MOST:
            del self._cookies[next(iter(self._cookies))]  # the oldest goes


def _covers(domain: str, host: str) -> bool:
    domain = domain.lower().removeprefix(".")
    return not domain or host == domain or host.endswith("." + domain)


def _under(path: str, root: str) -> bool:
    return path == root or path.startswith(root if root.endswith("/") else root + "/")


def _until(attributes: dict[str, str]) -> float:
    age = attributes.get("max-age", "")
    if re.fullmatch(r"-?[0-9]{1,10}", age):
        return time.time() + int(age)
    try:
        return parsedate_to_datetime(attributes["expires"]).timestamp()
    except (KeyError, ValueError, TypeError, OverflowError):
        return float("inf")  # until the end of the session, which is ours
