"""The entry points as a container or systemd runs them, behind nginx as the example has it; all for real.

Every file is read-only but the VAR folder and /tmp, and the processes are those of `nobody`. A browser's requests go
through nginx with TLS.
"""

import http.client
import http.server
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.cookies import SimpleCookie
from urllib.parse import urlencode

import pytest

from clearinghouse.local import ports
from tests.deployment import sandbox
from tests.deployment.front import Answer, Front
from tests.deployment.sandbox import PUBLIC, STAFF, Sandbox
from tests.flow.house import until
from tests.house.tree import BASE
from tests.requirements import need

PASSWORD = "a-long-way-to-the-door"


class OnBackup(http.server.BaseHTTPRequestHandler):
    """Stands for the web process beside backup production."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"backup serves")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def backup() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OnBackup)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def machine() -> Iterator[Sandbox]:
    """Prepared; Redis and the web process run in it."""
    need("namespaces", sandbox.possible(), "files cannot be made read-only for a process here")
    machine = Sandbox()
    try:
        ready = machine.run("deploy/run", "ready")
        assert ready.returncode == 0, ready.stdout + ready.stderr
        machine.start("deploy/run", "redis")
        for name in ("front", "web", "public"):
            machine.start("deploy/run", name)
        until(lambda: not ports.free(machine.port), "the front listens", 60)
        until(lambda: healthy(machine, "/search/", "/sign-in/").returncode == 0, "both web processes answer", 60)
        yield machine
    finally:
        machine.close()


@pytest.fixture(scope="module")
def front(machine: Sandbox, backup: int) -> Iterator[Front]:
    need("nginx", shutil.which("nginx") is not None, "there is no nginx")
    front = Front(machine.folder / "nginx", machine.var, machine.port, backup)
    checked = front.check()
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr
    front.start()
    try:
        until(lambda: not ports.free(front.plain) and not ports.free(front.tls), "nginx answers")
        yield front
    finally:
        front.stop()


def healthy(machine: Sandbox, *paths: str) -> subprocess.CompletedProcess[str]:
    return machine.run(str(BASE / ".venv/bin/python"), "deploy/healthcheck.py", *paths)


def cookies_of(answer: Answer) -> SimpleCookie:
    found: SimpleCookie = SimpleCookie()
    for line in answer.headers.get_all("Set-Cookie", []):
        found.load(line)
    return found


# The processes, with nothing to write on but VAR ------------------------------------------------------------------


def test_nothing_can_be_written_but_the_two_folders(machine: Sandbox) -> None:
    for place in (BASE, BASE / "static", BASE / "deploy"):
        assert machine.run("touch", str(place / "written")).returncode != 0
    assert machine.run("touch", str(machine.var / "written")).returncode == 0


def test_a_round_of_the_tick(machine: Sandbox) -> None:
    done = machine.run("deploy/run", "manage", "tick", "--once", "--json")
    assert (done.returncode, done.stdout.strip()) == (0, '{"rounds": 1, "failed": []}'), done.stderr


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("worker-control", b"rqworker\0control"),
        ("worker-crawl.2", b"rqworker\0crawl"),
        ("worker-propagate", b"rqworker\0propagate"),
        ("worker-preview", b"rqworker\0preview"),
        ("tick", b"manage.py\0tick"),
    ],
)
def test_each_process_runs_and_ends_within_the_time_it_is_given(machine: Sandbox, name: str, command: bytes) -> None:
    process = machine.start("deploy/run", name)
    until(lambda: command in command_of(process.pid), f"{name} is itself")
    process.terminate()
    assert process.wait(timeout=30) in (0, -15)  # -15: before it had read who it is
    assert "Traceback" not in machine.log and "Read-only" not in machine.log


def command_of(pid: int) -> bytes:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read()


def test_a_name_that_is_not_in_the_procfile_is_refused(machine: Sandbox) -> None:
    done = machine.run("deploy/run", "wbe")
    assert (done.returncode, done.stderr.strip()) == (2, 'deploy/run: "wbe" is not in the Procfile')


def test_the_health_check_tells_a_good_answer_from_a_bad_one(machine: Sandbox) -> None:
    assert healthy(machine, "/search/", "/help/").returncode == 0
    asked = healthy(machine, "/healthz", "/readyz", "/sign-in/")  # as compose.yaml asks
    assert (asked.returncode, asked.stderr) == (0, "")
    bad = healthy(machine, "/search/", "/search/result/999999/")
    assert (bad.returncode, bad.stderr.strip()) == (1, "/search/result/999999/: 404")


# Through nginx ----------------------------------------------------------------------------------------------------


def test_plain_http_is_sent_to_https_by_nginx_and_by_the_web_process_itself(machine: Sandbox, front: Front) -> None:
    assert front.ask("GET", PUBLIC, "/search/?q=a", plain=True).location == f"https://{PUBLIC}/search/?q=a"
    assert front.ask("GET", STAFF, "/", plain=True).location == f"https://{STAFF}/"
    with pytest.raises(http.client.RemoteDisconnected):  # nobody is sent to a name that a visitor made up
        front.ask("GET", "evil.example", "/", plain=True)
    assert (
        front.get(STAFF, "/sign-in/", **{"X-Request-Id": "made-up-by-them"}).headers["X-Request-Id"]
        != "made-up-by-them"
    )
    door = http.client.HTTPConnection("127.0.0.1", machine.port, timeout=30)
    door.request("GET", "/sign-in/", headers={"Host": STAFF})
    assert door.getresponse().headers["Location"] == f"https://{STAFF}/sign-in/"
    door.close()
    assert "max-age=31536000" in front.get(STAFF, "/sign-in/").headers["Strict-Transport-Security"]


def test_the_public_name_has_the_search_and_nothing_else(front: Front) -> None:
    assert front.get(PUBLIC, "/").location.endswith("/search/")
    page = front.get(PUBLIC, "/search/?q=words")
    assert page.status == 200 and "Search" in page.body
    assert front.get(PUBLIC, "/search/opensearch.xml").status == 200
    assert front.get(PUBLIC, "/sign-in/").location == f"https://{STAFF}/sign-in/"
    for path in ("/documents/", "/api/v1/runs/", "/settings/admin/", "/metrics", "/healthz"):
        assert front.get(PUBLIC, path).status == 404


def test_static_files_are_compressed_kept_for_ever_and_kept_by_nginx(front: Front) -> None:
    name = re.search(r'"(/static/app\.[0-9a-f]+\.css)"', front.get(PUBLIC, "/search/").body)
    assert name
    assert front.get(PUBLIC, "/static/app.css").status == 404  # only by its digest
    for host in (PUBLIC, STAFF):
        answer = front.get(host, name[1], **{"Accept-Encoding": "gzip"})
        assert (answer.status, answer.headers["Content-Encoding"]) == (200, "gzip")
        assert "immutable" in answer.headers["Cache-Control"]
    assert any(path.is_file() for path in front.kept.rglob("*"))


def test_staff_sign_in_over_tls_with_cookies_that_never_travel_plainly(machine: Sandbox, front: Front) -> None:
    new = ("deploy/run", "manage", "createsuperuser", "--no-input", "--username", "first", "--email", "a@example.org")
    assert machine.run(*new, DJANGO_SUPERUSER_PASSWORD=PASSWORD).returncode == 0
    page = front.get(STAFF, "/sign-in/")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.body)
    assert token
    fields = {"csrfmiddlewaretoken": token[1], "username": "first", "password": PASSWORD}
    headers = {
        "Cookie": f"csrftoken={cookies_of(page)['csrftoken'].value}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    other = headers | {"Origin": "https://evil.example"}
    assert front.ask("POST", STAFF, "/sign-in/", body=urlencode(fields), headers=other).status == 403
    own = headers | {"Origin": f"https://{STAFF}"}
    done = front.ask("POST", STAFF, "/sign-in/", body=urlencode(fields), headers=own)
    assert (done.status, done.location) == (302, "/")
    cookies = cookies_of(done)
    assert cookies["sessionid"]["secure"] and cookies["csrftoken"]["secure"] and cookies["sessionid"]["httponly"]


def test_the_public_moves_to_backup_and_home_without_a_reload(machine: Sandbox, front: Front) -> None:
    for serving, expected in (("backup", True), ("primary", False)):
        assert machine.run("deploy/switch-public", str(front.mark), serving).returncode == 0
        assert ("backup serves" in front.get(PUBLIC, "/search/").body) is expected
        assert "backup serves" not in front.get(STAFF, "/sign-in/").body
    assert machine.run("deploy/switch-public", str(front.mark), "sideways").returncode == 2


def test_a_flood_of_passwords_ends_at_nginx_and_the_page_still_opens(front: Front) -> None:
    """Threat T49. Without a token the product refuses with 403; what nginx refuses has no number of ours."""
    answers = [front.ask("POST", STAFF, "/sign-in/", body="username=a&password=b") for _ in range(40)]
    assert {answer.status for answer in answers} == {403, 429}
    reached = [answer for answer in answers if "X-Request-Id" in answer.headers]
    assert len(reached) <= 20
    assert front.get(STAFF, "/sign-in/").status == 200
