"""Owns: telling the webhooks of projects. A POST of JSON through the guard of the crawler: it reaches public addresses
and what the operator allowed, nothing else, and follows no redirect.

Does not: decide what is told. Called by: the job tell, the tick (is there anything due).
"""

import json
import threading
import time
from datetime import datetime, timedelta
from typing import Any

import requests
import urllib3.exceptions
from django.db.models import QuerySet

from clearinghouse import env
from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.library.models import Sheet

from ..fetch.guarded_connections import ExchangeFailed, GuardedRequest, Session, at_work
from ..liveness import database_clock
from ..models import WebhookCall
from ..values import USER_AGENT
from .notice_words import for_reader

SECONDS = 15.0
TRIES = 5
CLAIM = timedelta(minutes=5)
AT_ONCE = 100
# What one call may fail with: its connection, or an address that no request can carry.
FAULTS = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError, TypeError, LookupError)


def is_due(now: datetime) -> bool:
    return _due(now).exists()


def send_due(now: datetime) -> int:
    """How many calls were answered with a success."""
    return sum(_send(call, now) for call in _due(now).select_related("webhook", "notice")[:AT_ONCE])


def _due(now: datetime) -> QuerySet[WebhookCall]:
    waiting = WebhookCall.objects.filter(state=WebhookCall.State.WAITING, webhook__active=True)
    return waiting.filter(database_clock.due(now, CLAIM, TRIES)).order_by("id")


def _send(call: WebhookCall, now: datetime) -> bool:
    free = WebhookCall.objects.filter(pk=call.pk, state=call.state, not_before=call.not_before)
    if not free.update(not_before=now + CLAIM, tries=call.tries + 1):
        return False
    good, answer = post(call.webhook.url, body_of(call))
    values: dict[str, Any] = {"answer": answer[:300], "at": now}
    if good:
        values["state"] = WebhookCall.State.SENT
    elif call.tries + 1 >= TRIES:
        values["state"] = WebhookCall.State.FAILED
    else:
        values["not_before"] = now + CLAIM * 2 ** (call.tries + 1)
    WebhookCall.objects.filter(pk=call.pk).update(**values)
    return good


def body_of(call: WebhookCall) -> dict[str, Any]:
    mine = Sheet.objects.filter(project_id=call.webhook.project_id).values_list("document_id", flat=True)
    [call] = for_reader([call], set(mine))
    notice = call.notice
    return {
        "id": notice.key,
        "event": notice.event,
        "at": notice.at.isoformat(),
        "project": call.webhook.project,
        "sentence": notice.sentence,
        "url": env.text("PUBLIC_URL").rstrip("/") + notice.link,
        "run": notice.run_id,
        "document": notice.doc_id,
    }


def post(url: str, body: dict[str, Any]) -> tuple[bool, str]:
    """Whether the address took it, and what it said."""
    address = parse(url)
    if isinstance(address, Refusal):
        return False, "not an address that can be reached"
    guarded_request = GuardedRequest(_target(address.href, address.origin), time.monotonic() + SECONDS)
    watch = threading.Timer(SECONDS, guarded_request.end, ("timeout", f"no answer within {SECONDS:.0f} s"))
    watch.start()
    at_work.guarded_request = guarded_request
    headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT, "Connection": "close"}
    try:
        with Session() as session:
            options: dict[str, Any] = {"timeout": SECONDS, "allow_redirects": False, "stream": True}
            answer = session.post(address.href, data=json.dumps(body).encode(), headers=headers, **options)
            answer.close()
            return answer.ok and answer.status_code < 300, f"answered {answer.status_code}"
    except ExchangeFailed as failed:
        return False, f"{failed.reason}: {failed.detail}"
    except FAULTS as error:
        return False, guarded_request.over[1] if guarded_request.over else f"no connection: {type(error).__name__}"
    finally:
        watch.cancel()
        guarded_request.finish()
        at_work.guarded_request = None


def _target(href: str, origin: str) -> str:
    return href.removeprefix(origin) or "/"
