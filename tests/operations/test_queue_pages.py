"""The pages of django-rq: superusers only, no word of how Redis is reached, nothing in them runs (threat T20)."""

import json
import pickle
import re
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from redis import Redis
from redis.exceptions import RedisError

from clearinghouse.accounts.models import Role
from clearinghouse.local import ports, redis_server
from clearinghouse.operations import work_queues
from tests.people import make_person

pytestmark = pytest.mark.django_db(databases="__all__")
SECRET = "C4n4ry-of-Redis"
HOSTILE = "<script>alert(1)</script>"
PAGES = (
    "", "queues/0/", "queues/1/", "queues/1/failed/", "queues/1/finished/", "queues/1/scheduled/", "queues/1/started/",
    "queues/1/deferred/", "queues/1/empty/", "queues/1/requeue-all/", "queues/1/failed/clear/", "queues/1/hostile/",
    "queues/1/hostile/delete/", "queues/1/pickle/", "workers/1/",
)  # fmt: skip


@pytest.fixture
def redis(tmp_path: Path, settings: Any) -> Iterator[Redis]:
    """A Redis with a password, holding one job with hostile words and one that is a pickle."""
    port = ports.any_free()
    words = ["--port", str(port), "--bind", "127.0.0.1", "--requirepass", SECRET, "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen([redis_server.binary(), *words], stdout=subprocess.DEVNULL)
    settings.REDIS_URL = f"redis://:{SECRET}@127.0.0.1:{port}/0"
    for queue in settings.RQ_QUEUES.values():
        queue["URL"] = settings.REDIS_URL
    found = Redis.from_url(settings.REDIS_URL)
    try:
        for _ in range(100):
            try:
                found.ping()
                break
            except RedisError:
                time.sleep(0.05)
        data = ["crawler.jobs.serve", None, [HOSTILE], {HOSTILE: 1}]
        _job(found, "hostile", zlib.compress(json.dumps(data).encode()))
        yield found
    finally:
        found.close()
        server.terminate()
        server.wait(10)


@pytest.fixture(autouse=True)
def _queues_as_before(settings: Any) -> Iterator[None]:
    before = {name: dict(values) for name, values in settings.RQ_QUEUES.items()}
    yield
    for name, values in before.items():
        settings.RQ_QUEUES[name].update(values)


def _job(redis: Redis, name: str, data: bytes) -> None:
    fields = {"data": data, "created_at": "2026-11-18T10:00:00.000000Z", "enqueued_at": "2026-11-18T10:00:00.000000Z",
              "status": "queued", "origin": "crawl", "description": HOSTILE}  # fmt: skip
    redis.hset(f"rq:job:{name}", mapping=fields)
    redis.rpush("rq:queue:crawl", name)


@pytest.fixture
def superuser(django_user_model: Any) -> Any:
    return django_user_model.objects.create_superuser("root", password="correct horse battery")


def test_t20_a_superuser_sees_the_jobs_as_text_and_not_how_redis_is_reached(
    redis: Redis, superuser: Any, signed_in: Any, settings: Any, tmp_path: Path
) -> None:
    canary = tmp_path / "opened"

    class Bomb:
        def __reduce__(self) -> Any:
            return Path.touch, (canary,)

    _job(redis, "pickle", zlib.compress(pickle.dumps(("crawler.jobs.serve", None, (Bomb(),), {}))))
    browser = signed_in(superuser)
    assert f'href="{_address()}"' in browser.get("/settings/workers/").content.decode()
    shown = 0
    for page in PAGES:
        response = browser.get(_address() + page)
        assert response.status_code == 200, page
        text = response.content.decode()
        shown += HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in text
        assert HOSTILE not in text, page
        for word in (SECRET, settings.REDIS_URL, str(redis.connection_pool.connection_kwargs["port"])):
            assert word not in text, (page, word)
    assert shown >= 1
    assert not canary.exists()


def test_t20_the_pages_that_would_say_where_redis_is_lead_elsewhere(
    redis: Redis, superuser: Any, signed_in: Any
) -> None:
    browser = signed_in(superuser)
    assert browser.get(f"{_address()}queues/1/details/").url == f"{_address()}queues/1/"
    assert browser.get(f"{_address()}stats.json").url == _address()
    for gone in ("metrics", "stats.json/token/", "cron-schedulers/0/x/", "queues/99/", "queues/1/nobody/"):
        assert browser.get(_address() + gone).status_code == 404, gone


@pytest.mark.parametrize("role", [*Role, "nobody", "visitor", "superuser without staff"])
def test_t20_for_everybody_else_the_pages_do_not_exist_and_nothing_is_done(
    redis: Redis, django_user_model: Any, role: Any
) -> None:
    client = Client()
    if role in ("nobody", "superuser without staff"):
        client.force_login(django_user_model.objects.create_user("somebody", is_superuser=role != "nobody"))
    elif role != "visitor":
        client.force_login(make_person("somebody", role))
    expected = 302 if role == "visitor" else 404
    for page in (*PAGES, "stats.json", "queues/1/details/"):
        response = client.get(_address() + page)
        assert response.status_code == expected, page
        assert expected == 404 or response.url.startswith("/sign-in/")
        assert client.post(_address() + page).status_code == expected, page
    assert redis.llen("rq:queue:crawl") == 1
    assert not re.search("queues/", client.get("/settings/workers/").content.decode())


def test_without_redis_the_superuser_is_led_to_the_page_that_says_so(
    superuser: Any, signed_in: Any, settings: Any
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    for queue in settings.RQ_QUEUES.values():
        queue["URL"] = settings.REDIS_URL
    browser = signed_in(superuser)
    assert browser.get(_address()).url == "/settings/workers/"
    assert not work_queues.reachable()


def _address() -> str:
    return "/settings/queues/"
