"""Owns: a reason of the closed list in words, with the status the site answered and what can be done about it.

Does not: touch a database. Called by: every screen, report, mail and command that says what became of an address.
"""

from collections.abc import Mapping
from typing import NamedTuple

from .values import FAILED, REASONS, Reason

HTTP = ("http_4xx", "http_5xx")  # what these mean, the status tells

_IN_A_BROWSER = "Open it in a browser. If it does not open there either, "
_LATER = "Crawl it again later. If it fails again, "
_THE_LINK = "Enter its new address in the crawl point, or correct the link on the page on which it was found."
_THE_START = "Enter its new address in the crawl point."
_THE_OWNER = "tell the owner of the site."


class _Status(NamedTuple):
    label: str
    sentence: str  # after "the site answered 404: "
    advice: str


_STATUSES = {
    400: _Status("request not understood", "it did not understand the request", _IN_A_BROWSER + "correct the link."),
    401: _Status("asks for a password", "it asks for a password", "Set Authentication in the crawl point."),
    402: _Status("payment required", "it asks for payment", "Ask the owner of the site, or exclude the address."),
    403: _Status(
        "forbidden",
        "it forbids reading this page",
        "Ask the owner of the site to let the crawler in, or exclude the address.",
    ),
    404: _Status("not found", "there is no page at this address", _THE_LINK),
    405: _Status("cannot be opened", "this address is not made for opening", "Exclude the address: it is no page."),
    406: _Status("no readable form", "it has no form of this page that the crawler reads", _IN_A_BROWSER + _THE_OWNER),
    407: _Status(
        "a proxy asks for a password",
        "a machine on the way to it asks for a password",
        "Tell an administrator: the crawler does not get out to this site.",
    ),
    408: _Status("timeout of the site", "it waited too long for the request", _LATER + _THE_OWNER),
    410: _Status("gone", "the page was removed for good", _THE_LINK),
    414: _Status("too long for the site", "the address is longer than it can read", "Exclude the address."),
    423: _Status("locked", "the page is locked", "Ask the owner of the site, or exclude the address."),
    429: _Status(
        "too many requests", "it got too many requests in a short time", "Crawl it again later, at the speed Polite."
    ),
    451: _Status("withheld by law", "the page is withheld for legal reasons", "Exclude the address."),
    500: _Status("fault of the site", "it met a fault of its own", _LATER + _THE_OWNER),
    502: _Status("site does not work", "a machine behind it gave no usable answer", _LATER + _THE_OWNER),
    503: _Status("site unavailable", "it is overloaded or under repair", _LATER + _THE_OWNER),
    504: _Status("site too slow", "a machine behind it did not answer in time", _LATER + _THE_OWNER),
}
_OTHERS = {
    "http_4xx": _Status("refused", "it did not give the page", _IN_A_BROWSER + "correct the link or exclude it."),
    "http_5xx": _Status("fault of the site", "it met a fault of its own", _LATER + _THE_OWNER),
}
_LIMIT = "Raise it in the crawl point, if it should be crawled."
_AGAIN = "Crawl it again to reach it."
_ADVICE = {
    "bad_address": "If it should lead somewhere, correct the link on the page on which it was found.",
    "too_long": "Nothing needs to be done: so long an address is hardly a page.",
    "scheme_not_allowed": "Nothing needs to be done: only pages of the web are crawled.",
    "port_not_allowed": "If it should be crawled, ask an administrator to allow the port.",
    "trap_suspected": "If it is a real page, untick Stop endless addresses in the crawl point (More options).",
    "outside_root": "If it should be crawled, shorten the root string or add a crawl point.",
    "excluded": "If it should be crawled, remove the exclude URL.",
    "nofollow": "If it should be crawled, untick Obey nofollow on links in the crawl point (More options).",
    "too_deep": _LIMIT,
    "point_deactivated": "Activate the crawl point, then crawl again.",
    "run_limit": "Crawl it again with a higher limit for the run.",
    "address_refused": "If it should be crawled, ask an administrator to allow its network.",
    "robots_disallowed": "If it should be crawled, ask the owner of the site to allow it in robots.txt.",
    "page_limit": "Raise it in the crawl point or leave it empty, if it should be crawled.",
    "type_not_allowed": "Nothing needs to be done: only texts are stored, not pictures, sound, films or programs.",
    "too_large": "Nothing can be done here: so large a file is not stored.",
    "redirect_outside_root": "If it should be crawled, enter the address it leads to as a crawl point.",
    "redirect_excluded": "If it should be crawled, remove the exclude URL which the new address matches.",
    "run_stopped": _AGAIN,
    "run_cancelled": _AGAIN,
    "redirect_loop": _IN_A_BROWSER + _THE_OWNER,
    "too_many_redirects": "Open it in a browser, and enter the address at which that arrives.",
    "http_4xx": _IN_A_BROWSER + "correct the link or the crawl point that leads to it.",
    "http_5xx": _LATER + _THE_OWNER,
    "auth_required": "Set Authentication in the crawl point, with a user ID and password for this site.",
    "auth_failed": "Enter the password in the crawl point again, and press Test sign-in there.",
    "login_page": "Check Authentication in the crawl point, and press Test sign-in there.",
    "dns_failed": "Look for a slip in the address. If there is none, the site may be gone: open it in a browser.",
    "connect_failed": _LATER + "ask the owner of the site whether it is running.",
    "tls_failed": (
        "Tell the owner of the site. If you trust it, tick Accept a bad certificate in the crawl point (More options)."
    ),
    "timeout": _LATER + _THE_OWNER,
    "too_slow": _LATER + _THE_OWNER,
    "cut_short": _LATER + _THE_OWNER,
    "bad_response": _IN_A_BROWSER + _THE_OWNER,
    "decode_failed": _IN_A_BROWSER + _THE_OWNER,
    "robots_unavailable": "Crawl it again later: nothing is fetched from a site before its robots.txt can be read.",
    "parse_timeout": "If the page matters, tell an administrator: reading it takes longer than is allowed.",
    "quarantined": "Tell an administrator: reading this page brings the crawler to a halt.",
    "error": "Tell an administrator, who finds the fault in the error log.",
}


def reason_of(code: str, status: int = 0, start: bool = False) -> Reason:
    """A reason as people read it. What is not in the list keeps its code: rows may be of another version. Where the
    address is known to be the start of a crawl point, no page that leads to it is spoken of."""
    known = REASONS.get(code)
    if known is None:
        return Reason(code, FAILED, code, code)
    if code not in HTTP or not status:
        return known._replace(advice=_ADVICE.get(code, ""))
    words = _STATUSES.get(status, _OTHERS[code])
    sentence = f"the site answered {status}: {words.sentence}"
    advice = _THE_START if start and words.advice == _THE_LINK else words.advice
    return Reason(code, FAILED, f"{words.label} ({status})", sentence, advice, status)


def every_reason() -> list[Reason]:
    """For the help: the list, with each status we have words for in place of the two kinds of them."""
    plain = [reason_of(code) for code in REASONS if code not in HTTP]
    return plain + [reason_of(f"http_{status // 100}xx", status) for status in _STATUSES if status != 401]


def answered(status: int) -> str:
    """404 (not found); a status that is no failure stands alone."""
    words = _STATUSES.get(status) or _OTHERS.get(f"http_{status // 100}xx")
    return f"{status} ({words.label})" if words else str(status)


def by_status(reasons: Mapping[str, int], statuses: Mapping[int, int]) -> list[tuple[Reason, int]]:
    """Counted reasons in words, most frequent first; those of an answer divided by its status, where the statuses
    counted tell all of them."""
    found: list[tuple[Reason, int]] = []
    for code, count in reasons.items():
        parts = {one: n for one, n in statuses.items() if _answers(code, one) and n > 0} if code in HTTP else {}
        if parts and sum(parts.values()) == count:
            found += [(reason_of(code, one), n) for one, n in parts.items()]
        else:
            found.append((reason_of(code), count))
    return sorted(found, key=lambda one: (-one[1], one[0].code, one[0].status))


def _answers(code: str, status: int) -> bool:
    """Whether this status is told with this reason; 401 has reasons of its own."""
    return status // 100 == int(code[5]) and status != 401
