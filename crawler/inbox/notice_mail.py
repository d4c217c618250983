"""Owns: notices by mail, each at once or once a day as a digest. Does not: decide who is told (notices).

A delivery is claimed before it is sent: two workers never send it twice; one that died meanwhile sends it again
when its claim has run out. A server that does not take it is tried again, later and later, five times.
Called by: the job tell, the tick (is there anything due).
"""

import smtplib
from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.mail import EmailMessage, get_connection
from django.db.models import QuerySet
from django.utils import timezone

from clearinghouse import env
from clearinghouse.accounts.policies import Action, doc_ids_for
from clearinghouse.web.templatetags.formats import plural

from ..liveness import database_clock
from ..models import Delivery
from .notice_words import for_reader
from .queries import told

DIGEST_AT = time(7)
TRIES = 5
CLAIM = timedelta(minutes=5)
TIMEOUT_SECONDS = 20
AT_ONCE = 200
SUBJECT = 120
# What one letter may fail with: its server, or an address or text that no letter can carry.
FAULTS = (OSError, smtplib.SMTPException, ValueError, TypeError, LookupError)


def is_due(now: datetime) -> bool:
    return _now(now).exists() or _digest(now).exists()


def send_due(now: datetime) -> int:
    """How many mails were sent."""
    sent = 0
    for delivery in _now(now).select_related("notice")[:AT_ONCE]:
        sent += _send([delivery], now, Delivery.Mail.NOW)
    by_person: dict[int, list[Delivery]] = {}
    for delivery in _digest(now).select_related("notice").order_by("notice__at")[: 10 * AT_ONCE]:
        by_person.setdefault(delivery.person_id, []).append(delivery)
    for deliveries in by_person.values():
        sent += _send(deliveries, now, Delivery.Mail.DIGEST)
    return sent


def _now(now: datetime) -> QuerySet[Delivery]:
    return _free(Delivery.objects.filter(mail=Delivery.Mail.NOW), now)


def _digest(now: datetime) -> QuerySet[Delivery]:
    """What happened before this morning's hour, once it has come."""
    local = timezone.localtime(now)
    morning = local.replace(hour=DIGEST_AT.hour, minute=0, second=0, microsecond=0)
    if local < morning:
        morning -= timedelta(days=1)
    return _free(Delivery.objects.filter(mail=Delivery.Mail.DIGEST, notice__at__lt=morning), now)


def _free(rows: QuerySet[Delivery], now: datetime) -> QuerySet[Delivery]:
    return rows.filter(database_clock.due(now, CLAIM, TRIES)).order_by("id")


def _send(deliveries: list[Delivery], now: datetime, how: str) -> bool:
    mine = [one for one in deliveries if _claimed(one, now)]
    person = _person(mine[0].person_id) if mine else None
    if not mine:
        return False
    ids = [one.pk for one in mine]
    mine = _may_read(person, mine) if person is not None and person.email else []
    Delivery.objects.filter(pk__in=set(ids) - {one.pk for one in mine}).update(mail=Delivery.Mail.NONE)
    if not mine:
        return False
    subject = mine[0].notice.sentence if how == Delivery.Mail.NOW else f"{plural(len(mine), 'notice')} of the last day"
    try:
        EmailMessage(_line(subject), text_of(mine), to=[person.email], connection=_connection()).send()
    except FAULTS as error:  # of this letter: the others are sent all the same
        _later(mine, now, error)
        return False
    Delivery.objects.filter(pk__in=[one.pk for one in mine]).update(mail=Delivery.Mail.SENT, error="")
    return True


def _may_read(person: Any, deliveries: list[Delivery]) -> list[Delivery]:
    """Those that are still theirs to know, in the words that are: documents are taken from people, too."""
    docs = doc_ids_for(person, Action.VIEW_RUNS)
    known = told(person.pk, docs).filter(pk__in=[one.pk for one in deliveries])
    ids = set(known.values_list("pk", flat=True))
    return for_reader([one for one in deliveries if one.pk in ids], docs)


def _person(pk: int) -> Any:
    return get_user_model().objects.filter(pk=pk, is_active=True).first()


def _claimed(one: Delivery, now: datetime) -> bool:
    free = Delivery.objects.filter(pk=one.pk, mail=one.mail, not_before=one.not_before)
    return bool(free.update(not_before=now + CLAIM, tries=one.tries + 1))


def _later(deliveries: Iterable[Delivery], now: datetime, error: Exception) -> None:
    for one in deliveries:
        tries = one.tries + 1
        values: dict[str, object] = {
            "error": (str(error) or type(error).__name__)[:300],
            "not_before": now + CLAIM * 2**tries,
        }
        if tries >= TRIES:
            values["mail"] = Delivery.Mail.FAILED
        Delivery.objects.filter(pk=one.pk).update(**values)


def text_of(deliveries: list[Delivery]) -> str:
    """What happened, where to look, why this person is told, and where to turn it off."""
    home = env.text("PUBLIC_URL").rstrip("/")
    lines = []
    for one in deliveries:
        lines += [one.notice.sentence, f"{home}{one.notice.link}" if one.notice.link else ""]
        lines += [f"{timezone.localtime(one.notice.at):%d %b %Y, %H:%M}. You get this because {one.because}.", ""]
    lines += ["--", f"Choose your notices, or turn them off: {home}/me/notifications/"]
    return "\n".join(lines)


def _line(text: str) -> str:
    """A subject is one line: crawled text may hold anything."""
    return "Clearinghouse: " + " ".join(text.split())[:SUBJECT]


def _connection() -> object:
    return get_connection(timeout=TIMEOUT_SECONDS)
