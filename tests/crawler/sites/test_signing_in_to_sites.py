"""Whole crawls behind each way of signing in: what is let in, what is said if not, and who never hears of it."""

import base64
import logging
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone

from clearinghouse.library.models import Document
from clearinghouse.vault.sealing import binding_of, seal
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.fetch.fetcher import Fetcher
from crawler.launching.launch import LaunchRequest, launch
from crawler.models import Event, Instance, LedgerEntry, Run
from crawler.sites.credentials import InstanceCredentials
from crawler.values import Snapshot
from crawlpoints.models import AuthType
from tests.crawler.conftest import make_document
from tests.proves import proves
from tests.sites import forms, ntlm
from tests.sites.digest import DigestDoor
from tests.sites.forms import FormSite
from tests.sites.graph import html
from tests.sites.misbehaving import Answer, Asked, Page, Site, page, redirect

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
CANARY = forms.PASSWORD


class Killed(BaseException):
    """Stands for kill -9: nothing in the product catches it."""


PAIR = base64.b64encode(f"{forms.USER}:{CANARY}".encode()).decode()


def crawl(document: Document) -> Run:
    run = launch(LaunchRequest([document.pk], by="test", speed="fast", ignore_robots=True))
    initialize(run)
    instance = InstanceLoop(run)
    dispatch = instance.strand.dispatch
    dispatch.fetcher.close()
    dispatch.fetcher, dispatch.keys = Fetcher(64, dispatch.hosts), InstanceCredentials(run.pk)
    instance.work()
    run.refresh_from_db()
    return run


def protect(kind: AuthType, url: str, password: str = CANARY, login: str = forms.USER, **values: str) -> dict[str, Any]:
    """The values of a crawl point with a saved password; its root string is the folder of its URL."""
    sealed = seal(password, binding_of(url, url, kind, values.get("sign_in_url", "")))
    return {"url": url, "root": url, "auth_type": kind, "login": login, "password": sealed, **values}


def with_form(site: FormSite, path: str = "/m/", **values: str) -> dict[str, Any]:
    fields = {"sign_in_url": site.url("/login"), "sign_in_user_field": "user", "sign_in_password_field": "pass",
              "signed_in_text": forms.SIGNED_IN}  # fmt: skip
    return protect(AuthType.FORM, site.url(path), **fields | values)


def links(*targets: str) -> bytes:
    return html("a page", list(targets))


def test_a_site_behind_a_form_is_crawled(ledger: Ledger) -> None:
    pages = {"/m/": links("/m/a", "/m/b", "/login", "/m/logout"), "/m/a": links(), "/m/b": links("/m/a")}
    with forms.serve(pages=pages) as site:
        run = crawl(make_document(with_form(site)))
        assert site.asked("POST", "/login") == 1
    found = ledger(run)
    assert [found[path] for path in ("/m/", "/m/a", "/m/b", "/login")] == ["crawled"] * 3 + ["outside_root"]


def test_a_crawl_point_whose_sign_in_is_refused_is_paused_and_the_log_says_so(ledger: Ledger) -> None:
    with forms.serve(pages={"/m/": links()}, password="changed") as site, Site() as other:
        other.pages["/"] = page(links())
        document = make_document(with_form(site), {"url": other.url("/")})
        run = crawl(document)
        assert site.asked("POST", "/login") == 1
    assert ledger(run) == {"/m/": "auth_failed", "/": "crawled"}
    event = Event.objects.get(run=run, kind="sign-in")
    assert event.doc_id == document.pk and site.url("/m/") in event.text and "did not accept" in event.text


@proves("G6")
def test_pages_left_of_a_paused_crawl_point_are_not_fetched(ledger: Ledger) -> None:
    pages = {"/m/": links(*(f"/m/{n}" for n in range(90)))} | {f"/m/{n}": links() for n in range(90)}
    with forms.serve(pages=pages, pages_a_session=10, sign_ins=1) as site:
        run = crawl(make_document(with_form(site)))
        assert site.asked("POST", "/login") == 2
        asked = Counter(one.path for one in site.seen if one.path.startswith("/m/"))
    outcomes = list(ledger(run).values())
    assert run.state == "finished" and len(outcomes) == 91 and outcomes.count("crawled") == 9
    # Sixteen may be under way when the site signs us out, and go again after the second sign-in; not one more.
    assert set(outcomes) == {"crawled", "auth_failed"} and max(asked.values()) <= 2
    assert len(asked) < 91 - 9


def test_a_site_that_signs_us_out_now_and_then_is_crawled_whole(ledger: Ledger) -> None:
    pages = {"/m/": links(*(f"/m/{n}" for n in range(60)))} | {f"/m/{n}": links() for n in range(60)}
    with forms.serve(pages=pages, pages_a_session=25, wall="page") as site:
        run = crawl(make_document(with_form(site)))
        assert 3 <= site.asked("POST", "/login") <= 8
    assert list(ledger(run).values()) == ["crawled"] * 61


@proves("D22", "G4")
def test_a_refused_basic_password_is_sent_three_times(ledger: Ledger) -> None:
    with Site() as site:
        site.pages["/m/"] = page(links(*(f"/m/{n}" for n in range(30))))
        run = crawl(make_document(protect(AuthType.BASIC, site.url("/m/"))))
    assert sum(asked.target != "/m/" for asked in site.log) == 30  # once let in, a page may say 404
    assert set(ledger(run).values()) == {"crawled", "http_4xx"}
    with Site() as site:
        for n in range(9):
            site.pages[f"/m/{n}"] = page("", 'WWW-Authenticate: Basic realm="x"', status="401 Unauthorized")
        others = [{"url": site.url(f"/m/{n}"), "root": site.url("/m/")} for n in range(9)]  # owned by the first
        run = crawl(make_document(protect(AuthType.BASIC, site.url("/m/")), *others))
        assert len(site.log) == 4  # the start answered 404 and proved nothing
    assert set(ledger(run).values()) == {"auth_failed", "http_4xx"}
    assert site.url("/m/") in Event.objects.get(run=run, kind="sign-in").text


@proves("G4")
def test_refusals_are_counted_over_all_instances_of_a_run(ledger: Ledger) -> None:
    """However often the queue changes hands, no account is locked: three tries in a run."""
    with Site() as site:
        for n in range(9):
            site.pages[f"/m/{n}"] = page("", 'WWW-Authenticate: Basic realm="x"', status="401 Unauthorized")
        others = [{"url": site.url(f"/m/{n}"), "root": site.url("/m/")} for n in range(9)]  # owned by the first
        document = make_document(protect(AuthType.BASIC, site.url("/m/")), *others)
        run = launch(LaunchRequest([document.pk], by="test", speed="fast", ignore_robots=True))
        initialize(run)
        for most in (1, 2, 99):
            instance = InstanceLoop(run)

            def look(crawl: InstanceLoop, most: int = most) -> None:
                if len(site.log) >= most + 1:
                    raise Killed

            with suppress(Killed):
                instance.work(look)
            Instance.objects.filter(pk=instance.row.pk).update(pid_started=1)  # as if its process had gone
        assert len([asked for asked in site.log if asked.target != "/m/"]) <= 3
    run.refresh_from_db()
    assert run.state == "finished"
    assert set(ledger(run).values()) == {"auth_failed", "http_4xx"}
    assert "is paused" in Event.objects.get(run=run, kind="sign-in").text


def test_a_crawl_point_whose_form_was_refused_is_left_alone_by_the_next_instance(ledger: Ledger) -> None:
    pages = {"/m/": links("/m/1")} | {"/m/1": links()}
    with forms.serve(pages=pages, sign_ins=0) as site:
        document = make_document(with_form(site), {"url": site.url("/m/1"), "root": site.url("/m/")})
        run = launch(LaunchRequest([document.pk], by="test", speed="fast", ignore_robots=True))
        initialize(run)
        text = f"Crawl point {site.url('/m/')} is paused: it did not accept"
        Event.objects.create(run=run, at=timezone.now(), kind="sign-in", text=text)  # by an instance that is gone
        InstanceLoop(run).work()
        assert site.asked("POST", "/login") == 0
    assert set(ledger(run).values()) == {"auth_failed"}


def test_a_site_behind_ntlm_is_crawled(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("NTLM_USER_FILE", str(tmp_path / "users"))
    with ntlm.serve(tmp_path / "users") as site:
        site.pages = {
            "/m/": (200, {}, links(*(f"/m/{n}" for n in range(20)))),
            "/m/0": (302, {"Location": "/m/1"}, b""),
        }
        site.pages |= {f"/m/{n}": (200, {}, links()) for n in range(1, 20)}
        run = crawl(make_document(protect(AuthType.NTLM, site.url("/m/"), ntlm.PASSWORD, ntlm.USER)))
        assert sorted(site.served) == sorted(site.pages)
    outcomes = ledger(run)
    assert_no_canary(caplog.text + everything_in_the_database())
    assert outcomes.pop("/m/0") == "redirected" and set(outcomes.values()) == {"crawled"} and len(outcomes) == 20


@proves("rule 10")
def test_a_form_on_another_site_or_without_https_gets_nothing(ledger: Ledger) -> None:
    with forms.serve(pages={"/m/": links()}) as site:
        elsewhere = site.url("/login").replace("127.0.0.1", "localhost")
        run = crawl(make_document(with_form(site, sign_in_url=elsewhere)))
        assert not site.seen
    assert ledger(run) == {"/m/": "auth_failed"}


# -- the leak test ----------------------------------------------------------------------------------------------

TOPOLOGIES = 500


class Maze:
    """Chains of redirects and links that lead through the protected folder, the rest of its site, and strangers."""

    def __init__(self, home: str, other: str, seed: int) -> None:
        self.chance = random.Random(seed)
        self.places = {
            "inside": home + "/m/{}", "outside": home + "/public/{}", "beside": home + "/mm/{}",
            "stranger": other + "/x/{}", "asking": other + "/ask/{}",
            "name": home.replace("127.0.0.1", "localhost") + "/m/{}",
        }  # fmt: skip
        self.redirects: dict[str, str] = {}  # url -> url
        self.ends: list[str] = []
        self.starts = [self._chain(number) for number in range(TOPOLOGIES)]

    def _chain(self, number: int) -> str:
        urls = []
        for hop in range(self.chance.randint(1, 5)):
            kind = self.chance.choice(list(self.places)) if hop else "inside"
            urls.append(self.places[kind].format(f"{number}-{hop}"))
        abroad = self.places[self.chance.choice(["stranger", "asking"])]
        urls.insert(self.chance.randint(1, len(urls)), abroad.format(f"{number}-abroad"))
        self.redirects |= dict(pairwise(urls))
        self.ends.append(urls[-1])
        return urls[0]

    def at(self, start: str) -> list[str]:
        """Everything of one site: its own crawl point finds it, too."""
        return [url for url in {*self.redirects, *self.ends} if url.startswith(start)]

    @property
    def named(self) -> list[str]:
        return self.at("http://localhost")

    def page_of(self, url: str) -> Page:
        if url in self.redirects:
            return redirect(self.redirects[url], self.chance.choice(["301 M", "302 F", "303 S", "307 T", "308 P"]))
        if "/ask/" in url:
            challenges = ('WWW-Authenticate: Digest realm="a, b", nonce="chosen", qop="auth"',
                          'WWW-Authenticate: Basic realm="a, b"', "WWW-Authenticate: NTLM")  # fmt: skip
            return page("<form method=post><input name=user><input type=password name=pass>", *challenges,
                        status="401 Unauthorized")  # fmt: skip
        return page(links(*self.chance.sample(self.ends, 2)))


def everything_in_the_database() -> str:
    models = [*apps.get_app_config("crawler").get_models()]
    return "\n".join(str(list(model._default_manager.using("webcrawl").values())) for model in models)


def assert_no_canary(text: str) -> None:
    needles = [CANARY, PAIR, base64.b64encode(CANARY.encode()).decode(), "Geh%C3%A9im", "C4n4ry"]
    assert [needle for needle in needles if needle in text] == []


def points_for(home: str, other: str, point: dict[str, Any]) -> Document:
    return make_document(
        point, {"url": home + "/"}, {"url": other + "/"}, {"url": home.replace("127.0.0.1", "localhost") + "/"}
    )


@proves("rule 10", "I11", "goal 22", "goal 23")
@pytest.mark.parametrize("kind", [AuthType.BASIC, AuthType.DIGEST])
def test_no_stranger_ever_sees_a_password(kind: AuthType, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Site() as home, Site() as other:
        maze = Maze(home.url("/")[:-1], other.url("/")[:-1], int(kind))
        door = DigestDoor(user=forms.USER, password=CANARY) if kind == AuthType.DIGEST else _basic_door

        def start(asked: Asked) -> Answer:
            answer = door(asked)
            let_in = isinstance(answer, bytes) and answer.startswith(b"HTTP/1.1 200")
            return page(links(*maze.starts))(asked) if let_in else answer

        home.pages["/m/"], home.pages["/"] = start, page(links(*maze.at(home.url("/")), *maze.named))
        other.pages["/"] = page(links(*maze.at(other.url("/"))))
        for url in {*maze.redirects, *maze.ends}:
            site = other if url.startswith(other.url("/")) else home
            site.pages["/" + url.split("/", 3)[3]] = maze.page_of(url)
        run = crawl(points_for(home.url("/")[:-1], other.url("/")[:-1], protect(kind, home.url("/m/"))))
    shown = [asked for asked in home.log if "authorization" in asked.headers]
    assert len(shown) >= TOPOLOGIES
    assert {(asked.headers["host"].split(":")[0], asked.target[:3]) for asked in shown} == {("127.0.0.1", "/m/")}
    assert len(other.log) >= TOPOLOGIES
    assert not [a for a in other.log if "authorization" in a.headers or "cookie" in a.headers]
    assert LedgerEntry.objects.filter(excursion__run=run).count() >= TOPOLOGIES
    assert_no_canary(caplog.text + everything_in_the_database())


def _basic_door(asked: Asked) -> Answer:
    if asked.headers.get("authorization") == "Basic " + PAIR:
        return page("let in")(asked)
    return page("", 'WWW-Authenticate: Basic realm="a, b"', status="401 Unauthorized")(asked)


@proves("rule 10", "goal 22")
def test_no_stranger_ever_sees_a_cookie(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with forms.serve() as home, Site() as other:
        maze = Maze(home.address, other.url("/")[:-1], 4)
        home.pages["/m/"], home.open_pages["/"] = links(*maze.starts), links(*maze.at(home.address), *maze.named)
        other.pages["/"] = page(links(*maze.at(other.url("/"))))
        for url in {*maze.redirects, *maze.ends}:
            path = "/" + url.split("/", 3)[3]
            if url.startswith(other.url("/")):
                other.pages[path] = maze.page_of(url)
            elif url in maze.redirects:
                home.redirects[path] = maze.redirects[url]
            else:
                home.pages[path] = links()
        run = crawl(points_for(home.address, other.url("/")[:-1], with_form(home)))
    shown = [asked for asked in home.seen if "session=" in asked.headers.get("cookie", "")]
    assert len(shown) >= TOPOLOGIES
    assert {asked.headers["host"].split(":")[0] for asked in shown} == {"127.0.0.1"}
    assert {asked.path[:3] for asked in shown} == {"/m/", "/ho"}  # and the page the sign-in itself leads to
    assert sum("C4n4ry" in asked.body for asked in home.seen) == home.asked("POST", "/login") == 1
    assert len(other.log) >= TOPOLOGIES
    assert not [a for a in other.log if "authorization" in a.headers or "cookie" in a.headers]
    assert LedgerEntry.objects.filter(excursion__run=run).count() >= TOPOLOGIES
    assert_no_canary(caplog.text + everything_in_the_database())


def test_no_key_shows_its_password_in_a_repr() -> None:
    with forms.serve(pages={"/m/": links()}) as site:
        document = make_document(with_form(site))
        run = launch(LaunchRequest([document.pk], by="test", speed="fast"))
        initialize(run)
        owner = Snapshot.from_json(run.excursions.get().snapshot).points[0]
        key = InstanceCredentials(run.pk).for_request(owner, site.url("/m/"))
        fetcher = Fetcher(4)
        text = f"{key!r} {key!s} {fetcher.__dict__!r} {fetcher._states!r}"
        fetcher.close()
    assert_no_canary(text)
    assert "reader" not in repr(key)
