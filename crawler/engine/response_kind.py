"""Owns: what an answer means: a redirect, a page to read, an unchanged page, a failure, or a reason to try again.

Pure. Does not: parse pages or follow anything. Called by: the instance.
"""

from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from ..values import ANSWERED_NOTHING, NO_NAME_SERVER, Fetched

REDIRECT, PAGE, UNCHANGED, FAILURE, RETRY, SKIP = "redirect", "page", "unchanged", "failure", "retry", "skip"

MAX_TRIES = 3
MAX_WAIT = 6 * 3600.0
SLOW_DOWN = {429, 503}
SELF_REDIRECTS = 2  # of an address to itself, with a cookie or a session id, that are followed
REDIRECTS = {301, 302, 303, 307, 308}
_NO_ANSWER = {"connect_failed", "timeout"}
_HOPELESS = {"dns_failed", "address_refused", "port_not_allowed", "tls_failed"}
# Without a status these tell nothing of the site: its name has no address, or nothing was sent.
_NOTHING_HEARD = {"dns_failed", "address_refused", "port_not_allowed", "auth_failed", "error"}
_SKIPS = {"address_refused", "port_not_allowed", "type_not_allowed", "too_large", "scheme_not_allowed"}


@dataclass(frozen=True, slots=True)
class ResponseKind:
    kind: str
    reason: str = ""
    detail: str = ""
    location: str = ""
    wait: float = 0.0  # seconds the whole host asks to be left alone


def silent(fetched: Fetched) -> bool:
    """Whether there was no answer: this says something about the site, not about the page, and may pass."""
    return fetched.reason in _NO_ANSWER or (fetched.reason == "dns_failed" and fetched.detail == NO_NAME_SERVER)


def hopeless(fetched: Fetched) -> bool:
    """Whether the site could not be asked, and waiting will not help."""
    return fetched.reason in _HOPELESS and not silent(fetched)


def heard(fetched: Fetched) -> bool:
    """Whether the site is there: it said something, if only nonsense."""
    return not silent(fetched) and (bool(fetched.status) or fetched.reason not in _NOTHING_HEARD)


def judge(fetched: Fetched, tries: int, now: float) -> ResponseKind:
    """`tries` counts this one."""
    if fetched.reason:
        return _trouble(fetched, tries)
    status = fetched.status
    if status in REDIRECTS:
        location = fetched.header("location")
        if not location:
            return ResponseKind(FAILURE, "bad_response", f"status {status} without a Location")
        return ResponseKind(REDIRECT, location=location)
    if status == 304:
        return ResponseKind(UNCHANGED)
    if 200 <= status < 300:
        return ResponseKind(PAGE)
    return _refused(fetched, tries, now)


def _trouble(fetched: Fetched, tries: int) -> ResponseKind:
    broke = fetched.reason == "cut_short" or (fetched.reason, fetched.detail) == ("bad_response", ANSWERED_NOTHING)
    if (silent(fetched) or broke) and tries < MAX_TRIES:
        return ResponseKind(RETRY, fetched.reason, fetched.detail)
    if fetched.reason == "decode_failed" and not fetched.request.identity_encoding and tries < MAX_TRIES:
        return ResponseKind(RETRY, fetched.reason, fetched.detail)
    kind = SKIP if fetched.reason in _SKIPS else FAILURE
    return ResponseKind(kind, fetched.reason, fetched.detail)


def _refused(fetched: Fetched, tries: int, now: float) -> ResponseKind:
    status = fetched.status
    wait = retry_after(fetched.header("retry-after"), _theirs(fetched, now)) if status in SLOW_DOWN else 0.0
    if status in {429, 500, 502, 503, 504} and tries < MAX_TRIES:
        return ResponseKind(RETRY, "http_5xx", str(status), wait=wait or (2.0**tries if status in SLOW_DOWN else 0.0))
    if status == 401:
        refused = fetched.request.credentials is not None
        return ResponseKind(
            FAILURE, "auth_failed" if refused else "auth_required", fetched.header("www-authenticate")[:100]
        )
    return ResponseKind(FAILURE, "http_4xx" if status < 500 else "http_5xx", str(status))


def _theirs(fetched: Fetched, now: float) -> float:
    """What the site's clock shows: a moment it names is meant by that; ours, where it does not say."""
    try:
        return parsedate_to_datetime(fetched.header("date")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return now


def retry_after(value: str, now: float) -> float:
    """Seconds to leave a host alone; 0 for what cannot be read or lies in the past."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:9]), MAX_WAIT)
    try:
        seconds = parsedate_to_datetime(value).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), MAX_WAIT)
