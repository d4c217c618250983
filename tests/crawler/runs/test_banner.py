"""The thin banner at the head of every page: what everybody should know at once, found without asking for each page."""

import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from redis import Redis
from rq import Queue, Worker

from clearinghouse.local import ports, redis_server
from clearinghouse.operations import work_queues
from crawler.models import Mark
from crawler.upkeep import machines
from tests.proves import proves

pytestmark = pytest.mark.django_db(databases="__all__")
REDIS_GONE = "Redis does not answer. Crawls will wait."
CRAWLS_WAIT = "Crawls are waiting at the moment. Administrators see why."


@pytest.fixture(autouse=True)
def _nothing_known_yet() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def redis(tmp_path: Path, settings: Any) -> Iterator[Redis]:
    port = ports.any_free()
    words = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen([redis_server.binary(), *words], stdout=subprocess.DEVNULL)
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    found = Redis.from_url(settings.REDIS_URL)
    try:
        for _ in range(100):
            if work_queues.reachable():
                break
            time.sleep(0.05)
        yield found
    finally:
        found.close()
        server.terminate()
        server.wait(10)


@pytest.fixture
def ticking(db: Any) -> Mark:
    return Mark.objects.create(name="tick", at=timezone.now())


def banner(browser: Client, path: str = "/documents/") -> str:
    page = " ".join(browser.get(path).content.decode().split())
    return page.partition('<div class="trouble">')[2].partition("</div>")[0]


def test_trouble_is_told_to_everybody_and_administrators_are_led_to_more(
    signed_in: Any, editor: Any, administrator: Any, ticking: Mark
) -> None:
    told = banner(signed_in(editor))
    assert CRAWLS_WAIT in told and "Redis" not in told and "<a" not in told
    assert f'{REDIS_GONE} <a href="/settings/workers/">Workers and queue</a>' in banner(signed_in(administrator))
    assert banner(Client(), "/search/") == ""


def test_a_house_that_was_never_started_has_no_trouble_yet(signed_in: Any, editor: Any) -> None:
    assert banner(signed_in(editor)) == ""


def test_trouble_is_looked_for_once_in_a_while_and_not_for_each_page(
    signed_in: Any, editor: Any, ticking: Mark
) -> None:
    browser = signed_in(editor)
    browser.get("/documents/")
    with CaptureQueriesContext(connections["webcrawl"]) as asked:
        assert CRAWLS_WAIT in banner(browser)
    assert not [query for query in asked if "mark" in query["sql"]]


@proves("B10")
def test_no_worker_a_silent_tick_a_full_disk(redis: Redis, ticking: Mark, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machines.trouble_now().sentence == "No worker has reported for 3 minutes. Crawls will wait."
    monkeypatch.setattr(machines, "LEAST_FREE", 0)  # however full the disk of this machine is
    monkeypatch.setattr(machines, "LEAST_SHARE", 0)
    worker = Worker([Queue(name, connection=redis) for name in work_queues.NAMES], connection=redis)
    worker.register_birth()
    assert machines.trouble_now() is None
    monkeypatch.setattr(machines, "LEAST_FREE", 1 << 62)
    assert machines.trouble_now().sentence.startswith("Disk of the state folder: ")
    Mark.objects.update(at=timezone.now() - timedelta(minutes=4))
    assert machines.trouble_now().sentence == "The tick has not reported for 3 minutes. Nothing starts by itself."
