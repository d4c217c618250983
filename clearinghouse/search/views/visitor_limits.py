"""Owns: who is asked to wait, and whose searches are counted. Called by: the views that search."""

import time
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from clearinghouse import env
from clearinghouse.accounts.sign_in.visitor_address import address_of

from ..rate_limit import Buckets, is_this_machine
from ..usage import counted_searches, spool

_TOO_MANY = 429
BUCKETS = Buckets()
A_SUGGESTION = 0.1  # drops: typing a word asks several times


def asked_to_wait(request: HttpRequest, drops: float = 1.0) -> HttpResponse | None:
    """A polite page for who searches faster than people do; people who are signed in work here."""
    most = env.number("SEARCH_PER_MINUTE")
    address = address_of(request)
    if not most or request.user.is_authenticated or is_this_machine(address):
        return None
    seconds = BUCKETS.wait(address, most, time.monotonic(), drops=drops)
    if not seconds:
        return None
    answer = render(request, "search/wait.html", {"seconds": seconds, "most": most}, status=_TOO_MANY)
    answer.headers["Retry-After"] = str(seconds)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def count_search(request: HttpRequest, text: str, found: int) -> None:
    if counts(request) and counted_searches.query_text(text):
        spool.add(counted_searches.searched(text, found, timezone.localdate()))


def count_opened(request: HttpRequest, text: str) -> None:
    if counts(request) and counted_searches.query_text(text):
        spool.add(counted_searches.opened(text, timezone.localdate()))


def counts(request: HttpRequest) -> bool:
    """Not those of staff and robots, and not what a browser fetches before anybody asked for it."""
    ahead = "prefetch" in (request.headers.get("Sec-Purpose", "") + request.headers.get("Purpose", ""))
    return (
        not request.user.is_authenticated
        and not ahead
        and counted_searches.is_person(request.headers.get("User-Agent", ""))
    )


def asked_by_our_page(request: HttpRequest) -> bool:
    """By what the browser says of itself; over plain http it says only which page it was, and our pages let it."""
    if told := request.headers.get("Sec-Fetch-Site"):
        return told == "same-origin"
    return urlsplit(request.headers.get("Referer", "")).netloc == request.get_host()
