"""Politeness holds for every request: also those of a handshake, of a sign-in, of a second try, of robots.txt."""

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching.launch import LaunchRequest, launch
from crawler.models import Run
from crawler.sites.speeds import SPEEDS
from crawlpoints.models import AuthType
from tests.crawler.conftest import make_document
from tests.crawler.sites.test_signing_in_to_sites import links, protect, with_form
from tests.proves import proves
from tests.sites import forms, ntlm
from tests.sites.digest import DigestDoor
from tests.sites.misbehaving import Answer, Asked, Site, page, raw, redirect

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
PAUSE = 0.25


@pytest.fixture(autouse=True)
def quick_polite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polite in a quarter of its time: one at a time still, and a pause behind each."""
    monkeypatch.setitem(SPEEDS, "polite", (PAUSE, 1))


def assert_polite(times: list[float], least: int) -> None:
    assert len(times) >= least
    gaps = [later - earlier for earlier, later in pairwise(sorted(times))]
    assert min(gaps) >= PAUSE - 0.005, gaps


def politely(*points: dict[str, Any], **options: Any) -> Run:
    """A crawl; in the end every place of every site was given back, so that other instances may go on."""
    values: dict[str, Any] = {"speed": "polite", "ignore_robots": True} | options
    run = launch(LaunchRequest([make_document(*points).pk], by="test", **values))
    initialize(run)
    crawl = InstanceLoop(run)
    crawl.work()
    assert {site.flying for site in crawl.strand.dispatch.hosts._sites.values()} == {0}
    run.refresh_from_db()
    return run


@proves("rule 11")
def test_a_sign_in_form_and_all_it_leads_to_take_the_turns_of_the_site(ledger: Ledger) -> None:
    with forms.serve(pages={"/m/": links("/m/a"), "/m/a": links()}, pages_a_session=2) as site:
        run = politely(with_form(site))
        assert site.asked("POST", "/login") == 2  # signed out once
        # Twice the form, what was filled in, and the page it leads to; a page refused; two pages.
        assert_polite([one.at for one in site.seen], least=9)
    assert set(ledger(run).values()) == {"crawled"}


def test_a_sign_in_page_at_another_port_has_turns_of_its_own(ledger: Ledger) -> None:
    with forms.serve(pages={"/m/": links("/m/a"), "/m/a": links()}) as site, forms.serve() as door:
        door.sessions = site.sessions
        run = politely(with_form(site, sign_in_url=door.url("/login")))
        assert_polite([one.at for one in door.seen], least=3)
        assert_polite([one.at for one in site.seen], least=2)
    assert set(ledger(run).values()) == {"crawled"}


@proves("rule 11")
def test_every_step_of_an_ntlm_handshake_takes_a_turn(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NTLM_USER_FILE", str(tmp_path / "users"))
    with ntlm.serve(tmp_path / "users") as site:
        site.pages = {"/m/": (200, {}, links("/m/a")), "/m/a": (200, {}, links())}
        run = politely(protect(AuthType.NTLM, site.url("/m/"), ntlm.PASSWORD, ntlm.USER))
        assert_polite(site.times, least=4)
    assert set(ledger(run).values()) == {"crawled"}


@proves("rule 11")
def test_the_second_request_of_digest_takes_a_turn(ledger: Ledger) -> None:
    door = DigestDoor(user=forms.USER, password=forms.PASSWORD)
    with Site() as site:
        site.pages["/m/"] = door
        run = politely(protect(AuthType.DIGEST, site.url("/m/")))
        assert_polite([asked.at for asked in site.log], least=2)
    assert ledger(run) == {"/m/": "crawled"}


@proves("goal 30")
def test_a_second_try_without_the_broken_length_takes_a_turn(ledger: Ledger) -> None:
    with Site() as site:
        site.pages["/"] = raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: many\r\n\r\n<p>here")
        run = politely({"url": site.url("/")})
        assert_polite([asked.at for asked in site.log], least=2)
    assert ledger(run) == {"/": "crawled"}


@proves("goal 30")
def test_a_robots_txt_that_moved_is_followed_in_turn_also_to_another_site(ledger: Ledger) -> None:
    rules = page("User-agent: *\nDisallow: /x", kind="text/plain")
    with Site() as site, Site() as other:
        site.pages |= {"/": page(links("/x", other.url("/")), kind="text/html"), "/robots.txt": redirect("/r2")}
        site.pages |= {"/r2": redirect("/r3"), "/r3": redirect(other.url("/r4"))}
        other.pages |= {"/": page(links()), "/r4": rules}
        run = politely({"url": site.url("/")}, {"url": other.url("/")}, ignore_robots=False)
        assert_polite([asked.at for asked in site.log], least=4)
        assert_polite([asked.at for asked in other.log], least=3)
    assert ledger(run)["/x"] == "robots_disallowed"


def test_waiting_for_a_turn_is_not_counted_as_the_time_of_a_page(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SPEEDS, "polite", (0.5, 1))
    monkeypatch.setattr("crawler.fetch.sign_in.form_sign_in.WHOLE_SECONDS", 0.7)
    with forms.serve(pages={"/m/": links()}, slow=0.1) as site:
        began = time.monotonic()
        run = politely(with_form(site))
        assert time.monotonic() - began > 1.5
    assert ledger(run) == {"/m/": "crawled"}


def test_a_crawl_that_ends_while_a_sign_in_waits_for_its_turn_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPEEDS, "polite", (30.0, 1))
    with forms.serve(pages={"/m/": links()}) as site:
        run = launch(LaunchRequest([make_document(with_form(site)).pk], by="test", speed="polite", ignore_robots=True))
        initialize(run)
        crawl = InstanceLoop(run)
        monkeypatch.setattr(crawl, "_land_everything", crawl._commit)  # eight seconds are for pages in flight
        began = time.monotonic()

        def stop(_: InstanceLoop) -> None:
            crawl.stopping = time.monotonic() - began > 0.5

        crawl.work(stop)
        assert time.monotonic() - began < 15.0  # its turn would come after 30
        assert len(site.seen) <= 1


def test_digest_at_full_speed_does_not_wait(ledger: Ledger) -> None:
    door = DigestDoor(user=forms.USER, password=forms.PASSWORD)

    def answer(asked: Asked) -> Answer:
        return door(asked)

    with Site() as site:
        site.pages["/m/"] = answer
        began = time.monotonic()
        politely(protect(AuthType.DIGEST, site.url("/m/")), speed="fast")
        assert time.monotonic() - began < 5.0
        assert len(site.log) == 2
