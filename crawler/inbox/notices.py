"""Owns: writing down who is told of what, once; what each person wishes; waking a worker for what is due to be sent.

Does not: send (telling, webhooks). Called by: the tick, the notices screens.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from clearinghouse.accounts import options
from clearinghouse.accounts.models import Role
from clearinghouse.accounts.policies import Action, may
from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.library.models import Assignment, Document, Project, Sheet
from clearinghouse.operations.work_queues import Job, wake

from ..findings.queries import undiagnosed
from ..launching.audited_change import record, together
from ..models import Delivery, Excursion, Mark, Notice, Webhook, WebhookCall, Wish
from . import events, notice_mail, webhooks
from .events import EVENTS, Happened

__all__ = ["EVENTS", "set_webhook", "usual", "wish", "wishes_of", "write_due"]

OVERLAP = timedelta(minutes=15)  # rows that were written late are found by the next look
EVERY = timedelta(seconds=20)
_HOW = {options.DIGEST: Wish.How.DIGEST, options.EACH: Wish.How.NOW, options.TRAY_ONLY: Wish.How.TRAY}
_MAIL = {Wish.How.NOW: Delivery.Mail.NOW, Wish.How.DIGEST: Delivery.Mail.DIGEST}


def write_due(now: datetime) -> int:
    """One look, safe to repeat and to do twice at once: how many notices were written. Wakes workers to send them."""
    mark, new = Mark.objects.get_or_create(name="notices", defaults={"at": now - OVERLAP})
    if not new and now - mark.at < EVERY and now >= mark.at:
        return 0
    written = sum(_write(one) for one in _unwritten(events.since(mark.at - OVERLAP, now)))
    Mark.objects.filter(pk="notices").update(at=now)
    _wake_worker(now)
    return written


def _wake_worker(now: datetime) -> None:
    if undiagnosed(1):
        wake(Job.DIAGNOSE)
    if notice_mail.is_due(now) or webhooks.is_due(now):
        wake(Job.TELL)


def _unwritten(happened: Iterable[Happened]) -> Iterator[Happened]:
    every = {one.key: one for one in happened}
    known = set(Notice.objects.filter(key__in=list(every)).values_list("key", flat=True))
    yield from (one for key, one in every.items() if key not in known)


def _write(one: Happened) -> bool:
    people = recipients(one)
    wishes = wishes_of(people)
    common, mailing = usual(), not settings.EMAIL_BACKEND.endswith(".dummy.EmailBackend")
    try:
        with transaction.atomic(using=WEBCRAWL):
            notice = Notice.objects.create(
                key=one.key, event=one.event, at=one.at, sentence=one.sentence[:500], link=one.link,
                run_id=one.run_id, doc_id=one.doc_id,
            )  # fmt: skip
            rows = []
            for person, told in people.items():
                how = wishes.get((person, one.event), common)
                if how != Wish.How.MUTE:
                    by_mail = told.has_mail and mailing
                    mail = _MAIL.get(Wish.How(how), Delivery.Mail.NONE) if by_mail else Delivery.Mail.NONE
                    rows.append(Delivery(notice=notice, person_id=person, because=told.because, mail=mail))
            Delivery.objects.bulk_create(rows)
            hooks = Webhook.objects.filter(project_id__in=_projects(one), active=True)
            WebhookCall.objects.bulk_create([WebhookCall(webhook=hook, notice=notice) for hook in hooks])
    except IntegrityError:
        return False  # another tick was faster
    return True


class Recipient(NamedTuple):
    because: str
    has_mail: bool


def recipients(one: Happened) -> dict[int, Recipient]:
    """Everybody who is told, by id, and why it is this person."""
    owners = set(Assignment.objects.filter(document__in=one.owners_of).values_list("person_id", flat=True))
    launchers = _launchers(one.launchers_of) if one.launchers_of is not None else set()
    wanted = Q(username__in=one.people) | Q(pk__in=owners | launchers)
    if one.administrators:
        wanted |= Q(is_superuser=True) | Q(person__role=Role.ADMINISTRATOR)
    people = get_user_model().objects.filter(wanted, is_active=True).distinct()
    kind = EVENTS[one.event]

    def because(pk: int, name: str) -> str:
        if name in one.people:
            return kind.person
        return kind.owner if pk in owners else events.MAY_LAUNCH if pk in launchers else events.ADMINISTERS

    return {
        pk: Recipient(because(pk, name), bool(mail)) for pk, name, mail in people.values_list("pk", "username", "email")
    }


def _launchers(doc_id: int) -> set[int]:
    """Who may launch a crawl of this document, besides those who may launch all."""
    document = Document.objects.filter(pk=doc_id).first()
    if document is None:
        return set()
    near = Q(assignments__document=document) | Q(person__projects__sheets__document=document)
    people = get_user_model().objects.filter(near, is_active=True).distinct()
    return {user.pk for user in people if may(user, Action.LAUNCH, document)}


def _projects(one: Happened) -> set[int]:
    """The projects whose documents this is about."""
    docs = {one.doc_id} if one.doc_id else set()
    if one.run_id and not docs:
        docs = set(Excursion.objects.filter(run=one.run_id).values_list("doc_id", flat=True))
    rows = Sheet.objects.filter(document__in=docs, project__isnull=False)
    return set(rows.values_list("project_id", flat=True))


# -- wishes -----------------------------------------------------------------------------------------------------


def usual() -> str:
    """For who chose nothing: what the administrators set, at first the daily digest."""
    return str(_HOW.get(options.text(options.NOTICES), Wish.How.DIGEST))


def wishes_of(people: Iterable[int]) -> dict[tuple[int, str], str]:
    rows = Wish.objects.filter(person_id__in=list(people))
    return {(person, event): how for person, event, how in rows.values_list("person_id", "event", "how")}


def wish(person: int, chosen: dict[str, str]) -> None:
    for event, how in chosen.items():
        Wish.objects.update_or_create(person_id=person, event=event, defaults={"how": how})


# -- webhooks ---------------------------------------------------------------------------------------------------


@together()
def set_webhook(project: Project, url: str, by: str) -> str:
    """Saves where a project's events are sent (nowhere, without an address); returns what is wrong with it."""
    before = Webhook.objects.filter(project_id=project.pk).values_list("url", flat=True).first() or ""
    if url:
        address = parse(url)
        if isinstance(address, Refusal):
            return "Enter an address that begins with http:// or https://"
        if len(url) > 2048:
            return f"The address must be 2,048 characters or fewer. It is {len(url):,}"
        values = {"project": project.name, "url": address.href, "active": True, "created_by": by}
        values["created_at"] = timezone.now()
        Webhook.objects.update_or_create(project_id=project.pk, defaults=values)
    else:
        Webhook.objects.filter(project_id=project.pk).delete()
    sentence = f"Set the webhook of {project.name}" if url else f"Removed the webhook of {project.name}"
    record("change", project, sentence, before={"webhook": before}, after={"webhook": url})
    return ""
