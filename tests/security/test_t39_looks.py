"""Threat T39: somebody makes the web server wait for sites until it has no thread left, or hammers a site by its hands.

A look is whatever asks a site because somebody pressed a button: one at a time a person, over all web processes; a few
a process; and each request in the turns by which crawls share the site.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import pytest
from django.urls import reverse

from clearinghouse.database.digests import digest_of
from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document
from crawler.errors import TooManyAtOnce
from crawler.models import Host
from crawler.preview import look_limits, site_turns, throttled_client
from crawler.preview.fetch_once import visit
from crawler.preview.form_detection import detect
from crawler.preview.sign_in_test import try_sign_in
from crawler.values import PointSettings, Snapshot
from crawlpoints import services
from crawlpoints.dialog import host_names
from crawlpoints.models import CrawlPoint
from tests.sites.digest import DigestDoor
from tests.sites.misbehaving import Site, page, redirect

pytestmark = pytest.mark.django_db(databases="__all__")
PAUSE = 0.4
ENTRIES = {
    "depth": "2",
    "max_pages": "",
    "active": "on",
    "excludes": "",
    "excludes_opened": "[]",
    "note": "typed before",
}
Ask = Callable[[Any, Any, Document, CrawlPoint], Any]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as one:
        one.pages["/robots.txt"] = page("User-agent: *\nDisallow: /secret/\n", kind="text/plain")
        one.pages["/"] = page("<title>Start</title><form method=post><input name=u><input type=password name=p></form>")
        one.pages["/moved"] = redirect("/")
        yield one


@pytest.fixture
def here(document: Document, site: Site) -> CrawlPoint:
    values = {"url": site.url("/"), "root": site.url("/"), "auth_type": 1, "login": "me", "password": "canary-7Q"}
    return services.add_crawl_point(document, values)[0]


def _dialog(do: str) -> Ask:
    def ask(browser: Any, asks: Any, document: Document, here: CrawlPoint) -> Any:
        url = reverse("crawl-point-edit", args=[document.pk, here.pk])
        typed = {
            "url": here.url,
            "root": here.root,
            "auth_type": "1",
            "login": "me",
            "password": "typed-8R",
            "note": "typed before",
        }
        return browser.post(url, ENTRIES | typed | {"do": do, "test": here.url})

    return ask


def _api(path: str, **body: Any) -> Ask:
    def ask(browser: Any, asks: Any, document: Document, here: CrawlPoint) -> Any:
        given = {name: value(here) if callable(value) else value for name, value in body.items()}
        return asks.client.post(f"/api/v1/documents/{document.pk}/{path}", given, "application/json")

    return ask


WAYS: dict[str, Ask] = {
    "the tester": lambda browser, asks, document, here: browser.post(
        reverse("crawl-points-test", args=[document.pk]), {"url": here.url}
    ),
    "the look after a save": lambda browser, asks, document, here: browser.get(
        reverse("crawl-point-look", args=[document.pk, here.pk])
    ),
    "Fetch it now": _dialog("fetch"),
    "Detect": _dialog("detect"),
    "Test sign-in": _dialog("sign_in"),
    "fetch of a program": _api("fetch/", url=lambda here: here.url),
    "detect of a program": _api("sign-in/detect/", url=lambda here: here.url),
    "sign-in of a program": _api("sign-in/test/", crawl_point=lambda here: here.pk),
}


@pytest.mark.parametrize("name", WAYS)
def test_t39_who_waits_for_a_site_is_asked_to_wait_by_every_other_way(
    name: str, editor: Any, signed_in: Any, program: Any, document: Document, here: CrawlPoint, site: Site
) -> None:  # fmt: skip
    browser, asks = signed_in(editor), program(editor)
    with acting_as("editor"), look_limits.one_look():
        refused = WAYS[name](browser, asks, document, here)
    assert (refused.status_code, refused.headers["Retry-After"], site.log) == (429, "5", [])
    text = refused.content.decode()
    assert look_limits.YOURS in text
    if "application/json" in refused.headers["Content-Type"]:
        assert refused.json() == {"code": "too_many", "error": f"{look_limits.YOURS}."}
    elif name in ("Fetch it now", "Detect", "Test sign-in"):
        assert "typed before" in text
    assert WAYS[name](browser, asks, document, here).status_code == 200 and site.log


def test_t39_one_look_of_a_person_holds_in_all_web_processes(here: CrawlPoint) -> None:
    fork = multiprocessing.get_context("fork")
    began, ended = fork.Event(), fork.Event()

    def look() -> None:
        with acting_as("editor"), look_limits.one_look():
            began.set()
            ended.wait(20)

    other = fork.Process(target=look)
    other.start()
    assert began.wait(20)
    with acting_as("editor"):
        assert visit(Snapshot(1), {}, here.url).verdict == look_limits.YOURS
    with acting_as("reader"):
        assert visit(Snapshot(1), {}, here.url).good
    other.kill()
    other.join()
    with acting_as("editor"):  # a process that was killed holds nobody up
        assert visit(Snapshot(1), {}, here.url).good


def test_t39_looks_leave_threads_of_a_web_process_for_others(here: CrawlPoint) -> None:
    with ExitStack() as looks:
        for number in range(look_limits.MOST):
            with acting_as(f"person {number}"):
                looks.enter_context(look_limits.one_look())
        with acting_as("editor"):
            assert visit(Snapshot(1), {}, here.url).verdict == look_limits.OTHERS
            assert detect(here.url).problem == look_limits.OTHERS
            with pytest.raises(TooManyAtOnce):
                try_sign_in(PointSettings(1, here.url, here.root, auth_type=1, login="u"), "typed")


@pytest.fixture
def at_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttled_client, "pause_of_looks", lambda: PAUSE)


def pauses(site: Site) -> list[float]:
    return [later.at - before.at for before, later in pairwise(site.log)]


def test_t39_each_request_of_a_look_has_a_turn_of_its_site(at_pace: None, here: CrawlPoint, site: Site) -> None:
    """Whoever looks: the second one does not ask for robots.txt again, and waits for the turn of the first."""
    snapshot = Snapshot(1, (PointSettings(1, site.url("/"), site.url("/"), depth=1),))
    for person in ("editor", "reader"):
        with acting_as(person):
            assert visit(snapshot, {}, site.url("/moved")).good
    assert detect(site.url("/")).password_field == "p"
    assert [one.target for one in site.log] == ["/robots.txt", "/moved", "/", "/moved", "/", "/"]
    assert min(pauses(site)) > 0.75 * PAUSE


def test_t39_a_handshake_has_turns_too(at_pace: None) -> None:
    with Site() as site:
        site.pages["/"] = door = DigestDoor()
        point = PointSettings(1, site.url("/"), site.url("/"), auth_type=2, login=door.user)
        assert try_sign_in(point, door.password).good
        assert len(site.log) >= 3 and min(pauses(site)) > 0.75 * PAUSE


def test_t39_a_look_waits_for_the_turns_that_crawls_have_taken(here: CrawlPoint, site: Site) -> None:
    Host.objects.create(key=digest_of(site.url("")), origin=site.url(""), next_at=time.time() + 1.0)
    began = time.monotonic()
    assert visit(Snapshot(1), {}, here.url).good
    assert site.log[0].at - began > 0.9


def test_t39_a_site_that_asked_to_be_left_alone_is(here: CrawlPoint, site: Site) -> None:
    Host.objects.create(
        key=digest_of(site.url("")), origin=site.url(""), wait_until=time.time() + 600, robots_status=404,
        robots_at=time.time(),
    )  # fmt: skip
    began = time.monotonic()
    assert "the site asked for a pause: try again in 600 s" in visit(Snapshot(1), {}, here.url).verdict
    assert time.monotonic() - began < 2 and site.log == []


def test_t39_looks_are_never_faster_than_a_polite_house_crawls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_SPEED", "polite")
    assert site_turns.pause_of_looks() == 1.0
    monkeypatch.setenv("CLEARINGHOUSE_SPEED", "fast")
    assert site_turns.pause_of_looks() == site_turns.LEAST


def test_t39_a_name_that_is_looked_up_before_a_save_is_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(host_names, "_addresses", lambda host, port: asked.append(host) or ["10.1.2.3"])
    with acting_as("editor"):
        assert host_names.is_private("http://slow.example/")
        with look_limits.one_look():
            assert not host_names.is_private("http://slow.example/")
    assert asked == ["slow.example"]
