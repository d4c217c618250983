"""Inside a namespace: people at work on a house whose disk becomes full to the last byte, and has room again."""

import json
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import lxml.html
import requests
from redis import Redis

from tests.faults.namespace import ip, mount_small_disk
from tests.faults.space import fill
from tests.flow.house import House, until
from tests.sites.graph import Page, html, serve

MEGABYTES = 64
PASSWORD = "correct horse battery"
PEOPLE = f"""
import django; django.setup()
from django.contrib.auth import get_user_model
from clearinghouse.accounts.keys import api_keys
from clearinghouse.accounts.models import Person, Role
user = get_user_model().objects.create_user("ann", password={PASSWORD!r})
Person.objects.create(user=user, role=Role.ADMINISTRATOR)
print(api_keys.create(user, "a program")[1])
"""
READ = (
    "/", "/documents/", "/documents/1/", "/documents/1/crawl-points/", "/documents/1/notes/", "/documents/1/history/",
    "/documents/1/pages/", "/crawls/", "/crawls/1/", "/crawls/1/urls/", "/crawl-points/",
    "/search/?q=heliostats", "/propagation/", "/me/",
    "/settings/", "/settings/people/", "/documents/export.csv", "/help/", "/healthz", "/readyz",
)  # fmt: skip
NOTE = "Rücksprache: <b>nothing</b> of this may be lost.\nA second line."


class Visitor(requests.Session):
    """A browser with a form in front of it."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.headers["Referer"] = address

    def see(self, path: str) -> requests.Response:
        return self.get(self.address + path, timeout=60)

    def submit(self, path: str, **entries: str) -> requests.Response:
        """The form of that page as it stands, with these entries."""
        forms = lxml.html.fromstring(self.see(path).text).forms
        form = next(one for one in forms if one.method == "POST" and (one.action or path) == path)
        given = dict(form.form_values()) | entries
        return self.post(self.address + path, data=given, timeout=60, allow_redirects=False)

    def sign_in(self) -> requests.Response:
        return self.submit("/sign-in/", username="ann", password=PASSWORD)


def told(answer: requests.Response) -> dict[str, Any]:
    return {"status": answer.status_code, "text": answer.text}


def main() -> None:
    ip("link", "set", "lo", "up")
    disk = Path(tempfile.mkdtemp())
    mount_small_disk(disk, MEGABYTES)
    house = House(disk / "var")
    house.folder.mkdir()
    beside = Path(tempfile.mkdtemp())
    (house.folder / "processes.log").symlink_to(beside / "log")
    house.env |= {"CLEARINGHOUSE_ALLOWED_NETWORKS": "127.0.0.0/8", "CLEARINGHOUSE_FREE_SPACE": "2"}
    try:
        print(json.dumps(lived(house, disk)))
    finally:
        house.close()
        shutil.rmtree(house.folder)
        shutil.rmtree(beside)


class Everybody:
    """Ann signed in, somebody in front of the sign-in form, a program, and all processes of the house at work."""

    def __init__(self, house: House) -> None:
        self.house = house
        key = at_work(house)
        self.address = house.start_web()
        self.ann, self.program, self.newcomer = Visitor(self.address), requests.Session(), Visitor(self.address)
        self.program.headers["Authorization"] = f"Bearer {key}"
        self.signed_in = self.ann.sign_in().status_code
        self.newcomer.see("/sign-in/")
        self.ann.see("/search/?q=heliostats")
        self.processes = [
            house.start_redis(), house.start_worker("control"), house.start_worker("crawl"), house.start_manage("tick"),
        ]  # fmt: skip
        redis = Redis(unix_socket_path=str(house.folder / "redis.sock"))
        until(lambda: redis.scard("rq:workers") == 2, "both workers are registered", 60)
        time.sleep(5)  # and the tick looks after everything

    def commands_while_full(self) -> dict[str, Any]:
        rotated = self.house.run("rotate_keys")
        return {
            "doctor": self.house.run("doctor").stdout,
            "rotate_keys": [rotated.returncode, rotated.stderr],
            "add_document": self.house.run("add_document", "Another").stderr,
        }

    def alive(self) -> list[int | None]:
        return [one.poll() for one in self.processes]

    def with_room_again(self) -> dict[str, Any]:
        note = self.ann.submit("/documents/1/notes/", text=NOTE)
        return {
            "after": [note.status_code, Visitor(self.address).sign_in().status_code],
            "kept": NOTE.splitlines()[1] in self.ann.see("/documents/1/notes/").text,
            "rotated": self.house.run("rotate_keys").returncode,
            "launched": self.launch().status_code,
            "log": self.house.log,
        }

    def launch(self) -> requests.Response:
        return self.program.post(f"{self.address}/api/v1/runs/", json={"documents": [1]}, timeout=60)


def lived(house: House, disk: Path) -> dict[str, Any]:
    house.manage("prepare")
    everybody = Everybody(house)
    found: dict[str, Any] = {"signed_in": everybody.signed_in}
    fill(disk / "ballast", leaving=0)
    found |= while_full(everybody) | everybody.commands_while_full()
    time.sleep(8)  # a round of the tick
    found["alive"] = everybody.alive()
    (disk / "ballast").unlink()
    found |= everybody.with_room_again()
    found["quick"] = house.rows("webcrawl", "PRAGMA quick_check")
    return found


def at_work(house: House) -> str:
    """A document, crawled and propagated; the key of a program."""
    with serve({"/m/": Page(["/m/1"]), "/m/1": Page(body=html("Heliostats", [], "heliostats"))}) as site:
        house.manage("add_document", "Measures")
        house.manage("add_crawl_point", 1, site.url("/m/"), "--depth", 2)
        house.manage("crawl", "--speed", "fast")
        house.manage("propagate")
    process = house.start(sys.executable, "-c", PEOPLE)
    process.wait(timeout=60)
    return house.log.split()[-1]


def while_full(everybody: Everybody) -> dict[str, Any]:
    ann, address = everybody.ann, everybody.address
    point = {
        "url": "http://127.0.0.1/new/",
        "root": "http://127.0.0.1/new/",
        "login": "ann",
        "password": "s3cret-typed",
        "note": secrets.token_urlsafe(6000),  # so much that a server needs room of its own for it
    }
    return {
        "read": {path: ann.see(path).status_code for path in READ},
        "api": everybody.program.get(f"{address}/api/v1/documents/", timeout=60).status_code,
        "ready": told(ann.see("/readyz")),
        "note": told(ann.submit("/documents/1/notes/", text=NOTE)),
        "point": told(ann.submit("/documents/1/crawl-points/new/", **point)),
        "sign_in": told(everybody.newcomer.sign_in()),
        "api_launch": told(everybody.launch()),
    }


if __name__ == "__main__":
    main()
