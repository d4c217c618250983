"""What a worker accepts from Redis, and that garbage does not end it (fault B12, threat T20)."""

import json
import pickle
import zlib
from inspect import isfunction
from pathlib import Path

import pytest
from redis import Redis

import crawler.jobs
import crawlpoints.jobs
from clearinghouse.operations import work_queues
from tests.flow.house import House
from tests.proves import proves

QUEUE = "rq:queue:crawl"


@pytest.fixture
def redis(house: House) -> Redis:
    house.start_redis()
    return Redis(unix_socket_path=str(house.folder / "redis.sock"))


def push(redis: Redis, name: str, data: bytes, **more: str) -> None:
    """A job as somebody with access to Redis would write it."""
    fields = {"data": data, "created_at": "2026-11-18T10:00:00.000000Z", "status": "queued", "origin": "crawl", **more}
    redis.hset(f"rq:job:{name}", mapping=fields)
    redis.rpush(QUEUE, name)


def call(function: str, *arguments: object) -> bytes:
    return zlib.compress(json.dumps([function, None, arguments, {}]).encode())


def work(house: House) -> str:
    """One worker until the queue is empty; it must end well. What it said."""
    done = house.run("rqworker", "crawl", "--burst", "--verbosity", "0")
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_every_job_of_the_product_is_taken() -> None:
    ours = {
        f"{module.__name__}.{name}" for module in (crawler.jobs, crawlpoints.jobs) for name, one in vars(module).items()
        if isfunction(one) and one.__module__ == module.__name__ and not name.startswith("_")
    }  # fmt: skip
    assert ours == work_queues.TRUSTED
    assert {job.queue for job in work_queues.Job} == set(work_queues.NAMES)


@proves("B12")
def test_a_job_that_is_not_ours_is_refused_and_the_worker_goes_on(house, redis, tmp_path):
    canary = tmp_path / "canary"
    push(redis, "foreign", call("os.system", f"touch {canary}"))
    push(redis, "ours", call("crawler.jobs.serve", 999))
    said = work(house)
    assert "'os.system' is not a job of this product" in said
    assert "Traceback" not in said
    assert not canary.exists()
    assert redis.llen(QUEUE) == 0, said
    assert not redis.exists("rq:job:foreign")


@proves("B12")
def test_a_pickle_is_never_opened(house, redis, tmp_path):
    canary = tmp_path / "canary"

    class Bomb:
        def __reduce__(self):
            return Path.touch, (canary,)

    push(redis, "pickle", zlib.compress(pickle.dumps(("crawler.jobs.serve", None, (Bomb(),), {}))))
    assert "not JSON" in work(house)
    assert not canary.exists()


@proves("B12")
@pytest.mark.parametrize("kind", ["success", "failure", "stopped"])
def test_a_trusted_job_with_a_callback_of_somebody_else_is_refused(house, redis, kind):
    push(redis, "callback", call("crawler.jobs.serve", 1), **{f"{kind}_callback_name": "os.abort"})
    assert "callbacks" in work(house)


@proves("B12")
def test_garbage_does_not_end_the_worker(house, redis):
    redis.rpush(QUEUE, b"\xff\xfe", "no-such-job")
    push(redis, "bad-date", call("crawler.jobs.serve", 1), created_at="yesterday")
    push(redis, "bad-number", call("crawler.jobs.serve", 1), timeout="soon")
    push(redis, "no-call", zlib.compress(b"{}"))
    push(redis, "ours", call("crawler.jobs.serve", 999))
    said = work(house)
    assert redis.llen(QUEUE) == 0, said
    assert redis.hget("rq:job:ours", "status") == b"finished"


def test_an_entry_of_a_worker_that_nobody_can_read_breaks_no_screen(house, redis, settings):
    """Whoever writes to Redis, be it an older RQ, takes no page of ours away, and does not stop the tick."""
    name = "<script>alert(1)</script>"
    for queue in ("", ":crawl"):
        redis.sadd(f"rq:workers{queue}", f"rq:worker:{name}", "rq:worker:text", "no-key-at-all", "rq:worker:gone")
    redis.hset(f"rq:worker:{name}", mapping={"birth": "yesterday", "last_heartbeat": "x", "state": name})
    redis.set("rq:worker:text", "of another kind")
    good = {"birth": "2026-11-19T10:00:00.000000Z", "last_heartbeat": "2026-11-19T10:00:00.000000Z", "queues": "crawl"}
    for queue in ("", ":crawl"):
        redis.sadd(f"rq:workers{queue}", "rq:worker:good")
    redis.hset("rq:worker:good", mapping=good | {"state": "idle"})
    settings.REDIS_URL = f"unix://{house.folder}/redis.sock"
    assert [one["name"] for one in work_queues.workers()] == ["good"]
    assert work_queues.idle_workers(work_queues.CRAWL) == 1
