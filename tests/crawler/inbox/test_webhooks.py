"""What a project's webhook is told, through the guard, and what becomes of an address that does not answer."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from clearinghouse.addresses import networks
from clearinghouse.library.models import Document, Project
from crawler.inbox import notices, webhooks
from crawler.models import Webhook, WebhookCall
from tests.crawler.inbox.test_telling import look
from tests.crawler.runs.rows import limited_run
from tests.sites.receiver import Receiver

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def test_a_webhook_is_told_of_the_events_of_its_project(
    hook: Receiver, document: Document, project: Project, editor: Any, administrator: Any
) -> None:
    assert notices.set_webhook(project, f"{hook.url}/in?key=1", "administrator") == ""
    run = limited_run(document)
    look()
    assert webhooks.is_due(timezone.now())
    sent = webhooks.send_due(timezone.now())
    assert sent == len(hook.calls) == 2 and webhooks.send_due(timezone.now()) == 0
    call = next(one for one in hook.calls if one["body"]["event"] == "run_finished")
    assert call["path"] == "/in?key=1" and call["body"]["run"] == run.pk and call["body"]["project"] == project.name
    assert set(WebhookCall.objects.values_list("state", "answer")) == {("sent", "answered 200")}


def test_a_webhook_reaches_no_network_that_is_not_allowed(hook: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "192.0.2.0/24")
    networks.forget_settings()
    try:
        good, answer = webhooks.post(f"{hook.url}/in", {})
    finally:
        monkeypatch.undo()
        networks.forget_settings()
    assert not good and answer.startswith("address_refused") and hook.calls == []


def test_a_webhook_follows_no_redirect_and_is_tried_again(
    hook: Receiver, document: Document, project: Project, editor: Any, administrator: Any
) -> None:
    notices.set_webhook(project, hook.url, "administrator")
    hook.status = 307
    limited_run(document)
    look()
    now = timezone.now()
    assert webhooks.send_due(now) == 0
    assert {one["path"] for one in hook.calls} == {"/"}
    assert not webhooks.is_due(now + timedelta(minutes=4))
    for _ in range(4):
        now += timedelta(days=1)
        webhooks.send_due(now)
    assert set(WebhookCall.objects.values_list("state", flat=True)) == {"failed"}


def test_an_address_that_cannot_be_reached_is_an_answer() -> None:
    assert webhooks.post("http://127.0.0.1:9/", {})[0] is False
    assert webhooks.post("ftp://example.org/", {}) == (False, "not an address that can be reached")


def test_an_empty_address_removes_the_webhook(project: Project) -> None:
    notices.set_webhook(project, "http://127.0.0.1:9/", "administrator")
    assert notices.set_webhook(project, "nonsense", "administrator").startswith("Enter an address")
    notices.set_webhook(project, "", "administrator")
    assert not Webhook.objects.exists()
