"""Each strand of a document has its own excursion; a queue may be claimed once it stands open."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from clearinghouse.database.aliases import WEBCRAWL
from crawler.engine import message_queue
from crawler.engine.strands import WEB
from crawler.liveness import instances
from crawler.models import Excursion, Run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])


def make_run() -> Run:
    return Run.objects.create(requested_by="tester", created_at=timezone.now())


def make(run: Run, doc_id: int = 1, **values: Any) -> Excursion:
    with transaction.atomic(using=WEBCRAWL):
        return Excursion.objects.create(run=run, doc_id=doc_id, title=f"Document {doc_id}", **values)


def test_a_document_is_crawled_once_by_a_run_and_by_one_unfinished_run_in_each_strand() -> None:
    run, later = make_run(), make_run()
    web, _other = make(run), make(run, strand="other")
    assert web.strand == WEB
    with pytest.raises(IntegrityError):
        make(later)
    Excursion.objects.filter(pk=web.pk).update(unfinished=False)
    make(later)
    with pytest.raises(IntegrityError):
        make(run, unfinished=False)


def test_a_queue_may_be_claimed_when_it_stands_open_whatever_was_found() -> None:
    run = make_run()
    make(run, 1, found=3, queued=3)
    opened = make(run, 2, opened=True)
    assert message_queue.unserved(run.pk) == 1
    claimed = message_queue.claim(instances.register(run.pk), 64)
    assert [one.pk for one in claimed] == [opened.pk]
