"""Hooks of the switch (design §6, fault C4): an existing load balancer follows, or primary is not touched."""

import os
import shlex
import socket
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from clearinghouse.database.aliases import TARGETS
from clearinghouse.published.models import PublicSwitch
from crawler.inbox import webhooks
from crawler.models import Propagation
from crawler.propagation import services
from crawler.propagation.loading import load
from crawler.propagation.switching import load_balancer, public_home, switch
from tests.propagation.world import World, add_document, propagate, shown
from tests.proves import proves
from tests.sites.receiver import Receiver, receiver

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

OLD, NEW = {"": "start", "a.html": "old"}, {"": "start", "a.html": "new"}
WRITE = "import sys; open({path!r}, 'a').write(sys.argv[1] + ' ')"


@pytest.fixture
def balancer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Sets the command: what it does, in Python, with sys.argv[1]; by default it notes whom it was told."""
    notes = tmp_path / "load balancer"
    notes.touch()

    def does(code: str = "") -> Path:
        command = [sys.executable, "-c", f"{WRITE.format(path=str(notes))}\n{code}"]
        monkeypatch.setenv("CLEARINGHOUSE_SWITCH_COMMAND", shlex.join(command))
        return notes

    return does


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with receiver() as server:
        monkeypatch.setenv("CLEARINGHOUSE_SWITCH_URL", f"{server.url}/switch?key=1")
        yield server


@pytest.fixture
def crawled() -> None:
    """One generation everywhere, and a new crawl that waits."""
    world, document = World(), add_document()
    world.run(document, OLD)
    propagate()
    world.run(document, NEW)


def primary_is_untouched(row: Propagation) -> bool:
    begun = row.steps.filter(target="primary").exclude(state="waiting").exists()
    return not begun and shown("primary") == OLD and load.newest(TARGETS["primary"]) < row.pk


def test_the_command_gets_the_name_of_the_target_as_its_last_word(crawled, balancer):
    notes = balancer()
    assert propagate().state == "done"
    assert notes.read_text().split() == ["backup", "primary"]
    row = switch.switch()
    assert (row.serving, row.told, row.trouble) == ("primary", "primary", "")


def test_the_command_is_run_without_a_shell_and_learns_no_secret(crawled, tmp_path, monkeypatch):
    told = tmp_path / "told"
    code = f"import os, sys; open({str(told)!r}, 'w').write(repr(sys.argv[1:]) + ' '.join(os.environ))"
    command = shlex.join([sys.executable, "-c", code, "; touch", "$HOME"])
    monkeypatch.setenv("CLEARINGHOUSE_SWITCH_COMMAND", command)
    assert propagate().state == "done"
    assert told.read_text().startswith("['; touch', '$HOME', 'primary']")
    assert "CLEARINGHOUSE" not in told.read_text()


def test_the_address_gets_a_post_of_json(crawled, address):
    assert propagate().state == "done"
    assert [call["body"]["serving"] for call in address.calls] == ["backup", "primary"]
    assert address.calls[0]["path"] == "/switch?key=1"
    assert set(address.calls[0]["body"]) == {"serving", "at"}


@proves("C4")
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("print('no such pool'); sys.exit(1)", "the switch command ended with 1: no such pool"),
        ("import time; time.sleep(60)", "the switch command did not end within 2 s"),
        ("import os; os.kill(os.getpid(), 9)", "the switch command ended with -9"),
    ],
    ids=["exit 1", "hangs", "dies"],
)
def test_a_command_that_does_not_follow_aborts_before_primary_is_touched(crawled, balancer, monkeypatch, code, why):
    monkeypatch.setattr(load_balancer, "SECONDS", 2.0)
    notes = balancer(code)
    row = propagate()
    assert row.state == "failed"
    assert row.error == f"The public was not moved to backup, and primary was not touched: {why}."
    assert primary_is_untouched(row)
    assert shown("development") == NEW
    assert switch.switch().serving == "primary"
    monkeypatch.setattr(load_balancer, "SECONDS", 30.0)
    balancer()
    assert services.retry(row, by="tester")
    assert services.carry_out(row.pk).state == "done"
    assert notes.read_text().split() == ["backup", "backup", "primary"]
    assert shown("primary") == shown("backup") == NEW


def test_what_a_hanging_command_has_started_is_ended_with_it(crawled, balancer, tmp_path, monkeypatch):
    monkeypatch.setattr(load_balancer, "SECONDS", 2.0)
    pid = tmp_path / "pid"
    child = (
        f"import subprocess; p = subprocess.Popen(['sleep', '61']); open({str(pid)!r}, 'w').write(str(p.pid)); p.wait()"
    )
    balancer(child)
    propagate()
    deadline = time.monotonic() + 5
    while _lives(int(pid.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(int(pid.read_text()))


def _lives(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
    except OSError:
        return False


@pytest.mark.parametrize("command", ["/no/such/program", "'unfinished"])
def test_a_command_that_cannot_be_started_says_so(crawled, monkeypatch, command):
    monkeypatch.setenv("CLEARINGHOUSE_SWITCH_COMMAND", command)
    row = propagate()
    assert "primary was not touched: the switch command could not be started" in row.error
    assert primary_is_untouched(row)


@proves("C4")
def test_an_address_that_refuses_aborts_before_primary_is_touched(crawled, address):
    address.status = 500
    row = propagate()
    assert row.error.endswith("primary was not touched: the switch address failed: answered 500.")
    assert primary_is_untouched(row)


@proves("C4")
def test_an_address_that_hangs_aborts_before_primary_is_touched(crawled, monkeypatch):
    monkeypatch.setattr(webhooks, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("CLEARINGHOUSE_SWITCH_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        row = propagate()
    assert "the switch address failed" in row.error
    assert primary_is_untouched(row)


@pytest.fixture
def left_behind(crawled, balancer) -> Any:
    """The load balancer went to backup and did not come home."""
    balancer("if sys.argv[1] == 'primary': sys.exit('pool is locked')")
    return propagate()


@proves("C4")
def test_a_hook_that_fails_on_the_way_home_stops_before_backup_is_loaded(left_behind):
    assert left_behind.state == "failed"
    assert left_behind.error == (
        "The load balancer did not move the public back to primary: the switch command ended with 1: pool is locked. "
        "It is called again."
    )
    assert shown("primary") == NEW
    assert shown("backup") == OLD  # the load balancer may still send people there
    assert switch.switch().serving == "primary"
    assert not switch.is_home()


def test_the_watchdog_tells_it_again_until_it_follows(left_behind, balancer):
    now = timezone.now()
    assert not public_home.due(switch.switch(), now)
    assert public_home.due(switch.switch(), now + timedelta(seconds=30))
    assert "pool is locked" in switch.follow()
    notes = balancer()
    assert switch.follow() == ""
    assert not public_home.due(switch.switch(), now + timedelta(days=1))
    assert notes.read_text().split()[-1] == "primary"
    Propagation.objects.update(finished_at=now - timedelta(minutes=2))
    assert services.due() == [left_behind.pk]  # by itself, as after a server that was down
    assert services.carry_out(left_behind.pk).state == "done"
    assert shown("backup") == NEW


def test_the_screen_says_that_the_load_balancer_does_not_follow(left_behind, balancer, signed_in, administrator):
    browser = signed_in(administrator)
    page = browser.get(reverse("propagation")).content.decode()
    assert "The load balancer does not follow: the switch command ended with 1: pool is locked" in page
    balancer()
    switch.follow()
    assert "does not follow" not in browser.get(reverse("propagation")).content.decode()


def test_one_process_at_a_time_tells_it(crawled, balancer):
    notes = balancer()
    switch.switch()
    PublicSwitch.objects.using("webcrawl").update(telling_until=timezone.now() + timedelta(seconds=9))
    assert switch.follow() == "another process is still calling the load balancer"
    assert notes.read_text() == ""
    PublicSwitch.objects.using("webcrawl").update(telling_until=timezone.now())
    assert switch.follow() == ""


def test_owner_and_deadline_stand_in_the_row_before_the_load_balancer_is_told(crawled, balancer, monkeypatch):
    seen: list[tuple[str, int | None, bool]] = []
    real = load_balancer.tell

    def notes(serving: str, beat: Any) -> None:
        row = switch.switch()
        seen.append((row.serving, row.owner, row.deadline is not None))
        real(serving, beat)

    monkeypatch.setattr(load_balancer, "tell", notes)
    balancer()
    row = propagate()
    assert seen == [("backup", row.pk, True), ("primary", None, False)]


def test_without_hooks_nothing_is_told():
    assert not any(name in os.environ for name in ("CLEARINGHOUSE_SWITCH_COMMAND", "CLEARINGHOUSE_SWITCH_URL"))
    assert switch.follow() == ""
    assert switch.is_home()
    assert public_home.follow_beside() is None
