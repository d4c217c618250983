"""Redis full, slow, locked, a copy of another, or full of rubbish; nobody to work (A4, B4, B5, B10, B11, B13)."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from redis import Redis

from clearinghouse.local import redis_server
from clearinghouse.operations.redis_problems import A_COPY
from tests.faults import injection
from tests.flow.conftest import house, prepared_folder  # noqa: F401 - fixtures
from tests.flow.house import BASE, House, until
from tests.local.test_workers import call, push, work
from tests.proves import proves
from tests.requirements import need
from tests.sites.graph import Page, Site, serve

PAGES = 40
_WAKE = """
import django, time
django.setup()
from clearinghouse.operations.work_queues import Job, wake
begun = time.monotonic()
taken = wake(Job.SERVE, 1)
print(taken, time.monotonic() - begun)
"""


@pytest.fixture
def site(record_property: Callable[[str, object], None]) -> Iterator[Site]:
    links = {n: [f"/{child}" for child in (2 * n + 1, 2 * n + 2) if child < PAGES] for n in range(PAGES)}
    pages = {f"/{n}": Page(links[n], delay=0.3) for n in range(PAGES)}
    with serve(pages) as served:
        yield served
        record_property("pages fetched again, most", sum(count - 1 for count in pages_asked(served).values()))
        record_property("pages not asked for, most", PAGES - len(pages_asked(served)))


@pytest.fixture
def redis(house: House) -> Redis:  # noqa: F811
    house.env["CLEARINGHOUSE_ALLOWED_NETWORKS"] = "127.0.0.0/8"
    house.start_redis()
    return Redis(unix_socket_path=str(house.folder / "redis.sock"))


def a_run(house: House, site: Site, speed: str = "fast") -> int:  # noqa: F811
    """A launched crawl of a document of its own."""
    document = house.manage("add_document", "Measures")["doc_id"]
    house.manage("add_crawl_point", document, site.url("/0"), "--depth", "99")
    return int(house.manage("launch", "--doc", document, "--speed", speed)["run"])


def pages_asked(site: Site) -> dict[str, int]:
    return {path: count for path, count in site.requests.items() if path != "/robots.txt"}


def found_all(house: House, run: int, site: Site) -> None:  # noqa: F811
    """The run ends whole, and no page of it was asked for twice."""
    result = until(lambda: house.ended(run), f"run {run} ends\n{house.log[-2000:]}", 60)
    assert (result["state"], result["queued"]) == ("finished", 0), house.log
    assert result["crawled"] == len(pages_asked(site)) == PAGES
    house.manage("check_ledger", run)


@proves("I7", "B4")
def test_a_full_redis_stops_no_crawl_no_launch_and_no_worker(house: House, redis: Redis, site: Site) -> None:  # noqa: F811
    workers = [house.start_worker("control"), house.start_worker("crawl")]
    house.start_manage("tick")
    first = a_run(house, site)
    until(lambda: house.crawled(first), "the crawl is under way")
    redis.config_set("maxmemory", 1)
    found_all(house, first, site)  # nothing of it needs Redis
    launched = house.run("launch", "--doc", "1", "--json")
    assert launched.returncode == 0, launched.stderr
    time.sleep(6)  # a round of the tick, and of the workers' look
    assert [worker.poll() for worker in workers] == [None, None], house.log
    redis.config_set("maxmemory", 0)
    second = int(house.manage("runs")["runs"][0]["run"])
    house.manage("run", second, "speed", "fast")
    assert until(lambda: house.ended(second), f"run {second} ends\n{house.log[-2000:]}", 60)["state"] == "finished"


@proves("B5")
def test_a_slow_redis_holds_nobody_up_for_longer_than_a_second(house: House, redis: Redis) -> None:  # noqa: F811
    redis.execute_command("CLIENT", "PAUSE", "30000")
    done = subprocess.run([sys.executable, "-c", _WAKE], cwd=BASE, env=house.env, capture_output=True, text=True)
    taken, seconds = done.stdout.split()
    assert taken == "False" and float(seconds) < 1.2, done.stdout + done.stderr


@proves("B10")
def test_without_workers_a_run_waits_and_begins_when_one_comes(house: House, redis: Redis, site: Site) -> None:  # noqa: F811
    house.start_manage("tick")
    run = a_run(house, site)
    time.sleep(12)  # the tick rings twice or thrice: it must not fill Redis with rings
    assert house.manage("run", run)["state"] == "waiting"
    assert redis.llen("rq:queue:control") <= 2
    for queue in ("control", "crawl"):
        house.start_worker(queue)
    found_all(house, run, site)


@proves("rule 6", "B11")
def test_five_rings_for_one_run_are_as_good_as_one(house: House, redis: Redis, site: Site) -> None:  # noqa: F811
    run = a_run(house, site)
    for _ in range(4):
        push(redis, f"again{_}", call("crawler.jobs.initialize", run), origin="control")
    redis.rename("rq:queue:crawl", "rq:queue:control.again")
    while redis.lmove("rq:queue:control.again", "rq:queue:control"):
        pass
    assert redis.llen("rq:queue:control") == 5
    assert house.run("rqworker", "control", "--burst", "--verbosity", "0").returncode == 0
    assert redis.llen("rq:queue:crawl") >= 1
    for _ in range(5):
        push(redis, f"serve{_}", call("crawler.jobs.serve", run))
    for _ in range(3):
        house.start_worker("crawl")
    found_all(house, run, site)
    assert set(pages_asked(site).values()) == {1}


@proves("A4")
@pytest.mark.parametrize("word", [15, 30, 38])
def test_a_worker_killed_while_it_talks_to_redis_does_nothing_twice(
    house: House,  # noqa: F811
    redis: Redis,
    site: Site,
    tmp_path: Path,
    word: int,
) -> None:
    """At its n-th word to Redis: before it has the job, and around it."""
    need("strace", injection.available(), "strace is not installed")
    run = a_run(house, site)
    assert house.run("rqworker", "control", "--burst", "--verbosity", "0").returncode == 0
    worker = [sys.executable, "manage.py", "rqworker", "crawl", "--burst", "--verbosity", "0"]
    inject = ["-e", "trace=sendto", "-e", f"inject=sendto:signal=SIGKILL:when={word}"]
    strace = ["strace", "-f", "-qq", "-o", str(tmp_path / "calls"), *inject]
    subprocess.run([*strace, *worker], cwd=BASE, env=house.env, capture_output=True, timeout=60)
    assert "+++ killed by SIGKILL +++" in (tmp_path / "calls").read_text()
    settled = {path: site.requests[path] for path in stored(house)}
    for _ in range(6):
        if house.ended(run):
            break
        assert house.run("tick", "--once").returncode == 0
        assert house.run("rqworker", "crawl", "--burst", "--verbosity", "0").returncode == 0
    found_all(house, run, site)
    assert {path: site.requests[path] for path in settled} == settled


def stored(house: House) -> list[str]:  # noqa: F811
    with closing(sqlite3.connect(house.folder / "webcrawl.sqlite3", timeout=20)) as connection:
        found = connection.execute("SELECT url FROM ledger WHERE outcome = 'crawled'").fetchall()
    return ["/" + url.split("/", 3)[-1] for (url,) in found]


@proves("B13")
def test_thousands_of_failures_leave_nothing_in_redis(house: House, redis: Redis) -> None:  # noqa: F811
    for number in range(2000):
        push(redis, f"foreign{number}", call("os.system", "true"))
    work(house)
    left = [key for key in redis.keys("*") if b"job" in key or b"failed" in key]
    assert left == [], left[:5]


def test_a_redis_emptied_while_a_crawl_runs_is_no_fault_of_ours(house: House, redis: Redis, site: Site) -> None:  # noqa: F811
    """RQ misses its own notes of the job when it has ended."""
    house.start_worker("control")
    worker = house.start_worker("crawl")
    house.start_manage("tick")
    run = a_run(house, site)
    until(lambda: house.crawled(run) >= 1, "the crawl is on its way")
    redis.flushall()
    found_all(house, run, site)
    worker.send_signal(signal.SIGTERM)
    worker.wait(timeout=30)
    assert "Redis forgot job" in house.log
    with closing(sqlite3.connect(house.folder / "webcrawl.sqlite3", timeout=20)) as webcrawl:
        assert webcrawl.execute("SELECT sentence FROM fault").fetchall() == []


# What a Redis in trouble says, and that everybody waits, says so once, and goes on.


@pytest.fixture
def people(house: House, redis: Redis) -> list[subprocess.Popen]:  # noqa: F811
    return idle_people(house, redis)


def idle_people(house: House, redis: Redis) -> list[subprocess.Popen]:  # noqa: F811
    """Two workers and the tick."""
    started = [house.start_worker("control"), house.start_worker("crawl"), house.start_manage("tick")]
    until(lambda: redis.scard("rq:workers") == 2, "both workers are registered")
    time.sleep(1)
    return started


def in_trouble_for_a_while(house: House, people: list[subprocess.Popen], words: str) -> None:  # noqa: F811
    until(lambda: words in house.log, f"a worker says {words!r}; it said {house.log[-3000:]}", 20)
    time.sleep(5)
    assert [one.poll() for one in people] == [None] * len(people), house.log
    assert 1 <= house.log.count(f"{words}; the worker waits") <= 2, "each worker says it once:\n" + house.log
    assert "Traceback" not in house.log, house.log


def all_is_well_again(house: House, people: list[subprocess.Popen], site: Site) -> None:  # noqa: F811
    run = a_run(house, site)
    found_all(house, run, site)
    assert [one.poll() for one in people] == [None] * len(people), house.log


def test_workers_outlive_a_redis_that_becomes_a_copy_of_another(
    house: House,  # noqa: F811
    redis: Redis,
    people: list[subprocess.Popen],
    site: Site,
) -> None:
    """Those who wait in it are thrown out (UNBLOCKED), then nothing can be written (READONLY)."""
    redis.execute_command("REPLICAOF", "127.0.0.1", "1")
    in_trouble_for_a_while(house, people, A_COPY)
    launched = house.run("launch", "--doc", str(house.manage("add_document", "Meanwhile")["doc_id"]))
    assert "Traceback" not in launched.stderr
    assert "Refuses jobs" in house.run("doctor").stdout
    redis.execute_command("REPLICAOF", "NO", "ONE")
    all_is_well_again(house, people, site)


def test_workers_outlive_a_redis_that_cannot_save(house: House, site: Site, tmp_path: Path) -> None:  # noqa: F811
    """MISCONF, as a server of others says whose disk is full: here the folder of its file is gone."""
    path, folder = tmp_path / "redis.sock", tmp_path / "gone"
    folder.mkdir()
    house.env["CLEARINGHOUSE_ALLOWED_NETWORKS"] = "127.0.0.0/8"
    house.env["CLEARINGHOUSE_REDIS_URL"] = f"unix://{path}"
    with server_of_others(
        ["--port", "0", "--unixsocket", str(path), "--dir", str(folder), "--save", "3600 1"]
    ) as redis:
        people = idle_people(house, redis)
        folder.rmdir()
        redis.bgsave()
        redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")  # else they speak once a minute
        in_trouble_for_a_while(
            house, people, "Redis cannot save its data, so it accepts nothing: check whether its disk is full"
        )
        assert "check whether its disk is full" in house.run("doctor").stdout
        redis.config_set("stop-writes-on-bgsave-error", "no")
        all_is_well_again(house, people, site)


def test_workers_outlive_a_redis_that_wants_a_password(
    house: House,  # noqa: F811
    redis: Redis,
    people: list[subprocess.Popen],
    site: Site,
) -> None:
    redis.config_set("requirepass", "secret")
    redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    in_trouble_for_a_while(house, people, "CLEARINGHOUSE_REDIS_URL")
    redis.config_set("requirepass", "")
    all_is_well_again(house, people, site)


def wrong_types(redis: Redis) -> list[str]:
    lists = ["rq:queues", "rq:workers", "rq:workers:crawl", "rq:workers:control", "rq:wip:crawl", "rq:failed:control"]
    for name in lists:
        redis.delete(name)
        redis.rpush(name, "of", "another", "kind")
    texts = ["rq:queue:crawl", "rq:queue:control", "rq:queue:crawl:intermediate", "rq:job:text", "rq:worker:text"]
    for name in texts:
        redis.set(name, "of another kind")
    redis.set("somebody:else", "keeps this")
    redis.set("rq:of-another-version", "keeps this")
    return lists + texts


def test_entries_of_a_wrong_type_are_removed_by_who_meets_them_and_no_others(
    house: House,  # noqa: F811
    redis: Redis,
    site: Site,
) -> None:
    """They stood in its file: nobody could start any more."""
    wrong_types(redis)
    people = [house.start_worker("control"), house.start_worker("crawl"), house.start_manage("tick")]
    until(lambda: redis.type("rq:workers") == b"set" and redis.scard("rq:workers") == 2, f"both start {house.log}")
    assert "Removed entries of a wrong type from Redis: rq:" in house.log
    assert redis.get("somebody:else") == redis.get("rq:of-another-version") == b"keeps this"
    wrong_types(redis)  # and while they work
    all_is_well_again(house, people, site)
    assert "Traceback" not in house.log, house.log


def test_a_worker_waits_for_a_redis_that_reads_its_data(house: House, tmp_path: Path) -> None:  # noqa: F811
    """LOADING, by a server of others: 200 entries, each of which takes it 0.3 s until somebody has said so."""
    path = tmp_path / "redis.sock"
    words = ["--port", "0", "--unixsocket", str(path), "--dir", str(tmp_path), "--save", "3600 1"]
    words += ["--loading-process-events-interval-bytes", "1024"]
    with server_of_others(words) as first:
        for number in range(200):
            first.set(f"entry{number}", random.randbytes(2000))  # it listens once in 1,024 bytes
        first.save()
    house.env["CLEARINGHOUSE_REDIS_URL"] = f"unix://{path}"
    with server_of_others([*words, "--key-load-delay", "300000"], ready=False) as second:
        worker = house.start_worker("crawl")
        until(lambda: "Redis reads its data; the worker waits" in house.log, f"it says so: {house.log}", 50)
        second.config_set("key-load-delay", 0)
        until(lambda: loaded(second) and second.exists("rq:workers"), f"it goes on: {house.log}", 40)
        assert worker.poll() is None and second.scard("rq:workers") == 1


def loaded(redis: Redis) -> bool:
    return not redis.info("persistence")["loading"]


@contextmanager
def server_of_others(words: list[str], ready: bool = True) -> Iterator[Redis]:
    path = words[words.index("--unixsocket") + 1]
    process = subprocess.Popen([str(redis_server.binary()), *words], stdout=subprocess.DEVNULL)
    connection = Redis(unix_socket_path=path)
    try:
        until(lambda: Path(path).exists(), "it listens")
        if ready:
            until(connection.ping, "it answers")
        yield connection
    finally:
        process.kill()
        process.wait()
        Path(path).unlink(missing_ok=True)


def test_damaged_files_of_an_earlier_version_do_not_keep_redis_from_starting(house: House) -> None:  # noqa: F811
    folder = house.folder / "redis"
    (folder / "appendonlydir").mkdir(parents=True, exist_ok=True)
    (folder / "appendonlydir" / "appendonly.aof.manifest").write_text("file appendonly.aof.1.base.rdb seq 1 type b\n")
    for name in ("appendonlydir/appendonly.aof.1.base.rdb", "dump.rdb"):
        (folder / name).write_bytes(b"REDIS0011" + bytes(range(256)))
    house.start_redis()
    assert Redis(unix_socket_path=str(house.folder / "redis.sock")).ping()
