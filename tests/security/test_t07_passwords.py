"""Threat T7, goal 23: a stored password is found nowhere but in its ciphertext, by no role, in no dress."""

import base64
import io
import json
import logging
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import pytest
from django.core.management import call_command
from django.http import Http404
from django.test import Client
from django.urls import resolve, reverse

from clearinghouse.accounts.keys import api_keys
from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Document
from crawler.models import Excursion
from crawlpoints import services
from crawlpoints.models import AuthType, CrawlPoint
from crawlpoints.queries import points_of
from tests.accounts.matrix import QUERIES
from tests.accounts.routes import arguments, everybody, project_one, routes
from tests.accounts.test_routes import browser, reachable
from tests.crawler.conftest import crawl
from tests.proves import proves
from tests.security.canary import CANARY, found_in
from tests.sites import forms
from tests.sites.digest import DigestDoor
from tests.sites.graph import Page, serve
from tests.sites.misbehaving import Site

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
ROLES = ("visitor", "stranger", "editor", "reader", "manager", "administrator", "superuser")
World = tuple[dict[str, Any], dict[str, Any], Document]


def test_the_hunt_recognises_a_password_in_every_dress() -> None:
    hidden = [f"x{CANARY}x", quote(CANARY), json.dumps(CANARY), CANARY.replace("&", "&amp;").replace("<", "&lt;")]
    for user in ("r", "re", "rea"):
        hidden.append(base64.b64encode(f"{user}:{CANARY}".encode()).decode())
    hidden += [CANARY.encode().hex(), repr(CANARY.encode()), CANARY[::-1]]
    for text in hidden:
        assert found_in(f"before {text} after"), text
    assert not found_in("C4n4ry and no more")


@pytest.fixture
def world() -> World:
    """The canary is stored through every door there is, and replaced, copied, deleted and undone."""
    own, other = project_one()
    people = everybody(own, other)
    editor = browser(people, "editor")
    root = "https://quality.example.gov/private/"
    entries = {"url": root, "root": root, "depth": "1", "auth_type": "1", "login": "reader", "password": CANARY}
    assert editor.post(reverse("crawl-point-new", args=[own.pk]), entries).status_code == 302
    key = {"Authorization": f"Bearer {api_keys.create(people['editor'], 'program')[1]}"}
    for kind in ("basic", "digest", "ntlm"):
        sent = {
            "url": f"{root}{kind}/",
            "root": f"{root}{kind}/",
            "authentication": kind,
            "login": "r",
            "password": CANARY,
        }
        program = Client(headers=key)
        address = f"/api/v1/documents/{own.pk}/crawl-points/"
        assert program.post(address, sent, content_type="application/json").status_code == 201
    form = {"url": f"{root}form/", "root": f"{root}form/", "auth_type": AuthType.FORM, "login": "r", "password": CANARY,
            "sign_in_url": f"{root}form/in", "sign_in_user_field": "u", "sign_in_password_field": "p"}  # fmt: skip
    services.add_crawl_point(own, form)
    first = points_of(own).earliest("id")
    services.update_crawl_point(first, {"password": CANARY, "note": "again"})
    services.delete_crawl_point(points_of(own).latest("id"))
    given = arguments(people, own)
    given["point_id"] = first.pk
    return people, given, own


def body_of(response: Any) -> bytes:
    head = "\n".join(f"{name}: {value}" for name, value in response.items()).encode()
    cookies = response.cookies.output().encode()
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return head + cookies + body


@proves("I11", "goal 23")
@pytest.mark.parametrize("person", ROLES)
def test_t7_no_page_of_any_role_shows_it(world: World, person: str) -> None:
    """Every route, and whatever the pages lead to from there, one step on."""
    people, given, _ = world
    assert CrawlPoint.objects.exclude(password=None).count() >= 4
    client = browser(people, person)
    todo = [route.path(given) + QUERIES.get(route.name, "") for route in routes() if route.name and reachable(route)]
    todo += list(_more(given))
    following = [link for address in dict.fromkeys(todo) for link in _look(client, person, address)]
    assert len(todo) > 80
    if person in ("editor", "administrator"):
        led = [link for link in _a_few_of_each(following) if link not in todo]
        assert len(led) > 20
        for address in led:
            _look(client, person, address)


def _look(client: Client, person: str, address: str) -> list[str]:
    """Nothing of the password is there; where the page leads to."""
    response = client.get(address)
    body = body_of(response)
    assert not found_in(body), (person, address, found_in(body))
    is_page = "html" in response.get("Content-Type", "") and response.status_code == 200
    return _links(address, body.decode()) if is_page else []


def _a_few_of_each(links: list[str], most: int = 2) -> list[str]:
    counts: Counter[str] = Counter()
    found = []
    for link in dict.fromkeys(links):
        try:
            name = resolve(urlsplit(link).path).view_name
        except Http404:
            continue
        counts[name] += 1
        if counts[name] <= most:
            found.append(link)
    return found


def _more(given: dict[str, Any]) -> Iterator[str]:
    """The same screens in their other states."""
    panel = reverse("crawl-points", args=[given["doc_id"]])
    yield from (f"{panel}?show=deleted", f"{panel}?saved={given['point_id']}")
    for name in ("urls.csv", "pages.csv", "log.jsonl", "run.json"):
        yield reverse("run-export", args=[given["run_id"], name])
    for table in ("crawlpoints/crawlpoint", "crawlpoints/excludeurl", "audit/entry", "library/document"):
        yield f"/settings/admin/{table}/"
    yield f"/settings/admin/crawlpoints/crawlpoint/{given['point_id']}/change/"
    yield f"/settings/admin/crawlpoints/crawlpoint/{given['point_id']}/history/"


def _links(address: str, page: str) -> list[str]:
    """Addresses of ours a page leads to, without those that only sort or page."""
    found = (urljoin(address, link.replace("&amp;", "&")) for link in re.findall(r'(?:href|hx-get)="([^"#]+)', page))
    known = sorted({link for link in found if link.startswith("/") and not link.startswith(("/static/", "/sign-out"))})
    return [link for link in known if not re.search(r"\b(sort|page|o)=", urlsplit(link).query)]


def test_t7_a_refused_form_does_not_give_it_back(world: World, caplog: Any) -> None:
    people, given, own = world
    client = browser(people, "editor")
    entries = {"url": "nonsense", "root": "x", "depth": "-1", "auth_type": "1", "login": "r", "password": CANARY}
    for address in (
        reverse("crawl-point-new", args=[own.pk]),
        reverse("crawl-point-edit", args=[own.pk, given["point_id"]]),
    ):
        for headers in ({}, {"HX-Request": "true"}):
            response = client.post(address, entries, headers=headers)
            assert response.status_code == 422
            assert not found_in(body_of(response)), address
    stale = entries | {"url": "https://quality.example.gov/private/", "root": "https://quality.example.gov/private/",
                       "depth": "3", "version": "0"}  # fmt: skip
    response = client.post(reverse("crawl-point-edit", args=[own.pk, given["point_id"]]), stale)
    assert response.status_code == 409 and not found_in(body_of(response))
    assert not found_in(caplog.text)


@pytest.mark.parametrize("debug", [False, True])
def test_t7_a_fault_of_ours_says_nothing_of_what_was_typed(
    world: World, monkeypatch: pytest.MonkeyPatch, settings: Any, caplog: Any, debug: bool
) -> None:
    """Neither on the page, nor in the log, nor (with DEBUG) in the traceback with its variables."""
    people, _, own = world

    def broken(*arguments: Any, **values: Any) -> None:
        secret = CANARY
        raise RuntimeError(f"a fault with a variable of {len(secret)} signs")

    monkeypatch.setattr(services, "add_crawl_point", broken)
    settings.DEBUG = debug
    root = "https://quality.example.gov/other/"
    entries = {"url": root, "root": root, "depth": "1", "auth_type": "1", "login": "reader", "password": CANARY}
    with caplog.at_level(logging.DEBUG):
        response = browser(people, "editor").post(reverse("crawl-point-new", args=[own.pk]), entries)
    assert response.status_code == 500
    assert not found_in(body_of(response))
    assert "a fault with a variable" in caplog.text and not found_in(caplog.text)


def test_t7_neither_audit_nor_dump_nor_repr_hold_it(world: World) -> None:
    for entry in Entry.objects.all():
        assert not found_in(json.dumps([entry.before, entry.after, entry.sentence]))
    assert any("••••" in json.dumps(entry.after, ensure_ascii=False) for entry in Entry.objects.all())
    out = io.StringIO()
    call_command("dumpdata", "crawlpoints", "audit", "library", stdout=out)
    assert "crawlpoints.crawlpoint" in out.getvalue() and not found_in(out.getvalue())
    for point in CrawlPoint.everything.all():
        assert not found_in(repr(point) + str(point) + str(vars(point)))


def test_t7_a_crawl_uses_it_and_leaves_no_trace(document: Document, caplog: Any) -> None:
    """The site sees it; the WebCrawl database and the log do not."""
    with serve({"/": Page(["/a", "/missing"]), "/a": Page(status=302, location="/")}) as site:
        start = site.url("/")
        values = {"url": start, "root": start, "depth": 2, "auth_type": 1, "login": "reader", "password": CANARY}
        services.add_crawl_point(document, values)
        with caplog.at_level(logging.DEBUG):
            run = crawl(document)
        sent = [headers.get("authorization", "") for path, headers in site.seen if path != "/robots.txt"]
    assert sent and all(found_in(one) == ["base64"] for one in sent)
    out = io.StringIO()
    call_command("dumpdata", "crawler", database="webcrawl", stdout=out)
    assert Excursion.objects.get(run=run).crawled and not found_in(out.getvalue())
    assert not found_in(caplog.text)


@pytest.mark.parametrize("kind", [AuthType.DIGEST, AuthType.FORM])
def test_t7_neither_do_other_ways_of_signing_in_at_the_most_talkative(
    document: Document, caplog: Any, kind: AuthType
) -> None:
    """Digest and forms, let in and refused, with the log at its most talkative: rows, log and faults keep nothing."""
    door = DigestDoor(user=forms.USER, password=CANARY)
    with caplog.at_level(logging.DEBUG), Site() as site, forms.serve(password=CANARY) as members:
        site.pages["/"] = door
        members.pages |= {"/m/": b"<a href=x>x</a>"}
        start = site.url("/") if kind == AuthType.DIGEST else members.url("/m/")
        values = {"url": start, "root": start, "depth": 2, "auth_type": kind, "login": forms.USER}
        fields = {"sign_in_url": members.url("/login"), "sign_in_user_field": "user", "sign_in_password_field": "pass"}
        values |= {"password": CANARY} | (fields if kind == AuthType.FORM else {})
        services.add_crawl_point(document, values)
        let_in = crawl(document)
        door.password = members.password = "another one"
        members.sessions.clear()
        refused = crawl(document)
        posted = [asked.body for asked in members.seen if asked.method == "POST"]
    assert len(door.sent) >= 2 if kind == AuthType.DIGEST else len(posted) >= 2 and found_in(posted[0])
    assert (Excursion.objects.get(run=let_in).crawled, Excursion.objects.get(run=refused).crawled) == (1, 0)
    out = io.StringIO()
    call_command("dumpdata", "crawler", database="webcrawl", stdout=out)
    assert not found_in(out.getvalue()) and not found_in(caplog.text)
