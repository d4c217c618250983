"""Owns: the way in and out of every operation: method, rate, JSON, and every refusal as JSON with a sentence.

Does not: know a subject. Called by: the URL configuration.
"""

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from clearinghouse.database.records import StaleRecord
from clearinghouse.web.plurals import plural
from crawlpoints.point_checks import Invalid

from ..errors import AllBusy, NothingToCrawl, TimeUsedUp, TooManyAtOnce, WrongMoment
from .contract import ApiAddress, ApiRequest, ApiResponse, Operation
from .request_fields import WrongRequest, check, from_query

REQUESTS_A_MINUTE = 600  # of one person, in each process of the web server
_LONGEST_BODY = 1_000_000


def view_of(address: ApiAddress) -> Callable[..., HttpResponse]:
    def view(request: HttpRequest, **keys: Any) -> HttpResponse:
        return _answer(address, request, keys)

    return view


def nothing_here(request: HttpRequest, rest: str) -> HttpResponse:
    """Whatever no address of the contract is, in JSON too."""
    return _refuse(404, "not_found", "There is no such address; /api/docs/ lists them all.")


def _answer(address: ApiAddress, request: HttpRequest, keys: dict[str, Any]) -> HttpResponse:
    method = "GET" if request.method == "HEAD" else request.method or ""
    operation = address.methods.get(method)
    if operation is None:
        refusal = _refuse(405, "method", f"This address understands {', '.join(address.methods)}.")
        refusal.headers["Allow"] = ", ".join(address.methods)
        return refusal
    if wait := _RATE.wait(request.user.pk):
        return _too_many(f"Too many requests; go on in {plural(wait, 'second')}.", wait)
    return _guarded(operation, request, keys)


def _guarded(operation: Operation, request: HttpRequest, keys: dict[str, Any]) -> HttpResponse:
    """The closed list of what may go wrong; anything else is a fault of ours and answered as one."""
    try:
        query = from_query(request.GET.dict(), operation.query)
        answer = operation.do(ApiRequest(request, query, _body(operation, request)), **keys)
    except WrongRequest as wrong:
        return _refuse(wrong.status, "invalid", f"{wrong}.", fields=wrong.fields)
    except Invalid as invalid:
        return _refuse(422, "invalid", "Some values cannot be used.", fields=invalid.errors)
    except BadRequest as refusal:
        return _refuse(400, "bad_request", str(refusal))
    except StaleRecord:
        return _refuse(409, "changed", "Somebody else changed this. Read it again and send its new version.")
    except TimeUsedUp as late:
        return _refuse(422, "too_long", f"{late}.")
    except TooManyAtOnce as refusal:
        return _too_many(f"{refusal}.", refusal.seconds)
    except (WrongMoment, AllBusy, NothingToCrawl) as refusal:
        return _refuse(409, "wrong_moment", str(refusal))
    except Http404 as missing:
        return _refuse(404, "not_found", f"{missing}.")
    except PermissionDenied as refused:
        return _refuse(403, "refused", f"You may not do this. {refused}")
    if isinstance(answer, ApiResponse):
        return JsonResponse(answer.body, status=answer.status)
    return JsonResponse(answer, status=operation.status)


def _too_many(sentence: str, seconds: int) -> HttpResponse:
    refusal = _refuse(429, "too_many", sentence)
    refusal.headers["Retry-After"] = str(seconds)
    return refusal


def _refuse(status: int, code: str, sentence: str, **more: Any) -> JsonResponse:
    return JsonResponse({"code": code, "error": sentence} | more, status=status)


def _body(operation: Operation, request: HttpRequest) -> dict[str, Any]:
    if operation.body is None:
        return {}
    if operation.streams and request.content_type == "text/csv":
        return {operation.streams: request}
    # Asked before it is read: what Django refuses to read it answers with a page of HTML.
    if int(request.META.get("CONTENT_LENGTH") or 0) > _LONGEST_BODY:
        raise BadRequest("The body is too long; at most 1 MB is read.")
    if request.body and request.content_type != "application/json":
        raise BadRequest("Send JSON, with the header Content-Type: application/json.")
    try:
        value = json.loads(request.body or b"{}", parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON.") from None
    if wrong := check(value, operation.body, "body"):
        raise WrongRequest(wrong)
    return dict(value)


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


class Rate:
    """How often each person asks, in windows of a minute; kept in this process only."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._window = 0
        self._counts: dict[int, int] = {}

    def wait(self, person: int) -> int:
        """0, or the seconds until this person may go on."""
        now = int(time.time())
        with self._lock:
            if now // 60 != self._window:
                self._window, self._counts = now // 60, {}
            self._counts[person] = self._counts.get(person, 0) + 1
            return 60 - now % 60 if self._counts[person] > self.most else 0


_RATE = Rate(REQUESTS_A_MINUTE)
